// Fills in missing flags from the metrics of a running service or from a plan.
#pragma once

#include "rightsize/autoscale/input.h"

namespace rightsize::app {

// Reads the service of --prometheus or --from. Sets model, GPU, split, format and engine where no flag does, and the
// speed from the measured times per token.
Checked<History> read_history(AutoscaleFlags& flags);

// Reads --plan. Sets the replica, its SLOs and its traffic where no flag does.
Checked<PlannedPrice> read_replica_plan(AutoscaleFlags& flags);

}  // namespace rightsize::app
