// The chance that a plan breaks its limits, in words that the answer, its JSON and its files share.
#pragma once

#include <string>

#include "plan/plan.h"

namespace rightsize::plan {

// "a 61 % chance", "an 8.8 % chance".
std::string percent_chance(double share);

// A smaller chance is not mentioned.
inline constexpr double kRisky = 0.1;

// "TPOT is at 99 % of its limit and the GPU may be 29 % slower than predicted: there is a 48 % chance that it needs
// more machines, up to $6,360/month", without a full stop. Empty if the chance is below kRisky.
std::string limit_risk(const Request& request, const Plan& plan);

// " There is a 48 % chance that it misses the deadline.": the same for a verdict. Empty likewise.
std::string risk_in_short(const Request& request, const Plan& plan);

}  // namespace rightsize::plan
