// Reads a decision from the JSON of recommend, service, autoscale, fleet, batch, window, mig or portfolio.
//
// It does not fill gaps: a prediction without an interval stays without one, and a plan without its request cannot be
// planned again.
#pragma once

#include <string>

#include "base/result.h"
#include "decisions/decision.h"

namespace rightsize::decisions {

struct PlanPick {
  int plan = 0;           // its rank; for a fleet: the action; 0: the one that the answer names first
  std::string part = {};  // the workload, service or policy, in a document with several
};

// Everything but the decision's number, workload, people and time. `file` is for error messages.
Checked<Decision> read_plan(const std::string& file, std::string text, const PlanPick& pick);

}  // namespace rightsize::decisions
