// What may go wrong with a plan: limits at the high end of its range, lost machines, interruptions.
#pragma once

#include <string>

#include "plan/limit_risk.h"
#include "plan/plan.h"

namespace rightsize::app {

using plan::percent_chance;

// "a 5 % chance of an interruption", "about 27 interruptions".
std::string interruptions_in_words(double expected);

// "TPOT decides the number of GPUs: 60 ms of 60 ms, at 12 % of their capacity.": the limit on latency that makes a
// service need more machines than its load; empty if none does.
std::string binding_limit(const plan::Request& request, const plan::Plan& plan);

// The load after the loss of the largest unit that fails at once: a machine, or all machines of a replica. 0: nothing
// is left.
double load_after_loss(const plan::Plan& plan);

// Sentences without a capital letter and a full stop; empty if there is no such risk.

// How many interruptions to expect on spot machines, and what they mean for a service.
std::string spot_caveat(const plan::Request& request, const plan::Plan& plan);
// The high end of the cost above the budget, and the plan that stays within it.
std::string over_budget(const plan::Request& request, const plan::Recommendation& found);
// The effect of losing a machine that several replicas share.
std::string machine_loss(const plan::Request& request, const plan::Plan& plan);
}  // namespace rightsize::app
