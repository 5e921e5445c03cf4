// The optimisation inside plan_slices(): units into slices, slices onto GPUs.
#pragma once

#include <limits>
#include <optional>
#include <vector>

#include "mig/plan.h"

namespace rightsize::mig {

// What goes into one slice: one replica, or several that share it.
struct Unit {
  std::vector<Replica> replicas;
  std::vector<std::vector<bool>> allowed;  // [type][position in plain_profiles()]
  std::vector<int> apart;                  // units with a number in common never share a GPU
  int together = -1;                       // units with the same number (0 or more) are on one GPU
};

struct AssignedGpu {
  std::size_t type = 0;
  std::vector<std::pair<std::size_t, std::size_t>> slots;  // position in plain_profiles(), unit
};

struct Assignment {
  bool feasible = false;
  std::vector<AssignedGpu> gpus;
  double cost = 0;           // what the solver minimises: GpuType::usd_per_hour() of all GPUs
  double bound = 0;          // no assignment costs less
  bool out_of_time = false;  // the time ran out first: another run may answer otherwise
};

// How hard to look.
struct Effort {
  int nodes = 2'000;                                         // of the search tree over numbers of GPUs
  Seconds limit = seconds(60);                               // in case these take long
  double ceiling = std::numeric_limits<double>::infinity();  // an answer that costs as much is of no use
};

// Every unit must be allowed somewhere. Not feasible when a group fits no GPU together, or when no answer can cost less
// than the ceiling (none is looked for then).
Assignment assign(const std::vector<Unit>& units, const std::vector<GpuType>& types, const Effort& effort);

// The units on so many GPUs of each type, every rule kept; nothing when none is found in a bounded number of steps.
// Does not depend on how the numbers were found, nor on the machine.
std::optional<std::vector<AssignedGpu>> assign_to(const std::vector<Unit>& units, const std::vector<GpuType>& types,
                                                  const std::vector<std::size_t>& gpus);

// [type][layout][position in plain_profiles()]: how many of that slice.
using LayoutsByType = std::vector<std::vector<std::vector<int>>>;

// The maximal layouts of every type.
LayoutsByType maximal_layouts(const std::vector<GpuType>& types);

// Those of them worth considering for these needs ([kind][type][plain profile]: may it go there): a layout is left out
// when another, no dearer, has for each of its slices one of its own that every kind finds at least as good. The
// optimum stays; a dozen layouts are left of 28.
LayoutsByType useful_layouts(const std::vector<std::vector<std::vector<bool>>>& needs,
                             const std::vector<GpuType>& types);

// For tests and small instances: the exact model with numbered GPUs, at most `most_gpus`.
Assignment assign_numbered(const std::vector<Unit>& units, const std::vector<GpuType>& types, std::size_t most_gpus,
                           Seconds limit);

// Puts the units `left` beside what is assigned already, every rule kept, on new GPUs where they must be. False when a
// group fits nowhere.
bool add_first_fit(const std::vector<Unit>& units, const std::vector<GpuType>& types,
                   const std::vector<std::size_t>& left, Assignment& assignment);

// First fit with every rule kept: an answer for any size. Empty when a group fits nowhere.
Assignment assign_first_fit(const std::vector<Unit>& units, const std::vector<GpuType>& types);

}  // namespace rightsize::mig
