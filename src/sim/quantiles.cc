#include "sim/quantiles.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace rightsize::sim {
namespace {

constexpr std::size_t kMostRuns = 40;
constexpr std::size_t kLeastRuns = 10;

// Two-sided 95 % points of Student's t for 9..39 degrees of freedom, within 0.3 %: the Cornish-Fisher expansion.
double student_t(double freedom) {
  constexpr double z = 1.959964;
  return z + (z * z * z + z) / (4 * freedom) +
         (5 * z * z * z * z * z + 16 * z * z * z + 3 * z) / (96 * freedom * freedom);
}

StatisticValues statistics_of(const LatencyHistogram& histogram, std::int64_t sum) {
  const double count = static_cast<double>(std::max<std::uint64_t>(histogram.count(), 1));
  const auto q = histogram.quantiles<4>({0.50, 0.90, 0.95, 0.99});
  return {static_cast<double>(sum) / count, q[0], q[1], q[2], q[3]};
}

}  // namespace

void LatencyStatistics::close_run() {
  runs_.push_back(statistics_of(recent_, recent_sum_));
  total_.take(recent_);
  sum_ += recent_sum_;
  recent_sum_ = 0;
  if (runs_.size() < kMostRuns) return;
  for (std::size_t i = 0; i < kMostRuns / 2; ++i) {
    for (std::size_t k = 0; k < kStatistics; ++k) runs_[i][k] = 0.5 * (runs_[2 * i][k] + runs_[2 * i + 1][k]);
  }
  runs_.resize(kMostRuns / 2);
  run_length_ *= 2;
}

StatisticValues LatencyStatistics::values() const {
  LatencyHistogram all = total_, open = recent_;
  all.take(open);
  return statistics_of(all, sum());
}

StatisticValues LatencyStatistics::half_widths() const {
  StatisticValues widths;
  widths.fill(std::numeric_limits<double>::quiet_NaN());
  if (runs_.size() < kLeastRuns) return widths;
  const double n = static_cast<double>(runs_.size());
  for (std::size_t k = 0; k < kStatistics; ++k) {
    double mean = 0, squares = 0;
    for (const StatisticValues& run : runs_) mean += run[k] / n;
    for (const StatisticValues& run : runs_) squares += (run[k] - mean) * (run[k] - mean);
    widths[k] = student_t(n - 1) * std::sqrt(squares / (n - 1) / n);
  }
  return widths;
}

}  // namespace rightsize::sim
