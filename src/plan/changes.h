// Changes of the request that are worth exploring.
#pragma once

#include <string>
#include <vector>

#include "plan/plan.h"

namespace rightsize::plan {

struct PossibleChange {
  ChangeKind kind;
  std::string flags;  // that make the change
  Request request;    // the changed one
};

// The changes that apply to this request, those with the least effect on the result first.
std::vector<PossibleChange> possible_changes(const Request& request);
// Relaxed limits, for requests that nothing meets.
std::vector<PossibleChange> relaxed_limits(const Request& request);

}  // namespace rightsize::plan
