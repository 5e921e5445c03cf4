// A policy on mean traffic: requests are a fluid, and single ones are not followed. A week takes about ten
// milliseconds, so hundreds of settings can be compared before the best ones are simulated (cluster.h). Below overload,
// the GPU-hours are within 15 % of the simulation's (search_test.cc).
#pragma once

#include "autoscale/traffic.h"

namespace rightsize::autoscale {

// A replica in a steady state with requests of one mean shape.
struct SteadyReplica {
  const sim::StepCost& cost;
  double prompt = 0, output = 1;  // tokens
  double most = 1;                // sequences at once, limited by the engine and its cache

  SteadyReplica(const ClusterConfig& config, double mean_prompt, double mean_output);
  double tpot(double running) const;  // nanoseconds with this many sequences, prompts included
  double rate(double running) const;  // requests per second
  // Sequences at this rate; `before` is an initial guess.
  double running_at(double rate, double before) const;
  // The most sequences with a TPOT within the limit; at least one.
  double running_within(SimTime tpot_limit) const;

 private:
  double per_sequence() const;  // time that each adds between two tokens
};

// `capacity_share`: the usable share of a replica's throughput and of the limit on TPOT; randomness takes the rest. The
// run has no latencies.
ScalingRun screen(const ClusterConfig& config, const DemandSeries& demand, const Policy& policy, double capacity_share);

}  // namespace rightsize::autoscale
