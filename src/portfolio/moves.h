// The path from the current state to the plan: one workload at a time, in an order that never breaks a quota.
#pragma once

#include <vector>

#include "portfolio/cost.h"

namespace rightsize::portfolio {

struct Move {
  std::size_t workload = 0;
  int from = 0, to = 0;     // options
  double saves = 0;         // dollars per month from this move on; negative: costs more until later moves
  bool interrupts = false;  // old and new do not fit side by side, so the workload stops in between
  bool interim = false;     // makes room; the workload moves again
};

struct MovePath {
  std::vector<Move> moves;
  std::vector<std::size_t> blocked;  // workloads that no order can move within the quotas
};

// Workloads without `now` are assumed to start where the plan puts them.
MovePath plan_moves(const CostModel& costs, const Choice& plan);

}  // namespace rightsize::portfolio
