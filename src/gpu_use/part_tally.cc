#include "gpu_use/part_tally.h"

#include <algorithm>
#include <cmath>

namespace rightsize::gpu_use {
namespace {

constexpr int row_of(Metric metric) {
  for (std::size_t i = 0; i < kActivityRows; ++i) {
    if (kActivityMetrics[i] == metric) return static_cast<int>(i);
  }
  if (metric == Metric::kDramActive) return kDramRow;
  return metric == Metric::kMemoryUsed ? static_cast<int>(kMemoryRow) : -1;
}

constexpr double most_of(Metric metric) {
  if (telemetry::is_share(metric)) return telemetry::kMostShare;
  switch (metric) {
    case Metric::kMemoryUsed:
    case Metric::kMemoryTotal:
      return 4e12;
    case Metric::kPower:
    case Metric::kPowerLimit:
      return 5000;
    default:
      return 1e18;
  }
}

// An array, because it is used for every reading.
constexpr auto kKinds = [] {
  std::array<MetricKind, telemetry::kMetrics> kinds{};
  for (std::size_t i = 0; i < telemetry::kMetrics; ++i) {
    const auto metric = static_cast<Metric>(i);
    kinds[i] = {most_of(metric), row_of(metric), telemetry::is_share(metric)};
  }
  return kinds;
}();

}  // namespace

const MetricKind& kind_of(Metric metric) { return kKinds[static_cast<std::size_t>(metric)]; }

void CurveCell::halve() {
  sum /= 2;
  count /= 2;
  idle /= 2;
}

void CurveCell::merge(CurveCell other) {
  if (other.count == 0) return;
  while (count + other.count > std::numeric_limits<std::uint16_t>::max()) {
    halve();
    other.halve();
  }
  max = count == 0 ? other.max : std::max(max, other.max);
  sum += other.sum;
  count = static_cast<std::uint16_t>(count + other.count);
  idle = static_cast<std::uint16_t>(idle + other.idle);
}

// Readings of unknown duration get the mean duration of the others.
double Tally::mean() const {
  const double each = count > loose ? in_seconds(usual_interval()) : 1;
  return (sum + loose_sum * each) / (in_seconds(weight) + static_cast<double>(loose) * each);
}

double quantile_of(std::span<const float> histogram, double share, double most) {
  double all = 0, below = 0;
  for (float bucket : histogram) all += static_cast<double>(bucket);
  for (std::size_t i = 0; i < histogram.size(); ++i) {
    below += static_cast<double>(histogram[i]);
    if (below >= share * all)
      return std::min((static_cast<double>(i) + 0.5) / static_cast<double>(histogram.size()), most);
  }
  return most;
}

// Merges neighbouring steps; steps stay aligned with the clock.
void CurveRows::coarsen() {
  const Seconds wider = wider_step(width_);
  const auto factor = static_cast<std::int64_t>(std::llround(wider / width_));
  const auto ahead = static_cast<std::size_t>(origin_ - origin_ / factor * factor);  // of the first step in its new one
  const auto by = static_cast<std::size_t>(factor);
  for (std::vector<CurveCell>& row : rows_) {
    if (row.empty()) continue;
    std::vector<CurveCell> wide((row.size() + ahead + by - 1) / by);
    for (std::size_t i = 0; i < row.size(); ++i) wide[(i + ahead) / by].merge(row[i]);
    row = std::move(wide);
  }
  steps_ = (steps_ + ahead + by - 1) / by;
  origin_ /= factor;
  width_ = wider;
}

void CurveRows::extend_front(std::size_t by) {
  for (std::vector<CurveCell>& row : rows_) {
    if (!row.empty()) row.insert(row.begin(), by, CurveCell{});
  }
  origin_ -= static_cast<std::int64_t>(by);
  steps_ += by;
}

std::int64_t CurveRows::index_of(TimePoint time) const {
  return static_cast<std::int64_t>(std::floor(time.since_epoch() / width_));
}

std::size_t CurveRows::find_step(TimePoint time) {
  std::int64_t index = index_of(time);
  if (steps_ == 0) {
    origin_ = index;
    steps_ = 1;
    return 0;
  }
  // The second reading shows the interval: readings a minute apart need no steps of one second.
  while (steps_ == 1 && width_ < seconds(60) && std::abs(index - origin_) > 1) {
    coarsen();
    index = index_of(time);
  }
  const auto most = static_cast<std::int64_t>(most_);
  while (index < origin_ || index - origin_ >= most) {
    if (index < origin_) {
      // Sources that list the newest first would insert at the front with every reading, so add some steps at once, but
      // none before 1970.
      const std::int64_t missing = origin_ - index, room = most - static_cast<std::int64_t>(steps_);
      if (missing <= room) {
        extend_front(static_cast<std::size_t>(std::min({missing + 32, room, origin_})));
        break;
      }
    }
    coarsen();
    index = index_of(time);
  }
  const auto at = static_cast<std::size_t>(index - origin_);
  steps_ = std::max(steps_, at + 1);
  return at;
}

CurveCell& CurveRows::cell(std::size_t row, TimePoint time, TimeSpan& reach) {
  const std::size_t step = find_step(time);
  std::vector<CurveCell>& cells = rows_[row];
  if (cells.size() <= step) {
    // Grow by a few steps at a time; doubling would leave a third unused.
    constexpr std::size_t kGrowth = 32;
    if (cells.capacity() < steps_) cells.reserve((steps_ + kGrowth - 1) / kGrowth * kGrowth);
    cells.resize(steps_);
  }
  reach = {begin_of(step), begin_of(step) + width_};
  return cells[step];
}

const CurveCell* CurveRows::at(std::size_t row, std::size_t step) const {
  const std::vector<CurveCell>& cells = rows_[row];
  return step < cells.size() && cells[step].count > 0 ? &cells[step] : nullptr;
}

std::size_t CurveRows::step_of(TimePoint time) const {
  const auto last = static_cast<std::int64_t>(std::max<std::size_t>(steps_, 1) - 1);
  return static_cast<std::size_t>(std::clamp<std::int64_t>(index_of(time) - origin_, 0, last));
}

}  // namespace rightsize::gpu_use
