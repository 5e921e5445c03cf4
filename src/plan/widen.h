// Our own limit on the number of GPUs must not hide a plan.
#pragma once

#include "plan/plan.h"

namespace rightsize::plan {

// Like recommend(), but raises our default for --max-gpus if it leaves no plan, or if a plan with more GPUs costs 10 %
// less. `request` then has the limit that was used. If no listed plan uses the user's own machines, the result says
// why.
Recommendation recommend_widely(Request& request, const market::PriceBook& book, const perf::Constants& constants);

}  // namespace rightsize::plan
