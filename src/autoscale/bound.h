// A lower bound on the replica-time of any policy that meets the SLO on a stream of requests.
//
// Work: a request occupies a replica at least for its share of steps with a full batch, so no scaler pays for less than
// the sum. A batch is no larger than the number of requests that can be under way together within their limits. A
// scaler that sees the future still has to have replicas when the requests need them. Time is cut into intervals: the
// requests that arrive in one and must be done in it need their work there, and prompts that must be processed in it
// (the limit on TTFT) theirs. Between intervals, a replica stays or is
// started again, which costs the start-up time. The replicas of each interval that minimize the sum are found exactly
// (dynamic programming over whole replicas; level by level where there are many). Requests that may miss their limits
// count at a price (Lagrange), so the bound holds whichever of them a scaler chooses.
//
// With a prefix cache, prompts may cost nothing. It holds for every policy with the same limits, whether it scales to
// zero or not. A longer start-up never lowers it.
#pragma once

#include <limits>

#include "autoscale/cluster.h"

namespace rightsize::autoscale {

struct Bound {
  double replica_seconds = 0;
  double work_seconds = 0;  // at full batches
};

Bound lower_bound(const ClusterConfig& config, const Traffic& traffic);

// The least time of a replica that a request takes, in nanoseconds: every step is shared by a full batch, or by
// `together` sequences if those are fewer.
double least_work(const sim::StepCost& cost, const sim::ContinuousConfig& engine, double prompt, double output,
                  double together = std::numeric_limits<double>::infinity());

// The least replica-seconds that supply `demand` (replica-seconds per interval of `width` seconds) where a start costs
// `startup` seconds, replicas present at the beginning cost nothing to start, and up to `may_miss` replica-seconds of
// the demand may be left out.
double least_supply(const std::vector<double>& demand, double width, double startup, double may_miss);

}  // namespace rightsize::autoscale
