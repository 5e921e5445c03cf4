// Requests with a change, each taken through the search.
#pragma once

#include <memory>
#include <vector>

#include "plan/planning.h"

namespace rightsize::plan {

// A changed request and its planning, which refers to the request.
struct Explored {
  std::unique_ptr<PossibleChange> change;
  std::unique_ptr<Planning> planning;

  bool has_plan() const { return !planning->kinds().empty(); }
};

// Plans every changed request, several at the same time. The first plan of each is verified, but of a service not
// simulated in full if it costs `most` or more.
std::vector<Explored> explore(std::vector<PossibleChange> changes, const PlanningFacts& facts, Usd most = kAnyCost);

// Of a request that nothing meets: replaces each longer limit on latency by the smallest one with a plan, which may be
// far longer than twice the limit. If no limit is enough alone, adds a change that extends all of them by one factor.
void find_least_limits(const Request& request, std::vector<Explored>& explored, const PlanningFacts& facts);

}  // namespace rightsize::plan
