// Streaming statistics in constant memory: quantiles from a log-bucket histogram, confidence intervals by batch means.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/log_histogram.h"

namespace rightsize::sim {

// A histogram of nanoseconds.
using LatencyHistogram = LogHistogram<8, true, std::uint64_t>;

enum class Statistic { kMean, kP50, kP90, kP95, kP99 };
inline constexpr std::size_t kStatistics = 5;
using StatisticValues = std::array<double, kStatistics>;
inline double value_of(const StatisticValues& values, Statistic s) { return values[static_cast<std::size_t>(s)]; }

// 95 % confidence intervals; NaN after a short run.
struct Intervals {
  StatisticValues low{}, high{};

  StatisticValues half_widths() const;
};

// Mean and quantiles of a stream of nanoseconds, each with its 95 % confidence interval.
//
// Successive latencies are correlated, so their spread does not give the error of their mean. The stream is cut into
// runs ("batch means", Law and Kelton): statistics of long runs are nearly independent, and Student's t over them gives
// the interval. When 40 runs are full, neighbours are merged and runs become twice as long.
//
// The interval of a quantile is computed over ranks: the share of requests beyond the quantile varies between runs, and
// gives the ranks it may have; the values at these ranks are the ends. If a few requests are far slower than the
// others, and about as many as lie beyond the quantile, the upper end is one of them. The spread of values alone would
// not show that.
class LatencyStatistics {
 public:
  explicit LatencyStatistics(std::uint64_t first_run = 500) : run_length_(first_run) {}

  void add(std::int64_t value) {
    all_.add_whole(value);
    open_.add_whole(value);
    open_sum_ += value;
  }
  // Closes the current run if it is long enough. Call it between requests.
  void checkpoint() {
    if (open_.count() >= run_length_) close_run();
  }

  std::uint64_t count() const { return all_.count(); }
  // Modulo 2^64: differences of two sums are right even after hours of waiting for many requests.
  std::int64_t sum() const { return static_cast<std::int64_t>(sum_ + static_cast<std::uint64_t>(open_sum_)); }
  double mean() const {
    return (closed_ + static_cast<double>(open_sum_)) / static_cast<double>(std::max<std::uint64_t>(count(), 1));
  }

  // In nanoseconds, including the open run.
  StatisticValues values() const;
  double longest() const { return all_.quantile(1); }
  // NaN while there are fewer than ten runs.
  Intervals intervals() const;

 private:
  // Wide buckets are enough to count requests beyond a quantile.
  using RunHistogram = LogHistogram<4, true, std::uint32_t>;
  struct Run {
    double mean = 0;
    RunHistogram histogram;
  };

  void close_run();

  LatencyHistogram all_;
  RunHistogram open_;  // the current run
  std::int64_t open_sum_ = 0;
  std::uint64_t sum_ = 0;  // of closed runs, modulo 2^64
  double closed_ = 0;      // the same without overflow, for means
  std::uint64_t run_length_;
  std::vector<Run> runs_;
};

}  // namespace rightsize::sim
