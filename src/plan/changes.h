// Changes of the request worth knowing of: what else could be trained or asked of a service, and where that leads.
#pragma once

#include <string>
#include <vector>

#include "plan/plan.h"

namespace rightsize::plan {

struct PossibleChange {
  ChangeKind kind;
  std::string flags;  // how the user would ask for it
  Request request;    // the changed one
};

// Those that apply to this request, the one that alters the result least first.
std::vector<PossibleChange> possible_changes(const Request& request);
// Limits to give up where nothing keeps all of them.
std::vector<PossibleChange> relaxed_limits(const Request& request);

}  // namespace rightsize::plan
