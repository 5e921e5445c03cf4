// Other terms for the machines of a plan, and the quota they need.
#pragma once

#include "plan/plan.h"

namespace rightsize::plan {

// Adds spot and commitment prices of the plan's machines, in its region if possible. A plan that already uses such terms
// gets only what it commits to.
void add_terms(const market::PriceBook& book, const Request& request, Plan& plan);

// The provider quota that the plan's machines count against.
std::optional<Quota> quota_of(const Plan& plan);

}  // namespace rightsize::plan
