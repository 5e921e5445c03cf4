// Confidence of a serving estimate, from what was measured with the engine. Internal to this module.
#pragma once

#include "perf/stacks/serve_replica.h"

namespace rightsize::perf {

// Sets the basis, the intervals and the unmeasured aspects. Widths come from rows left out of the fit (see
// data/stacks.csv); each unmeasured aspect adds an independent error.
void fill_confidence(const Constants& constants, const EngineCopy& r, const model::Job& job, ServeEstimate& estimate);

}  // namespace rightsize::perf
