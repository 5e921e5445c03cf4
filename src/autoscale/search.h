// Finds the best policy and its parameters: compares settings of every kind and simulates the best over all requests.
#pragma once

#include <limits>

#include "autoscale/screen.h"

namespace rightsize::autoscale {

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
