// How sure an estimate of a serving engine is, from what was measured with it. Not for callers.
#pragma once

#include "perf/stacks/serve_replica.h"

namespace rightsize::perf {

// Fills basis, intervals and what was not measured. Widths are those of rows left out of the fit (data/stacks.csv says
// which); what was not measured adds to them as independent errors.
void fill_confidence(const Constants& constants, const Replica& r, const model::Job& job, ServeEstimate& estimate);

}  // namespace rightsize::perf
