#include "sim/quantiles.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

namespace rightsize::sim {
namespace {

constexpr std::size_t kMostRuns = 40;
constexpr std::size_t kLeastRuns = 10;

// Two-sided 95 % points of Student's t for 9..39 degrees of freedom, within 0.3 %: the Cornish-Fisher expansion.
double student_t(double freedom) {
  constexpr double kZ = 1.959964;
  return kZ + (kZ * kZ * kZ + kZ) / (4 * freedom) +
         (5 * kZ * kZ * kZ * kZ * kZ + 16 * kZ * kZ * kZ + 3 * kZ) / (96 * freedom * freedom);
}

constexpr std::array<double, 4> kQuantiles{0.50, 0.90, 0.95, 0.99};  // in the order of Statistic, after the mean

// For the mean of nearly independent numbers.
double half_width(const std::vector<double>& numbers) {
  const double n = static_cast<double>(numbers.size());
  double mean = 0, squares = 0;
  for (double one : numbers) mean += one / n;
  for (double one : numbers) squares += (one - mean) * (one - mean);
  return student_t(n - 1) * std::sqrt(squares / (n - 1) / n);
}

}  // namespace

StatisticValues Intervals::half_widths() const {
  StatisticValues widths;
  for (std::size_t k = 0; k < kStatistics; ++k) widths[k] = 0.5 * (high[k] - low[k]);
  return widths;
}

void LatencyStatistics::close_run() {
  const double mean = static_cast<double>(open_sum_) / static_cast<double>(open_.count());
  runs_.push_back({mean, std::exchange(open_, {})});
  closed_ += static_cast<double>(open_sum_);
  sum_ += static_cast<std::uint64_t>(open_sum_);
  open_sum_ = 0;
  if (runs_.size() < kMostRuns) return;
  for (std::size_t i = 0; i < kMostRuns / 2; ++i) {
    Run merged = std::move(runs_[2 * i]);
    merged.mean = 0.5 * (merged.mean + runs_[2 * i + 1].mean);
    merged.histogram.take(runs_[2 * i + 1].histogram);
    runs_[i] = std::move(merged);
  }
  runs_.resize(kMostRuns / 2);
  run_length_ *= 2;
}

StatisticValues LatencyStatistics::values() const {
  const auto q = all_.quantiles(kQuantiles);
  return {mean(), q[0], q[1], q[2], q[3]};
}

Intervals LatencyStatistics::intervals() const {
  Intervals found;
  found.low.fill(std::numeric_limits<double>::quiet_NaN()), found.high = found.low;
  if (runs_.size() < kLeastRuns) return found;
  const auto quantiles = all_.quantiles(kQuantiles);
  std::array<std::vector<double>, 4> beyond;  // the share of each run beyond each quantile
  std::vector<double> means;
  for (const Run& run : runs_) {
    means.push_back(run.mean);
    const auto shares = run.histogram.shares_above(quantiles);
    for (std::size_t k = 0; k < beyond.size(); ++k) beyond[k].push_back(shares[k]);
  }
  const double number = static_cast<double>(count());
  found.low[0] = mean() - half_width(means), found.high[0] = mean() + half_width(means);
  for (std::size_t k = 0; k < beyond.size(); ++k) {
    const double q = kQuantiles[k];
    // At least as wide as for independent requests: a few runs may agree by chance.
    const double off = std::max(half_width(beyond[k]), student_t(number) * std::sqrt(q * (1 - q) / number));
    const auto ends = all_.quantiles<2>({q - off, q + off});
    found.low[k + 1] = ends[0], found.high[k + 1] = ends[1];
  }
  return found;
}

}  // namespace rightsize::sim
