// From what runs now to something better, moving as few workloads as can be, in an order that is safe.
#pragma once

#include <string>
#include <vector>

#include "mig/current.h"

namespace rightsize::mig {

struct RepackGoal {
  Layout make_room;       // profiles that must fit afterwards, all at once; empty: empty as many GPUs as possible
  bool free_gpus = true;  // without make_room: fewest GPUs first, then fewest moves
  Seconds limit = seconds(60);
};

// One thing to do. A move begins the workload in its new slice before the old one ends, unless `interrupts`.
struct Step {
  enum class Kind { kMove, kRemove, kCreate };
  Kind kind = Kind::kMove;
  std::string workload;
  int profile = 0;
  std::size_t from_gpu = 0, to_gpu = 0;
  int from_start = -1, to_start = -1;
  bool temporary = false;   // to a slice it leaves again in a later step, to get out of the way
  bool interrupts = false;  // nowhere to go meanwhile: it stops, others move, it begins again
};

struct Repacking {
  bool feasible = false;
  bool proved = false;  // no plan moves fewer (for as few GPUs)
  Fleet after;          // with the room made left empty
  std::vector<Step> steps;
  std::size_t moves = 0;                               // workloads that end elsewhere
  std::size_t gpus_before = 0, gpus_after = 0;         // with anything on them
  std::vector<std::pair<std::size_t, Instance>> room;  // where each of make_room fits: GPU and placement
};

// Instances nobody uses are removed first. Not feasible when make_room does not fit whatever moves.
Repacking repack(const Fleet& fleet, const Geometry& geometry, const RepackGoal& goal);

}  // namespace rightsize::mig
