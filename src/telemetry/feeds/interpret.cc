#include "telemetry/feeds/interpret.h"

#include <algorithm>

namespace rightsize::telemetry {

bool SeriesToSamples::open(const SeriesHead& head) {
  const std::optional<MetricSpec> meaning = meaning_of(head.metric, head.labels, map_);
  if (!meaning) {
    if (unknown_.size() < 200 || unknown_.contains(head.metric)) ++unknown_[head.metric];
    return false;
  }
  meaning_ = *meaning;
  meaning_.counter = meaning_.counter || (head.cumulative && meaning_.metric != Metric::kEnergy);
  known_.insert_or_assign(head.metric, meaning_.metric);
  device_ = sink_.open(device_of(head.labels, map_));
  held_back_.clear();
  return true;
}

void SeriesToSamples::give(std::span<const Point> points) {
  ready_.clear();
  for (const auto& [time, value] : points) {
    // Values that no rule about blanks and limits can refuse take a shortcut.
    const double direct = value * meaning_.scale;
    if (direct >= 0 && direct <= 1 && value < 1e6) {
      ready_.push_back({time, direct});
    } else if (const auto known = canonical(meaning_, value)) {
      ready_.push_back({time, *known});
    } else {
      sink_.add_unusable(device_, meaning_.metric, time);
    }
  }
  if (!ready_.empty()) sink_.add_points(device_, meaning_.metric, ready_);
}

void SeriesToSamples::points(std::span<const Point> several) {
  if (meaning_.unsure || meaning_.counter) {
    held_back_.insert(held_back_.end(), several.begin(), several.end());
  } else {
    give(several);
  }
}

void SeriesToSamples::close() {
  if (meaning_.counter) {
    std::ranges::sort(held_back_);
    std::vector<Point> rates;
    for (std::size_t i = 1; i < held_back_.size(); ++i) {
      const auto& [before, low] = held_back_[i - 1];
      const auto& [after, high] = held_back_[i];
      if (after > before && high >= low)
        rates.push_back(
            {after, (high - low) / in_seconds(after - before)});  // a smaller total means that the counter was reset
    }
    give(rates);
  } else if (meaning_.unsure) {
    const bool percent = std::ranges::any_of(held_back_, [](const Point& p) { return p.value > kMostShare; });
    if (percent) meaning_.scale *= 0.01;
    give(held_back_);
  }
  held_back_.clear();
  held_back_.shrink_to_fit();
}

}  // namespace rightsize::telemetry
