// The effect of a power cap on work that is known by its counters: time and energy of the same work.
//
// The GPU's measured power is divided among its parts as perf's power model does for a known job
// (perf/kernels/power.h). A cap lowers the clock until the GPU draws less. Arithmetic then takes longer; memory
// traffic, copies and waits do not.
#pragma once

#include <optional>
#include <span>

#include "diagnose/diagnose.h"
#include "perf/kernels/power.h"

namespace rightsize::diagnose {

// The work of one GPU while it is active. Shares add up to 1.
struct PoweredWork {
  perf::GpuPower gpu;     // scaled to the measured power
  perf::Activity parts;   // of one second
  double arithmetic = 0;  // share of the time that the clock determines
  double memory = 0;      // share of the time that memory determines
  double hidden = 0;      // part of it with arithmetic at the same time
  double clock = 1;       // today, as a share of the highest
  double active = 0;      // share of the time with work
  Watts drawn;            // while active
};

// Empty if the source has no power or no activity, if the GPU was idle, or if its power limit is unknown.
std::optional<PoweredWork> powered_work(const Summary& summary, const TimeShares& shares, const perf::GpuPower& gpu);

// Factors on today's time and energy of the same work.
struct CapEffect {
  Watts cap;
  double time = 1, energy = 1;
};

CapEffect under_cap(const PoweredWork& work, Watts cap);

// Several workloads together, weighted by their energy. All GPUs must have the same limit.
struct WeightedWork {
  PoweredWork work;
  Joules energy;  // of the active time
};
CapEffect under_cap(std::span<const WeightedWork> works, Watts cap);

// The cap with the least energy that makes the work at most `most_time` times as long. Caps are multiples of 5 % of the
// limit, at least half of it. Empty if no cap saves 1 % of the energy.
std::optional<CapEffect> best_cap(std::span<const WeightedWork> works, double most_time);

}  // namespace rightsize::diagnose
