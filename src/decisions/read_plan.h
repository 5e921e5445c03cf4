// The JSON of a command that makes plans -> a decision to take: recommend, service, fleet, batch, window, mig.
//
// What the document does not say stays unsaid: a prediction without an interval has none, a plan without its request
// cannot be asked again.
#pragma once

#include <string>

#include "base/result.h"
#include "decisions/decision.h"

namespace rightsize::decisions {

struct PlanPick {
  int plan = 1;           // its rank; of a fleet: the action
  std::string part = {};  // which workload or service of a document with several; empty: the only one
};

// Everything of the decision but its number, workload, people and time. `file` is used in places only.
Checked<Decision> read_plan(const std::string& file, std::string text, const PlanPick& pick);

}  // namespace rightsize::decisions
