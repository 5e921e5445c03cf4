// The optimization inside plan_slices(): units into slices, slices onto GPUs.
//
// The exact model (slice_model.h) determines how many GPUs of each type are needed; a depth-first search then places
// the units on them under all rules. If the search proves that this is impossible, the model is solved again without
// that answer. Problems that are too large for the search are filled by first fit; the model's bound still holds.
#pragma once

#include <vector>

#include "mig/slice_model.h"

namespace rightsize::mig {

// The content of one slice: one replica, or several that share it.
struct SliceUnit {
  std::vector<ReplicaId> replicas;
  Allowed allowed;
  std::vector<int> apart;  // units with a number in common never share a GPU
  int together = -1;       // units with the same number (0 or more) are on one GPU
};

struct AssignedGpu {
  std::size_t type = 0;
  std::vector<std::pair<std::size_t, std::size_t>> slots;  // position in plain_profiles(), unit
};

struct Assignment {
  bool feasible = false;
  std::vector<AssignedGpu> gpus;
  double cost = 0;   // GpuType::usd_per_hour() of all GPUs
  double bound = 0;  // no assignment costs less
  bool out_of_time = false;
};

// Every unit must be allowed somewhere. Not feasible if a group fits no GPU together, or if no answer can cost less
// than the ceiling.
Result<Assignment> assign(const std::vector<SliceUnit>& units, const std::vector<GpuType>& types,
                          const SolverEffort& effort);

// First fit under all rules, for any size. Not feasible if a group fits no GPU together.
Assignment assign_first_fit(const std::vector<SliceUnit>& units, const std::vector<GpuType>& types);

struct UnitPlacement {
  bool found = false;
  bool exhausted = false;  // not found, and proved that there is none
  std::vector<AssignedGpu> gpus;
};

// Places the units on this many GPUs of each type, in a bounded number of steps. The answer depends only on its
// arguments, not on the machine.
UnitPlacement search_assignment(const std::vector<SliceUnit>& units, const std::vector<GpuType>& types,
                                const std::vector<std::size_t>& gpus_by_type);

}  // namespace rightsize::mig
