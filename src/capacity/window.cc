#include "capacity/window.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace rightsize::capacity {

namespace {

// The mean over a run of fixed length is piecewise linear in its start, so the minimum is where the run begins or ends
// with an hour, or at the first or last possible start.
Seconds best_start(const std::vector<double>& by_hour, Seconds first, Seconds last, Seconds length) {
  Seconds best = first;
  double least = mean_between(by_hour, first, first + length);
  const auto consider = [&](Seconds start) {
    if (start < first || start > last) return;
    const double mean = mean_between(by_hour, start, start + length);
    if (mean < least - 1e-12) least = mean, best = start;
  };
  for (double hour = std::floor(in_hours(first)); hour <= in_hours(last + length) + 1; ++hour) {
    consider(hours(hour));
    consider(hours(hour) - length);
  }
  consider(last);
  return best;
}

}  // namespace

double mean_between(const std::vector<double>& by_hour, Seconds from, Seconds to) {
  double sum = 0, at = in_hours(from);
  const double end = in_hours(to);
  if (!(end > at)) return by_hour[static_cast<std::size_t>(std::fmod(at, 24))];
  // Whole days have the mean of a day.
  const double whole = 24 * std::floor((end - at) / 24);
  if (whole > 0) sum = whole / 24 * std::accumulate(by_hour.begin(), by_hour.end(), 0.0), at += whole;
  while (at < end - 1e-12) {
    const double next = std::min(end, std::floor(at + 1e-9) + 1);
    sum += by_hour[static_cast<std::size_t>(std::fmod(std::floor(at + 1e-9), 24))] * (next - at);
    at = next;
  }
  return sum / (end - in_hours(from));
}

double window_gpus(const WindowWork& work) {
  const Seconds useful = std::min(work.deadline, work.window) - work.startup;
  if (!(useful > seconds(0)) || !(work.window > seconds(0))) return INFINITY;
  return std::ceil(work.item_time * (work.items_per_day * (work.window / days(1))) / useful - 1e-9);
}

std::optional<WindowSchedule> schedule_window(const WindowWork& work) {
  const Seconds allowed = std::min(work.deadline, work.window);
  const double needed = window_gpus(work);
  if (needed > kMostWindowGpus) return std::nullopt;
  WindowSchedule plan;
  plan.items_per_window = work.items_per_day * (work.window / days(1));
  const Seconds total = work.item_time * plan.items_per_window;
  plan.gpus = std::max({1, work.gpus, static_cast<int>(needed)});
  plan.busy = total / plan.gpus + work.startup;
  plan.latest = plan.busy;
  plan.utilization = plan.busy / work.window;
  const int windows = std::max(1, static_cast<int>(std::lround(days(1) / work.window)));
  for (int i = 1; i <= windows; ++i) {
    const Seconds closes = work.closes + work.window * i;
    const Seconds last = std::max(closes, closes + allowed - plan.busy);
    const Seconds starts = work.by_hour.empty() ? closes : best_start(work.by_hour, closes, last, plan.busy);
    plan.day.push_back({closes, starts, starts + plan.busy, plan.items_per_window});
    plan.latest = std::max(plan.latest, starts + plan.busy - closes);
  }
  plan.gpu_hours_per_day = plan.gpus * in_hours(plan.busy) * (days(1) / work.window);
  return plan;
}

}  // namespace rightsize::capacity
