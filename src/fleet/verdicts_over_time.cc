#include "fleet/verdicts_over_time.h"

#include <algorithm>
#include <cmath>

#include "fleet/remedies.h"

namespace rightsize::fleet {
namespace {

constexpr std::size_t kFewestParts = 12;  // of a window shorter than two days

struct Means {
  double mean = 0, max = 0;
  std::size_t steps = 0;
};

Means means_of(const Curve& curve, std::size_t from, std::size_t to) {
  Means found;
  for (std::size_t i = from; i < std::min(to, curve.mean.size()); ++i) {
    if (std::isnan(curve.mean[i])) continue;
    found.mean += static_cast<double>(curve.mean[i]);
    found.max = std::max(found.max, static_cast<double>(i < curve.max.size() ? curve.max[i] : curve.mean[i]));
    ++found.steps;
  }
  if (found.steps > 0) found.mean /= static_cast<double>(found.steps);
  return found;
}

// Changes between idle and active from step to step; those within a step are not visible.
double changes_between(const Profile& profile, std::size_t from, std::size_t to) {
  double changes = 0;
  std::optional<bool> before;
  for (std::size_t i = from; i < std::min(to, profile.idle.size()); ++i) {
    if (std::isnan(profile.idle[i])) continue;
    const bool idle = profile.idle[i] > 0.5F;
    if (before && *before != idle) ++changes;
    before = idle;
  }
  return changes;
}

// The use of the GPU in these steps only.
std::optional<GpuUse> part_of(const GpuRow& gpu, std::size_t from, std::size_t to) {
  const Profile& profile = gpu.use.profile;
  const std::optional<Metric> shown = gpu.use.activity();
  const Means activity = means_of(profile.activity, from, to);
  if (!shown || activity.steps == 0) return std::nullopt;
  GpuUse part = gpu.use;
  part.covered = profile.width * static_cast<double>(activity.steps);
  part.known = part.covered;
  const double whole = gpu.use.metric(*shown)->mean;
  for (std::size_t i = 0; i < telemetry::kMetrics; ++i) {
    if (!part.metrics[i] || !telemetry::is_share(static_cast<Metric>(i))) continue;
    const double scale = whole > 0 ? activity.mean / whole : 0;
    part.metrics[i]->mean = std::min(1.0, part.metrics[i]->mean * scale);
    part.metrics[i]->p50.reset(), part.metrics[i]->p95.reset();
  }
  const auto take = [&](Metric metric, const Means& found) {
    if (found.steps > 0) part.metrics[static_cast<std::size_t>(metric)] = MetricUse{found.mean, {}, {}, found.max};
  };
  take(*shown, activity);
  take(Metric::kDramActive, means_of(profile.dram, from, to));
  take(Metric::kMemoryUsed, means_of(profile.memory, from, to));
  Curve idle;
  idle.mean = profile.idle;
  part.idle_share = means_of(idle, from, to).mean;
  part.changes = changes_between(profile, from, to);
  return part;
}

std::size_t steps_per_part(const Profile& profile) {
  const double day = hours(24) / profile.width;
  const auto steps = static_cast<double>(profile.steps());
  if (steps >= 2 * day && day >= 1) return static_cast<std::size_t>(std::llround(day));
  return std::max<std::size_t>(1, profile.steps() / kFewestParts);
}

}  // namespace

VerdictsOverTime verdicts_over_time(const GpuRow& gpu) {
  const Profile& profile = gpu.use.profile;
  VerdictsOverTime found;
  if (profile.steps() == 0) return found;
  const std::size_t together = steps_per_part(profile);
  found.width = profile.width * static_cast<double>(together);
  const diagnose::Hardware hardware =
      gpu.price.gpu != nullptr ? diagnose::hardware_of(*gpu.price.gpu) : diagnose::Hardware{};
  for (std::size_t from = 0; from < profile.steps(); from += together) {
    const std::optional<GpuUse> part = part_of(gpu, from, from + together);
    found.verdicts.push_back(part ? std::optional(diagnose::classify(summary_of(*part), hardware).verdict)
                                  : std::nullopt);
  }
  return found;
}

}  // namespace rightsize::fleet
