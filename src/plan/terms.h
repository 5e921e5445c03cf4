// What else a plan's machines can be had for, and what must be asked for to have them at all.
#pragma once

#include "plan/plan.h"

namespace rightsize::plan {

// Spot and commitments of the plan's own machines, in its region where that has a price; nothing where nobody has one.
// Of a plan that is on such terms itself: only what it commits to.
void add_terms(const market::PriceBook& book, const Request& request, Plan& plan);

// The provider's quota the plan's machines count against.
std::optional<Quota> quota_of(const Plan& plan);

}  // namespace rightsize::plan
