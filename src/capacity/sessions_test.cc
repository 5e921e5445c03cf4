#include "capacity/sessions.h"

#include <gtest/gtest.h>

#include "base/random.h"
#include "capacity/planner.h"

namespace rightsize::capacity {
namespace {

Replica session_replica(std::int64_t kv_tokens) {
  Replica replica;
  replica.step = {.base = 8e6, .prefill = 40e3, .sequence = 30e3, .context = 5, .kv_tokens = kv_tokens};
  return replica;
}

Service session_service(const std::shared_ptr<const sim::Trace>& trace, std::int64_t block) {
  Service service;
  service.arrivals = trace;
  service.slos = {{Quantity::kTtft, Statistic::kP95, seconds(2)}, {Quantity::kTpot, Statistic::kP95, milliseconds(80)}};
  service.cache_block = block;
  return service;
}

int gpus_for(const Service& service, std::int64_t kv_tokens) {
  const auto found = Planner(service, {session_replica(kv_tokens)}).fewest(0, {.most = 64});
  return found ? found->configuration.replicas() : 1'000;
}

TEST(Sessions, MoreHitsNeverNeedMoreReplicas) {
  Random random(3);
  for (int i = 0; i < 4; ++i) {
    sim::Sessions sessions{.users = 200 + 400 * random.uniform(),
                           .turns = 3 + 5 * random.uniform(),
                           .think = seconds(20),
                           .system = 2'000 * random.uniform(),
                           .turn_in = 100 + 400 * random.uniform(),
                           .turn_out = 100};
    const auto trace = session_traffic(sessions, {.requests = 6'000});
    const int without = gpus_for(session_service(trace, 0), 400'000);
    const int small = gpus_for(session_service(trace, 16), 400'000);
    const int large = gpus_for(session_service(trace, 16), 4'000'000);
    EXPECT_LE(small, without);
    EXPECT_LE(large, small);
    EXPECT_LT(large, without) << "prompts repeat almost everything";
  }
}

TEST(Sessions, ARepeatedPromptIsFoundExceptForItsLastBlock) {
  sim::Sessions sessions{.users = 44, .turns = 1, .system = 100, .system_prompts = 11, .turn_in = 466, .turn_out = 247};
  sessions.repeat = true;
  const auto trace = session_traffic(sessions, {.rate = requests_per_s(5), .isl = 592.0, .requests = 3'000});
  sim::ContinuousServer server;
  append_workers(session_replica(200'000), 1, server);
  server.batching.cache_block = 16;
  const auto run = sim::start_run(server, trace, {}, 1)->to_the_end(trace->arrivals.size());
  EXPECT_NEAR(*run.prefix_hit(), 576.0 / 592, 0.001);
}

// vLLM 0.15.1 on H100 with Llama 2 7B and Mixtral 8x7B (inference-sim/sim-to-real-accuracy-validation, read
// 2026-11-16): clients that send the same prompts again, and the share of prompt tokens that the engine found in its
// cache. The measured share includes each client's first request.
struct PublishedHit {
  double rate, isl, osl, users, systems, system, question, hit;
};
constexpr PublishedHit kPublishedHits[] = {
    {5, 592, 247, 44, 11, 100, 466, 0.959},  {10, 592, 247, 44, 11, 100, 466, 0.966},
    {6, 786, 251, 50, 10, 150, 600, 0.991},  {8, 575, 248, 45, 9, 100, 447, 0.965},
    {20, 575, 248, 45, 9, 100, 447, 0.970},  {5, 589, 247, 44, 11, 100, 466, 0.964},
    {10, 589, 247, 44, 11, 100, 466, 0.971}, {8, 571, 248, 45, 9, 100, 447, 0.972},
    {20, 571, 248, 45, 9, 100, 447, 0.977},  {6, 782, 251, 50, 10, 150, 600, 0.975},
};

TEST(Sessions, HitsOfPublishedRunsAreWithinThreePoints) {
  for (const PublishedHit& p : kPublishedHits) {
    sim::Sessions sessions{.users = p.users,
                           .turns = 1,
                           .system = p.system,
                           .system_prompts = p.systems,
                           .turn_in = p.question,
                           .turn_out = p.osl,
                           .repeat = true};
    const auto trace = session_traffic(sessions, {.rate = requests_per_s(p.rate), .isl = p.isl, .requests = 2'000});
    sim::ContinuousServer server;
    append_workers(session_replica(100'000), 1, server);
    server.batching.cache_block = cache_block(model::Stack::kVllm);
    const auto run = sim::start_run(server, trace, {}, 1)->to_the_end(trace->arrivals.size());
    EXPECT_NEAR(*run.prefix_hit(), p.hit, 0.03) << p.isl << " tokens at " << p.rate << "/s";
  }
}

}  // namespace
}  // namespace rightsize::capacity
