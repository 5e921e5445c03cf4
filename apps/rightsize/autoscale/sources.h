// What a running service's metrics and a plan say, in place of flags that are not given.
#pragma once

#include "rightsize/autoscale/input.h"

namespace rightsize::app {

// Reads the service of --prometheus or --from. Sets model, GPU, split, format and engine unless the flags have them,
// and the speed that its own times per token show.
Checked<History> read_history(AutoscaleFlags& flags);

// Reads --plan. Sets what the plan says about a replica, its SLOs and its traffic unless the flags have it.
Checked<PlannedPrice> read_replica_plan(AutoscaleFlags& flags);

}  // namespace rightsize::app
