// The accountant: what is known per step of a profile -> the rows of one GPU (GpuUse, see use.h). Files
// (account_files.cc) and servers (account_cells.cc) both end here, so an hour means the same for either source.
//
// Servers are asked for counts per step and not for their readings. A week of readings every 30 s is 20,160 per series
// and metric; the counts are 336 steps times about nine questions, and the server computes them where the data is.
#pragma once

#include <vector>

#include "fleet/coverage.h"
#include "fleet/use.h"

namespace rightsize::fleet {

// Time per step of a profile.
struct StepTimes {
  std::vector<Seconds> covered;  // in which the GPU or MIG instance was present
  std::vector<Seconds> known;    // ... and its activity was reported
  std::vector<Seconds> idle;     // ... and it did nothing

  explicit StepTimes(std::size_t steps) : covered(steps), known(steps), idle(steps) {}
};
Seconds total(const std::vector<Seconds>& times);

// Sets what follows from the time per step: `known`, the idle and held shares, and Profile::idle. `covered` and the
// curves of the profile must be set.
void set_idle(GpuUse& use, const StepTimes& time, const IdleRule& rule);

// Sorts tenancies, the longest first, and adds what the profile says about them: the busiest steps while they were
// present, and the 95th percentile of memory.
void finish_tenancies(GpuUse& use);

// Appends the row of what no MIG instance was made of, while the GPU was partitioned.
void add_free_part(std::vector<GpuUse>& rows, Seconds partitioned, const TimeSpan& span,
                   std::vector<MigLayout> layouts);

}  // namespace rightsize::fleet
