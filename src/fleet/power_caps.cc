// The savings of power caps, by kind of GPU and verdict.
#include <algorithm>
#include <map>

#include "diagnose/power_cap.h"
#include "fleet/fleet.h"
#include "fleet/remedies.h"
#include "fleet/running.h"

namespace rightsize::fleet {
namespace {

constexpr double kMostTime = 1.05;

struct CapGroup {
  std::vector<diagnose::WeightedWork> works;
  Joules drawn;
  Seconds active;
};

}  // namespace

std::vector<CapLine> find_caps(const std::vector<GpuRow>& gpus, const FleetAssumptions& assumptions) {
  std::map<std::pair<const catalog::Gpu*, diagnose::Verdict>, CapGroup> groups;
  for (const GpuRow& row : gpus) {
    // Power limits apply to whole GPUs, not to MIG instances.
    if (row.price.gpu == nullptr || !row.use.device.mig_id.empty()) continue;
    const perf::SustainedRates* rates = assumptions.speeds.find(*row.price.gpu);
    if (rates == nullptr) continue;
    const auto work = diagnose::powered_work(summary_of(row.use), row.time, rates->power);
    if (!work) continue;
    const Seconds active = row.use.covered * work->active;
    CapGroup& group = groups[{row.price.gpu, row.verdict}];
    group.works.push_back({*work, work->drawn * active});
    group.drawn += work->drawn * active;
    group.active += active;
  }
  const Seconds window = window_of(gpus).length();
  std::vector<CapLine> lines;
  for (const auto& [key, group] : groups) {
    const auto& [gpu, verdict] = key;
    const Watts limit = group.works.front().work.gpu.limit;
    if (assumptions.power_cap && *assumptions.power_cap > limit) continue;
    const std::optional<diagnose::CapEffect> effect = assumptions.power_cap
                                                          ? diagnose::under_cap(group.works, *assumptions.power_cap)
                                                          : diagnose::best_cap(group.works, kMostTime);
    if (!effect || !(window > Seconds{})) continue;
    lines.push_back({verdict, gpu->name, group.works.size(), group.drawn / group.active, effect->cap, effect->time,
                     group.drawn * (1 - effect->energy) / window});
  }
  std::ranges::stable_sort(lines, std::ranges::greater(), &CapLine::saved);
  return lines;
}

}  // namespace rightsize::fleet
