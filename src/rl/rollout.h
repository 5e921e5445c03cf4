// Generation of one batch of answers on the replicas of a serving engine.
#pragma once

#include "rl/rl.h"
#include "sim/continuous_batching.h"

namespace rightsize::rl {

struct Rollout {
  Seconds batch;    // until the last answer of the last replica is complete
  Seconds typical;  // ... of a replica that does not have the longest answer
  Seconds steady;   // per batch, if replicas always have answers to work on
  double replicas = 1, per_replica = 1;
  sim::LatencyProfile profile;  // of the slowest replica
  perf::Basis basis = perf::Basis::kMeasured;
  double slower = 1;  // by interruptions; applies to all times except `profile`
  sim::ContinuousServer replica;
  sim::RequestShape mean_answer;
  perf::GpuPower gpu;         // of the engine's GPUs
  perf::PowerEstimate power;  // ... while they generate

  // `ahead`: answers of the next batches that may be started early, as a share of a batch. Sets `steady`; the other
  // times do not depend on it.
  void start_ahead(double ahead);
  // Until this share of the answers is complete.
  Seconds until(double share) const;
  // Machines of the engine are preempted and replaced: their answers are generated again, and the others continue.
  void interrupt(Seconds restart, Seconds between_interruptions);
};

// `ahead`: see Rollout::start_ahead().
Result<Rollout> simulate_rollout(const capacity::Predictor& predictor, const RlJob& job, const Pool& pool,
                                 const StackConstants& constants, double ahead);

// The step with an already simulated generation.
Result<RlEstimate> estimate_step(const capacity::Predictor& predictor, const RlJob& job, const Pool& train,
                                 const Rollout& rollout, const StackConstants& constants);

// The longest prompt that is accepted, in tokens: several times the mean, and at most half of the model's context (0:
// no limit). Answers get the rest of the context.
double longest_prompt(double mean, std::int64_t context);

// GPUs that one copy of the engine runs on.
int replica_gpus(const RlJob& job);
// Whether they are in several hosts.
bool spans_hosts(const RlJob& job, const perf::Cluster& cluster);

}  // namespace rightsize::rl
