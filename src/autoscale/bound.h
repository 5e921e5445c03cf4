// A lower bound on the replica-time of any policy that meets the SLO on a stream of requests.
//
// Work: a request occupies a replica at least for its share of steps with a full batch, so no scaler pays for less than
// the sum. A batch is no larger than the number of requests that can be in progress at once within their limits. Even a
// scaler that knows the future must have replicas when the requests need them. Time is cut into intervals: requests
// that arrive and must finish within an interval need their work there, and so do prompts that must be processed within
// it (the limit on TTFT). Between intervals, a replica stays or is started again, which costs the start-up time. The
// numbers of replicas that minimize the sum are found exactly (dynamic programming over whole replicas; level by level
// if there are many). Requests that may miss their limits count at a price (Lagrange), so the bound holds whichever of
// them a scaler chooses.
//
// With a prefix cache, prompts may cost nothing. The bound holds for every policy with the same limits, whether it
// scales to zero or not. A longer start-up never lowers it.
#pragma once

#include <limits>

#include "autoscale/cluster.h"

namespace rightsize::autoscale {

struct Bound {
  double replica_seconds = 0;
  double work_seconds = 0;  // with full batches
};

Bound lower_bound(const ClusterConfig& config, const Traffic& traffic);

// The minimum replica time of a request, in nanoseconds: a full batch, or `together` sequences if those are fewer,
// share every step.
double least_work(const sim::StepCost& cost, const sim::ContinuousConfig& engine, double prompt, double output,
                  double together = std::numeric_limits<double>::infinity());

// The minimum replica-seconds that supply `demand` (replica-seconds per interval of `width` seconds). A start costs
// `startup` seconds, replicas present at the beginning start for free, and up to `may_miss` replica-seconds of the
// demand may be left out.
double least_supply(const std::vector<double>& demand, double width, double startup, double may_miss);

}  // namespace rightsize::autoscale
