// Finds the best policy and its parameters: compares settings of every kind and simulates the best over all requests.
#pragma once

#include <limits>

#include "autoscale/traffic.h"

namespace rightsize::autoscale {

// ---- A policy on mean traffic ----
//
// Requests are a fluid, and single ones are not followed. A week takes about ten milliseconds, so hundreds of settings
// can be compared before the best ones are simulated (cluster.h). Below overload, the GPU-hours are within 15 % of the
// simulation's (search_test.cc).

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

// ---- The search ----

struct SimulatedPolicy {
  Policy policy;
  ScalingRun run = {};
};

// Whether a policy is better: the SLO first, then the paid time.
bool better(const SimulatedPolicy& a, const SimulatedPolicy& b, const Limits& slo);

// The policies on the same traffic, each on the next free thread.
std::vector<SimulatedPolicy> simulate_all(const ClusterConfig& config, const Traffic& traffic,
                                          const std::vector<Policy>& policies, unsigned threads = 2);

struct PolicySearch {
  std::vector<SimulatedPolicy> best;     // of each kind, best first
  std::optional<SimulatedPolicy> fixed;  // the fewest fixed replicas that meet the SLO
  std::size_t screened = 0, simulated = 0;
  bool all_simulated = false;
};

// Settings of every kind for this traffic, about two hundred. Plans of schedules are fitted to it: replicas by hour of
// the day if it lasts longer than one. `most_rate`: known upper limit on the requests per second of a replica within
// the SLO.
std::vector<Policy> settings_for(const ClusterConfig& config, const DemandSeries& demand,
                                 double most_rate = std::numeric_limits<double>::infinity());

// Requests per second in the busiest minute.
double busiest_rate(const DemandSeries& demand);

// Requests per second that a replica serves within the limit on TPOT.
double rate_within(const ClusterConfig& config, const DemandSeries& demand);

// The replica-seconds of the cheapest setting on mean traffic that meets the SLO there. Only reactive policies: a plan
// that knows the traffic starts early enough for any start-up time.
double cheapest_on_average(const ClusterConfig& config, const Traffic& traffic, unsigned threads = 2);

// Simulates every setting if there are few requests, otherwise the ten or so that a screen on mean traffic finds best.
PolicySearch search(const ClusterConfig& config, const Traffic& traffic, unsigned threads = 2);

}  // namespace rightsize::autoscale
