// What `rightsize batch` says.
#pragma once

#include <vector>

#include "rightsize/batch/input.h"
#include "sim/hand_over.h"

namespace rightsize::app {

struct LoadPoint {
  double rate = 0;  // requests a second
  sim::StatisticValues latency{};
};

Outcome simulated_outcome(const BatchInput& input, const sim::Server& server, const sim::LatencyProfile& profile,
                          double capacity, double wall_seconds);
Outcome continuous_outcome(const BatchInput& input, const sim::ContinuousServer& server,
                           const sim::ContinuousProfile& profile, double capacity, double wall_seconds);
// The load is more than the server can do: said, not simulated; exit code 2. `at_best` says how the capacity is
// reached.
Outcome unstable_outcome(const BatchInput& input, double capacity, const std::string& at_best);
Outcome searched_outcome(const BatchInput& input, const sim::SearchResult& found, double wall_seconds);

void add_load_curve(Outcome& outcome, const std::vector<LoadPoint>& curve);
// The limits with the cache of this offer, where the memory model told it.
sim::ContinuousConfig with_cache_of(sim::ContinuousConfig config, const BatchOffer& offer);
// What --emit asks for, and for dynamic batching the document's triton_config.
void add_hand_over(Outcome& outcome, const BatchInput& input, sim::DynamicBatchConfig batching, int max_batch,
                   sim::ContinuousConfig llm, const sim::Deployment& deployment);

}  // namespace rightsize::app
