// Formulas that guess before anything is simulated: the open loop of perf/open_loop.h on the step that the simulator
// runs, and the latency of an idle replica. They only decide where a search starts; reported values are simulated.
#pragma once

#include "capacity/replica.h"
#include "capacity/service.h"

namespace rightsize::capacity {

// A lower bound on the statistic of an SLO: a replica without other requests, and a prompt as long as the percentile.
// Makes no assumption about the lengths of a trace.
Seconds unloaded(const Service& service, const Replica& replica, const Slo& slo);

// Mean number of sequences that run at once on a replica at `rate` requests per second.
double running_at(const Service& service, const Replica& replica, const sim::ContinuousConfig& engine, double rate);

// The highest rate, in requests per second, at which means stay within the SLOs and the load within max_load; 0 if not
// even an idle replica meets them. `lengths` replaces the service's.
double screened_rate(const Service& service, const Replica& replica, const sim::RequestShape& lengths);
double screened_rate(const Service& service, const Replica& replica);

// The statistic of an SLO that screened_rate() expects of a replica that is nearly idle.
Seconds screened_idle(const Service& service, const Replica& replica, const Slo& slo);

// Means on one replica at `rate` requests per second. Unstable if the rate exceeds the replica's capacity.
struct ScreenedMeans {
  double running = 0;
  Seconds ttft, tpot;
  bool stable = false;
};
ScreenedMeans screened_means(const Replica& replica, const sim::ContinuousConfig& engine,
                             const sim::RequestShape& lengths, double rate);

// Mean latency of a whole request at `rate` requests per second.
Seconds screened_latency(const Service& service, const Replica& replica, double rate);

}  // namespace rightsize::capacity
