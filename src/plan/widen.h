// Our own limit on the number of GPUs must not hide a plan.
#pragma once

#include "plan/plan.h"

namespace rightsize::plan {

// Like recommend(), but where --max-gpus was not given and our default leaves no plan, or a plan with more GPUs costs
// 10 % less, the limit is raised. `request` then has the limit that was used. Where no plan shown uses the user's own
// machines, it says why.
Recommendation recommend_widely(Request& request, const market::PriceBook& book, const perf::Constants& constants);

}  // namespace rightsize::plan
