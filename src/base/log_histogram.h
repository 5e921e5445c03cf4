// Quantiles of a stream in bounded memory.
//
// Numbers are counted in buckets with a width of at most 1/2^bits of their value, so the relative error of a quantile
// is at most that, for any range and any count. A bucket is the exponent and the leading bits of the number in IEEE 754
// format, so finding it takes one shift. Only the buckets between the smallest and the largest number seen are kept.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace rightsize {

// `Whole`: only whole numbers are added, so a bucket no wider than 1 holds one number and is exact.
template <int Bits, bool Whole = false, class Count = std::uint32_t>
class LogHistogram {
 public:
  static constexpr double kRelativeError = 1.0 / (1 << Bits);

  // Negative numbers count as 0.
  void add(double value) {
    ++count_;
    // One comparison catches every special case: below the first bucket the difference wraps to a large number, 0 has a
    // bucket far below all others, and the sign bit makes one far above.
    const std::size_t at = bucket_of(value) - first_;
    if (at >= size_) return add_outside(value);
    ++counts_[at];
  }

  // The same without floating point: finds the bucket of a whole number from its leading bits.
  void add_whole(std::int64_t value) requires Whole {
    if (value <= 0) return add(0);
    ++count_;
    const auto zeros = static_cast<std::size_t>(std::countl_zero(static_cast<std::uint64_t>(value)));
    const std::size_t leading = (static_cast<std::uint64_t>(value) << zeros) >> (63 - Bits);  // with its highest one
    const std::size_t at = ((kExponentOfOne + 62 - zeros) << Bits) + leading - first_;
    if (at >= size_) return add_outside(static_cast<double>(value));
    ++counts_[at];
  }

  std::uint64_t count() const { return count_; }

  // The smallest number that at least a share q of the numbers do not exceed, assuming that the numbers of a bucket are
  // spread evenly over it; 0 if empty.
  double quantile(double q) const { return quantiles<1>({q})[0]; }

  // Several quantiles in one pass, in ascending order.
  template <std::size_t N>
  std::array<double, N> quantiles(const std::array<double, N>& shares) const {
    std::array<double, N> found{};
    std::size_t at = 0, last = 0;
    const auto wanted = [&] { return std::clamp(shares[at], 0.0, 1.0) * static_cast<double>(count_); };
    double seen = static_cast<double>(zeros_);
    while (at < N && (count_ == 0 || (zeros_ > 0 && seen >= wanted()))) ++at;
    for (std::size_t i = 0; i < counts_.size() && at < N; ++i) {
      if (counts_[i] == 0) continue;
      const double here = static_cast<double>(counts_[i]);
      for (; at < N && seen + here >= wanted(); ++at) {
        const double from = lower_edge(first_ + i), width = lower_edge(first_ + i + 1) - from;
        found[at] = Whole && width <= 1 ? from : from + width * std::clamp((wanted() - seen) / here, 0.0, 1.0);
      }
      seen += here;
      last = i;
    }
    for (; at < N; ++at) found[at] = lower_edge(first_ + last + 1);
    return found;
  }

  // The share of the numbers above each of `values`, which ascend. Numbers of a bucket count as evenly spread over it.
  template <std::size_t N>
  std::array<double, N> shares_above(const std::array<double, N>& values) const {
    std::array<double, N> found{};
    if (count_ == 0) return found;
    std::size_t at = 0;
    double seen = static_cast<double>(zeros_);
    const auto set = [&](double below) { found[at++] = 1 - below / static_cast<double>(count_); };
    while (at < N && !(values[at] > 0)) set(seen);
    for (std::size_t i = 0; i < counts_.size() && at < N; ++i) {
      const double from = lower_edge(first_ + i), to = lower_edge(first_ + i + 1);
      while (at < N && values[at] < to)
        set(seen + static_cast<double>(counts_[i]) * std::clamp((values[at] - from) / (to - from), 0.0, 1.0));
      seen += static_cast<double>(counts_[i]);
    }
    return found;
  }

  // The same numbers in wider buckets.
  template <class Coarse>
  Coarse coarser() const {
    Coarse coarse;
    for (std::size_t i = 0; i < counts_.size(); ++i)
      if (counts_[i] > 0) coarse.add_many(lower_edge(first_ + i), counts_[i]);
    if (zeros_ > 0) coarse.add_many(0, zeros_);
    return coarse;
  }

  void add_many(double value, std::uint64_t times) {
    add(value);
    count_ += times - 1;
    if (value > 0)
      counts_[bucket_of(value) - first_] += static_cast<Count>(times - 1);
    else
      zeros_ += times - 1;
  }

  // Adds the other's counts and empties it, keeping its storage. The cost depends on the range of numbers, not on their
  // count.
  void take(LogHistogram& other) {
    for (std::size_t i = 0; i < other.counts_.size(); ++i) {
      if (other.counts_[i] == 0) continue;
      const std::size_t bucket = other.first_ + i;
      if (bucket - first_ >= size_) widen(bucket);
      counts_[bucket - first_] += other.counts_[i];
    }
    zeros_ += other.zeros_;
    count_ += other.count_;
    other.clear();
  }
  void clear() {
    std::fill(counts_.begin(), counts_.end(), Count{0});
    count_ = zeros_ = 0;
  }

 private:
  static constexpr int kShift = 52 - Bits;
  static constexpr std::size_t kExponentOfOne = 1023;  // of 1.0 in IEEE 754 format

  static std::size_t bucket_of(double value) { return std::bit_cast<std::uint64_t>(value) >> kShift; }
  static double lower_edge(std::size_t bucket) {
    return std::bit_cast<double>(static_cast<std::uint64_t>(bucket) << kShift);
  }

  void add_outside(double value) {
    if (!(value > 0)) {
      ++zeros_;
      return;
    }
    const std::size_t bucket = bucket_of(value);
    widen(bucket);
    ++counts_[bucket - first_];
  }

  // Adds part of an octave more than needed: a slowly growing range is then copied less often.
  void widen(std::size_t bucket) {
    constexpr std::size_t kMore = std::size_t{1} << (Bits - 3);
    if (counts_.empty()) first_ = bucket > kMore ? bucket - kMore : 0;
    if (bucket < first_) {
      const std::size_t begin = bucket > kMore ? bucket - kMore : 0;
      counts_.insert(counts_.begin(), first_ - begin, Count{0});
      first_ = begin;
    }
    if (bucket - first_ >= counts_.size()) counts_.resize(bucket - first_ + kMore, Count{0});
    size_ = counts_.size();
  }

  std::vector<Count> counts_;
  std::size_t first_ = 0, size_ = 0;  // the bucket of counts_[0]; the number of buckets
  std::uint64_t count_ = 0, zeros_ = 0;
};

}  // namespace rightsize
