#include "fleet/account.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace rightsize::fleet {

Seconds total(const std::vector<Seconds>& times) { return std::accumulate(times.begin(), times.end(), Seconds{}); }

void set_idle(GpuUse& use, const StepTimes& time, const IdleRule& rule) {
  Profile& profile = use.profile;
  Seconds idle, held;
  use.known = total(time.known);
  for (std::size_t i = 0; i < time.idle.size(); ++i) {
    idle += time.idle[i];
    const bool memory = i < profile.memory.mean.size() && !std::isnan(profile.memory.mean[i]);
    if (memory && bytes(static_cast<double>(profile.memory.mean[i])) > rule.held_above) held += time.idle[i];
  }
  use.idle_share = use.covered > Seconds{} ? idle / use.covered : 0;
  use.held_share = use.covered > Seconds{} ? held / use.covered : 0;
  profile.idle.reserve(profile.steps());
  for (std::size_t i = 0; i < profile.steps(); ++i) {
    const bool known = !std::isnan(profile.activity.mean[i]) && time.known[i] > Seconds{};
    profile.idle.push_back(known ? static_cast<float>(time.idle[i] / time.known[i]) : kUnknownStep);
  }
}

void finish_tenancies(GpuUse& use) {
  constexpr std::size_t kWorst = 3;
  const Profile& profile = use.profile;
  for (Tenancy& tenancy : use.tenancies) {
    std::vector<BusyStep> steps;
    std::vector<float> memory;
    for (std::size_t i = 0; i < std::max(profile.steps(), profile.memory.mean.size()); ++i) {
      const TimePoint begin = profile.begin_of(i);
      if (begin + profile.width <= tenancy.first || begin >= tenancy.last) continue;
      BusyStep step{begin, profile.width, 0, std::nullopt};
      if (i < profile.memory.mean.size() && !std::isnan(profile.memory.mean[i])) {
        memory.push_back(profile.memory.mean[i]);
        step.memory = bytes(static_cast<double>(profile.memory.max[i]));
      }
      if (i >= profile.steps() || std::isnan(profile.activity.max[i])) continue;
      step.activity = static_cast<double>(profile.activity.max[i]);
      steps.push_back(step);
    }
    std::stable_sort(steps.begin(), steps.end(),
                     [](const BusyStep& a, const BusyStep& b) { return a.activity > b.activity; });
    // Copied, because a vector that is moved or resized keeps its capacity: more memory than the rest of the GPU.
    const auto end = steps.begin() + static_cast<std::ptrdiff_t>(std::min(steps.size(), kWorst));
    tenancy.worst.assign(steps.begin(), end);
    if (memory.empty()) continue;
    std::sort(memory.begin(), memory.end());
    tenancy.memory_p95 = bytes(static_cast<double>(memory[(memory.size() - 1) * 95 / 100]));
  }
  std::stable_sort(use.tenancies.begin(), use.tenancies.end(),
                   [](const Tenancy& a, const Tenancy& b) { return a.time > b.time; });
}

void add_free_part(std::vector<GpuUse>& rows, Seconds partitioned, const TimeSpan& span,
                   std::vector<MigLayout> layouts) {
  if (rows.empty()) return;
  GpuUse free;
  free.device = rows.front().device;
  free.device.mig_id = kFreePart;
  free.device.mig_profile.clear();
  free.covered = free.known = partitioned;
  free.interval = rows.front().interval;
  free.first = span.from;
  free.last = std::max(free.first, span.until - free.interval);
  free.idle_share = 1;
  free.layouts = std::move(layouts);
  rows.push_back(std::move(free));
}

}  // namespace rightsize::fleet
