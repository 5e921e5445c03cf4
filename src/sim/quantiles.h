// Streaming statistics in constant memory: quantiles from a log-bucket histogram, confidence intervals by batch means.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace rightsize::sim {

// Counts of non-negative integers in buckets whose width is at most 1/256 of their value, so that a quantile is within
// 0.4 % of the exact one whatever the range (values below 256 are exact). Memory does not depend on how many are added.
class LogHistogram {
 public:
  static constexpr double kRelativeError = 1.0 / 256.0;

  LogHistogram() : counts_(kBuckets, 0) {}

  // Negative values count as 0.
  void add(std::int64_t value) {
    const std::size_t bucket = bucket_of(value);
    ++counts_[bucket];
    if (bucket < low_) low_ = bucket;
    if (bucket > high_) high_ = bucket;
    ++count_;
  }

  std::uint64_t count() const { return count_; }

  // The smallest value that at least a share q of the values do not exceed, interpolated in its bucket; 0 when empty.
  double quantile(double q) const;

  // Adds the other's counts and empties it; cost follows the span of values, not their number.
  void take(LogHistogram& other);
  void clear();

 private:
  static constexpr int kBits = 8;
  static constexpr std::size_t kBuckets = (63 - kBits + 2) << kBits;

  static std::size_t bucket_of(std::int64_t value) {
    if (value < (1 << kBits)) return value < 0 ? 0 : static_cast<std::size_t>(value);
    const auto v = static_cast<std::uint64_t>(value);
    const int shift = 63 - __builtin_clzll(v) - kBits;
    return (static_cast<std::size_t>(shift) << kBits) + static_cast<std::size_t>(v >> shift);
  }
  static double lower_edge(std::size_t bucket);

  std::vector<std::uint64_t> counts_;
  std::uint64_t count_ = 0;
  std::size_t low_ = kBuckets, high_ = 0;  // the buckets in use
};

// What is said about a latency.
enum class Statistic { kMean, kP50, kP90, kP95, kP99 };
inline constexpr std::size_t kStatistics = 5;
using StatisticValues = std::array<double, kStatistics>;
inline double value_of(const StatisticValues& values, Statistic s) { return values[static_cast<std::size_t>(s)]; }

// Mean and quantiles of a stream of nanoseconds, each with the half-width of its 95 % confidence interval.
//
// Successive latencies are correlated, so their spread says nothing about the error of their mean. The stream is cut
// into runs ("batch means", Law and Kelton): the statistics of long runs are nearly independent, and Student's t over
// them gives the interval. When 40 runs are full, neighbours are merged and runs become twice as long.
class LatencyStatistics {
 public:
  explicit LatencyStatistics(std::uint64_t first_run = 1000) : run_length_(first_run) {}

  void add(std::int64_t value) {
    recent_.add(value);
    recent_sum_ += value;
  }
  // To be called now and then; closes a run when it is long enough. True when it did.
  bool checkpoint() { return recent_.count() >= run_length_ && (close_run(), true); }

  std::uint64_t count() const { return total_.count() + recent_.count(); }
  std::int64_t sum() const { return sum_ + recent_sum_; }

  // Nanoseconds. Not const: folds the open run into the total first.
  StatisticValues values();
  // NaN while there are fewer than ten runs.
  StatisticValues half_widths() const;

 private:
  void close_run();

  LogHistogram total_, recent_;
  std::int64_t sum_ = 0, recent_sum_ = 0;
  std::uint64_t run_length_;
  std::vector<StatisticValues> runs_;
};

}  // namespace rightsize::sim
