// Traffic that repeats itself: conversations as a trace, and the share of prompts that replicas find in their caches.
#pragma once

#include <memory>
#include <optional>

#include "capacity/replica.h"
#include "capacity/service.h"
#include "sim/sessions.h"

namespace rightsize::capacity {

struct SessionWish {
  RequestsPerSecond rate = {};         // of all users; zero: follows from think and wait times
  std::optional<Seconds> answer = {};  // time that users wait for an answer; empty: 25 ms per token
  std::optional<double> isl = {};      // with Sessions::repeat: the whole prompt as tokenized
  std::int64_t context = 0;            // the model's longest prompt and answer; 0: no limit
  std::uint64_t requests = 0;          // to measure; 0: enough for the planner
  std::uint64_t seed = 1;
};
// The traffic of sessions. Turns vary in length as in public traces, unless each prompt is repeated.
std::shared_ptr<const sim::Trace> session_traffic(sim::Sessions sessions, const SessionWish& wish);

// Tokens per block of an engine's prefix cache, which is on by default; 0: it has none.
std::int64_t cache_block(model::Stack stack);

// The share of prompt tokens that `replicas` of the job find in their prefix caches, by simulation. If they cannot keep
// up, the hits of the smallest number that can. Fails if token_replica() does.
Result<double> predicted_hit(const Predictor& predictor, const model::Job& job, const catalog::Gpu& gpu,
                             const perf::GpuSpeed& speed, const perf::Cluster& cluster,
                             const std::shared_ptr<const sim::Trace>& trace, int replicas, sim::Routing routing);

// "random", "least-loaded", else prefix-aware, as routers for conversations are.
sim::Routing parse_routing(std::string_view name);

}  // namespace rightsize::capacity
