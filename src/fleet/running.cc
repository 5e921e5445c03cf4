#include "fleet/running.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>

namespace rightsize::fleet {
namespace {

// A GPU without a reading for this long before the end of the window is gone. Scrapes are missed and clocks differ by
// minutes.
Seconds end_slack(const GpuUse& use) { return std::max(seconds(900), 3 * use.interval); }

double quantile(std::vector<double> values, double share) {
  if (values.empty()) return 0;
  const auto rank = static_cast<std::size_t>(std::ceil(share * static_cast<double>(values.size()))) - 1;
  std::nth_element(values.begin(), values.begin() + static_cast<std::ptrdiff_t>(rank), values.end());
  return values[rank];
}

// A log of ten minutes or an hour-old reading is not enough to stop anything. A day of readings may lack the last
// interval.
bool long_enough(const GpuUse& use, const TimeSpan& window, TimePoint since, Seconds min_age) {
  constexpr double kFewestReadings = 20, kNearlyAll = 0.98;
  const Seconds seen = window.until - std::max(since, use.first);
  if (seen < kNearlyAll * min_age) return false;
  if (use.from_job_log) return true;  // the scheduler observed it all the time
  const Seconds known = use.known > Seconds{} ? use.known : use.covered;
  const bool many = use.interval <= Seconds{} || known >= kFewestReadings * use.interval;
  return many && known >= 0.5 * std::min(min_age, use.end() - use.first);
}

void find_owners(Running& running, const GpuRow& gpu) {
  const TimePoint close_to_end = gpu.use.end() - end_slack(gpu.use);
  TimePoint left = gpu.use.first;
  for (const Tenancy& tenancy : gpu.use.tenancies) {
    if (tenancy.owner.empty()) continue;
    // If the source does not show when an owner left, assume that it is still there.
    if (tenancy.last <= TimePoint{} || tenancy.last + gpu.use.interval >= close_to_end) {
      running.owners.push_back(&tenancy);
    } else {
      left = std::max(left, tenancy.last);
    }
  }
  running.since = left;
  if (running.owners.empty()) return;
  running.since = gpu.use.first;
  for (const Tenancy* owner : running.owners) running.since = std::max(running.since, owner->first);
}

// p95 and peak of one metric since `first_step`: from single readings if the owners were there all the time, otherwise
// from the curve, where means hide anything shorter than a step.
void find_level(const MetricCurve& curve, std::size_t first_step, const MetricUse* whole, bool all_time, double& p95,
                double& peak) {
  std::vector<double> means;
  double most = 0;
  for (std::size_t i = first_step; i < curve.mean.size(); ++i) {
    if (std::isnan(curve.mean[i])) continue;
    means.push_back(static_cast<double>(curve.mean[i]));
    if (i < curve.max.size()) most = std::max(most, static_cast<double>(curve.max[i]));
  }
  if (whole != nullptr && (all_time || means.empty())) {
    peak = std::min(1.0, whole->max);
    p95 = std::min(1.0, whole->p95.value_or(whole->max));
  } else if (!means.empty()) {
    peak = std::min(1.0, most);
    p95 = std::min(peak, quantile(means, 0.95));
  }
}

void find_idleness(Running& running, const GpuRow& gpu, const Thresholds& thresholds) {
  const Profile& profile = gpu.use.profile;
  double steps = 0, idle = 0, held = 0, late_steps = 0, late_idle = 0;
  const TimePoint late = gpu.use.end() - thresholds.min_age;
  for (std::size_t i = running.first_step; i < profile.idle.size(); ++i) {
    if (std::isnan(profile.idle[i])) continue;
    const auto share = static_cast<double>(profile.idle[i]);
    steps += 1;
    idle += share;
    const bool holds = i < profile.memory.mean.size() && !std::isnan(profile.memory.mean[i]) &&
                       bytes(static_cast<double>(profile.memory.mean[i])) > thresholds.idle.held_above;
    held += holds ? share : 0;
    if (profile.begin_of(i + 1) <= late) continue;
    late_steps += 1;
    late_idle += share;
  }
  if (steps > 0) {
    running.idle_share = idle / steps;
    running.held_share = held / steps;
    running.quiet = late_steps > 0 && late_idle / late_steps >= 0.999;
    return;
  }
  // A job log has no profile: use the jobs that run now.
  Seconds all, resting;
  for (const Tenancy* owner : running.owners) {
    all += owner->time;
    resting += owner->idle;
  }
  running.idle_share = all > Seconds{} ? resting / all : gpu.use.idle_share;
  running.held_share = gpu.use.held_share > gpu.use.idle_share / 2 ? running.idle_share : 0;
  running.quiet = running.idle_share >= 0.999;
}

LoadCurve curve_since(const GpuRow& gpu, const Running& running, const MetricCurve& curve) {
  LoadCurve load{gpu.use.profile.start, gpu.use.profile.width, {}, {}};
  for (std::size_t i = 0; i < curve.mean.size(); ++i) {
    const bool theirs = i >= running.first_step;
    load.mean.push_back(theirs ? static_cast<double>(curve.mean[i]) : std::nan(""));
    load.max.push_back(theirs ? static_cast<double>(curve.max[i]) : std::nan(""));
  }
  return load;
}

// Joins `from` into `to` step by step; a step that is known in only one of them keeps its value.
template <class Join>
void join_known(std::vector<double>& to, const std::vector<double>& from, const Join& join) {
  for (std::size_t i = 0; i < std::min(to.size(), from.size()); ++i) {
    if (!std::isnan(from[i])) to[i] = std::isnan(to[i]) ? from[i] : join(to[i], from[i]);
  }
}

std::optional<double> latency(double now, double there, const ForecastInput& input) {
  if (!input.paced) return input.growth;
  if (there >= 1) return std::nullopt;
  return input.growth * (1 - std::min(now, 0.99)) / (1 - there);
}

}  // namespace

TimeSpan window_of(const std::vector<GpuRow>& gpus) {
  TimeSpan window;
  for (const GpuRow& gpu : gpus) {
    if (gpu.use.covered <= Seconds{}) continue;
    window.from = window.from == TimePoint{} ? gpu.use.first : std::min(window.from, gpu.use.first);
    window.until = std::max(window.until, gpu.use.end());
  }
  return window;
}

const Owner& Running::owner() const {
  static const Owner kNone;
  return owners.empty() ? kNone : owners.front()->owner;
}

Running running_on(const GpuRow& gpu, const TimeSpan& window, const Thresholds& thresholds) {
  Running running;
  const GpuUse& use = gpu.use;
  running.here = use.covered > Seconds{} && use.end() >= window.until - end_slack(use);
  find_owners(running, gpu);
  running.old_enough =
      window.until - running.since >= thresholds.min_age || running.since <= window.from + end_slack(use);
  running.watched = long_enough(use, window, running.since, thresholds.min_age);
  if (use.profile.width > Seconds{} && running.since > use.profile.start) {
    // The step in which they started is theirs, unless another owner was there before.
    const double steps = (running.since - use.profile.start) / use.profile.width;
    running.first_step = static_cast<std::size_t>(running.since <= use.first + use.interval ? steps : std::ceil(steps));
  }
  const bool all_time = running.since <= use.first + 0.1 * (use.end() - use.first);
  if (const std::optional<Metric> activity = use.activity()) {
    find_level(use.profile.activity, running.first_step, use.metric(*activity), all_time, running.busy_p95,
               running.busy_peak);
  }
  running.dram_p95 = running.busy_p95;
  running.dram_peak = running.busy_peak;
  find_level(use.profile.dram, running.first_step, use.metric(Metric::kDramActive), all_time, running.dram_p95,
             running.dram_peak);
  running.memory_peak = gpu.memory_peak();
  if (running.owners.size() == 1) {
    // The readings of a single owner are known individually.
    const Tenancy& owner = *running.owners.front();
    if (owner.activity_peak) running.busy_peak = std::min(1.0, *owner.activity_peak);
    if (owner.activity_p95) running.busy_p95 = std::min(running.busy_peak, *owner.activity_p95);
    if (owner.memory_peak) running.memory_peak = *owner.memory_peak;
  }
  find_idleness(running, gpu, thresholds);
  return running;
}

void LoadCurve::add(const LoadCurve& other) {
  if (mean.empty()) {
    *this = other;
    return;
  }
  join_known(mean, other.mean, std::plus());
  join_known(max, other.max, std::plus());
}

void LoadCurve::scale(double factor) {
  for (double& value : mean) value *= factor;
  for (double& value : max) value *= factor;
}

double LoadCurve::peak() const {
  double most = 0;
  for (double value : max) most = std::isnan(value) ? most : std::max(most, value);
  return most;
}

void LoadCurve::at_least(const LoadCurve& other) {
  const auto larger = [](double a, double b) { return std::max(a, b); };
  join_known(mean, other.mean, larger);
  join_known(max, other.max, larger);
}

LoadCurve activity_curve(const GpuRow& gpu, const Running& running) {
  return curve_since(gpu, running, gpu.use.profile.activity);
}

LoadCurve dram_curve(const GpuRow& gpu, const Running& running) {
  return curve_since(gpu, running, gpu.use.profile.dram);
}

ShareBounds time_above(const LoadCurve& load, double limit, Seconds reading, double p95) {
  ShareBounds above;
  double steps = 0;
  const double one_reading = load.width > Seconds{} ? std::min(1.0, reading / load.width) : 1;
  for (std::size_t i = 0; i < load.mean.size(); ++i) {
    const double m = load.mean[i], most = load.max[i];
    if (std::isnan(m)) continue;
    steps += 1;
    if (!(most > limit)) continue;
    const double high = limit > 0 ? std::min(1.0, m / limit) : 1;
    const double low = std::min(high, std::max(one_reading, m > limit ? (m - limit) / (most - limit) : 0.0));
    above.low += low;
    above.high += high;
    above.likely += std::sqrt(low * high);
  }
  if (steps == 0) return {0, 0, 1};
  above = {above.low / steps, above.likely / steps, above.high / steps};
  if (p95 > 0 && p95 <= limit) {
    above.high = std::min(above.high, 0.05);
    above.likely = std::min(above.likely, above.high);
    above.low = std::min(above.low, above.likely);
  }
  return above;
}

Forecast make_forecast(const LoadCurve& load, const ForecastInput& input) {
  Forecast forecast;
  forecast.load_p95 = input.p95;
  forecast.load_peak = input.peak;
  forecast.latency_p95 = latency(input.now_p95, input.p95, input);
  forecast.latency_peak = latency(input.now_peak, input.peak, input);
  forecast.too_small = time_above(load, 1, input.reading, input.p95);
  std::vector<std::size_t> order(load.max.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::erase_if(order, [&](std::size_t i) { return std::isnan(load.max[i]); });
  const std::size_t shown = std::min<std::size_t>(3, order.size());
  std::partial_sort(
      order.begin(), order.begin() + static_cast<std::ptrdiff_t>(shown), order.end(),
      [&](std::size_t a, std::size_t b) { return std::pair(-load.max[a], a) < std::pair(-load.max[b], b); });
  for (std::size_t i = 0; i < shown; ++i) {
    forecast.worst.push_back({load.start + static_cast<double>(order[i]) * load.width, load.width, load.max[order[i]]});
  }
  return forecast;
}

double level_for(const LoadCurve& load, double overload, Seconds reading, double p95) {
  double low = p95, high = std::max(p95, load.peak());
  if (time_above(load, low, reading, p95).likely <= overload) return low;
  // Bisection, because the share above a level decreases with the level.
  for (int i = 0; i < 30 && high - low > 1e-4; ++i) {
    const double middle = (low + high) / 2;
    (time_above(load, middle, reading, p95).likely <= overload ? high : low) = middle;
  }
  return high;
}

Forecast worse_of(Forecast a, const Forecast& b) {
  auto slower = [](std::optional<double> x, std::optional<double> y) {
    return x && y ? std::optional(std::max(*x, *y)) : std::nullopt;
  };
  a.latency_p95 = slower(a.latency_p95, b.latency_p95);
  a.latency_peak = slower(a.latency_peak, b.latency_peak);
  a.load_p95 = std::max(a.load_p95, b.load_p95);
  if (b.load_peak > a.load_peak) a.worst = b.worst;
  a.load_peak = std::max(a.load_peak, b.load_peak);
  a.too_small = {std::max(a.too_small.low, b.too_small.low), std::max(a.too_small.likely, b.too_small.likely),
                 std::max(a.too_small.high, b.too_small.high)};
  return a;
}

}  // namespace rightsize::fleet
