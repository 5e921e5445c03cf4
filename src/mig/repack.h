// Rearranges running slices with the fewest moves, in a safe order.
#pragma once

#include <string>
#include <vector>

#include "mig/current.h"

namespace rightsize::mig {

struct RepackGoal {
  Layout make_room;  // slices that must fit afterwards; empty: free as many GPUs as possible
  Seconds limit = seconds(60);
};

// One step. A moved workload starts in its new slice before the old one ends, unless `interrupts`.
struct RepackStep {
  enum class Kind { kMove, kRemove, kCreate };
  Kind kind = Kind::kMove;
  std::string workload;
  int profile = 0;
  std::size_t from_gpu = 0, to_gpu = 0;
  int from_start = -1, to_start = -1;
  bool temporary = false;   // a later step moves it again
  bool interrupts = false;  // it stops, others move, it starts again
};

std::string_view name_of(RepackStep::Kind kind);  // "move", "remove", "create"

struct Repacking {
  bool feasible = false;
  bool proved = false;  // no plan with as few GPUs needs fewer moves
  RunningGpus after;    // with the new room empty
  std::vector<RepackStep> steps;
  std::size_t moves = 0;                               // workloads that move
  std::size_t gpus_before = 0, gpus_after = 0;         // with anything on them
  std::vector<std::pair<std::size_t, Instance>> room;  // where each of make_room fits: GPU and placement
};

// Unused instances are removed first. Infeasible if make_room does not fit even if every workload may move.
Result<Repacking> repack(const RunningGpus& fleet, const Geometry& geometry, const RepackGoal& goal);

}  // namespace rightsize::mig
