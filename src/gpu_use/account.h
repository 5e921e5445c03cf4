// The accountant: turns the facts per step of a profile into the rows of one GPU (GpuUse, see use.h). Both files
// (account_files.cc) and servers (account_cells.cc) use it, so an hour means the same for either source.
//
// Servers return counts per step, not their readings. A week of readings every 30 s is 20,160 per series and metric;
// the counts are 336 steps times about nine queries, computed on the server.
#pragma once

#include <array>
#include <optional>
#include <span>
#include <tuple>
#include <utility>
#include <vector>

#include "gpu_use/coverage.h"
#include "gpu_use/use.h"

namespace rightsize::gpu_use {

// Time per step of a profile.
struct StepTimes {
  std::vector<Seconds> covered;  // the GPU or MIG instance was present
  std::vector<Seconds> known;    // ... and its activity was reported
  std::vector<Seconds> idle;     // ... and it was idle

  explicit StepTimes(std::size_t steps) : covered(steps), known(steps), idle(steps) {}
};
Seconds total(const std::vector<Seconds>& times);

// A profile of `steps` steps. at(metric, step) gives the mean and the maximum of a step, if it has readings. Each step
// uses its best metric of activity.
template <class At>
Profile make_profile(TimePoint start, Seconds width, std::size_t steps, const At& at) {
  Profile profile{.start = start, .width = width};
  const auto fill = [&](MetricCurve& curve, std::span<const Metric> best_first) {
    for (std::size_t i = 0; i < steps; ++i) {
      for (Metric metric : best_first) {
        const std::optional<std::pair<float, float>> step = at(metric, i);
        if (!step) continue;
        if (curve.empty()) curve.mean = curve.max = std::vector<float>(steps, kUnknownStep);
        std::tie(curve.mean[i], curve.max[i]) = *step;
        break;
      }
    }
  };
  fill(profile.activity, kActivityMetrics);
  fill(profile.dram, std::array{Metric::kDramActive});
  fill(profile.memory, std::array{Metric::kMemoryUsed});
  return profile;
}

// The use of a device that was covered for `covered` between the ends of the span.
GpuUse begin_use(Device device, Seconds covered, const TimeSpan& span, Seconds interval);

// Derives `known`, the idle and held shares, and Profile::idle from the time per step. `covered` and the curves of the
// profile must be set.
void set_idle(GpuUse& use, const StepTimes& time, const IdleRule& rule);

// Appends the row for the part of a partitioned GPU that no MIG instance used.
void add_free_part(std::vector<GpuUse>& rows, Seconds partitioned, const TimeSpan& span,
                   std::vector<MigPeriod> layouts);

}  // namespace rightsize::gpu_use
