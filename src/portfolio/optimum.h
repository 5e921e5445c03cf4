// The cheapest plan of an organisation, with a bound, the value of scarce GPUs, and each workload's share of the cost.
#pragma once

#include <string>
#include <vector>

#include "portfolio/cost.h"

namespace rightsize::portfolio {

struct SearchLimits {
  double seconds = 30;
  double gap = 0;  // stop within this share of the bound
};

struct Optimum {
  Choice choice;  // empty: none is feasible, or none was found in time
  double usd = 0;
  double bound = 0;          // no plan costs less
  bool infeasible = false;   // proved
  bool interrupted = false;  // the time limit or Ctrl-C ended the search

  bool found() const { return !choice.empty(); }
  bool proved() const { return found() && usd <= bound * (1 + 1e-9) + 1e-6; }
  double gap() const { return bound > 0 ? usd / bound - 1 : 0; }
};

// Exact unless a limit ends it or the thread's work is cancelled; then the best plan so far with its bound. `start` is
// a feasible choice, or empty.
Result<Optimum> find_optimum(const CostModel& costs, const SearchLimits& limits, const Choice& start = {});

// The monthly saving of one more unit.
struct ShadowPrice {
  std::string what;  // "reserved:POOL", "quota:POOL"
  double usd = 0;
  bool exact = true;  // false: the saving found so far, possibly more
};

// One more reserved GPU in every pool, and one more GPU of every quota. Exact as long as `limits` allow.
Result<std::vector<ShadowPrice>> shadow_prices(const CostModel& costs, const Optimum& optimum,
                                               const SearchLimits& limits);

// GPUs to reserve at a pool's offer.
struct Purchase {
  std::size_t pool = 0;
  int gpus = 0;
  double saves = 0;  // dollars per month, net of their cost
};

// What to reserve at the pools' offers: the purchase that saves most, then the next one on top of it, until none saves.
// Only for organisations with a proved optimum; empty without offers.
Result<std::vector<Purchase>> what_to_reserve(const CostModel& costs, const Optimum& optimum,
                                              const SearchLimits& limits);

// Each workload's dollars per month; they add up to the plan's cost. Workloads pay for the GPU-hours they use; idle
// reservations are shared in proportion to each workload's cost alone. No workload pays more than alone, unless
// reservations or quotas make the total exceed that sum; then all pay at most the same factor more.
std::vector<double> cost_shares(const CostModel& costs, const Choice& choice);

}  // namespace rightsize::portfolio
