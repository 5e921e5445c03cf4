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

TEST(Sessions, ARepeatedPromptIsFoundButForItsLastBlock) {
  sim::Sessions sessions{.users = 44, .turns = 1, .system = 100, .system_prompts = 11, .turn_in = 466, .turn_out = 247};
  sessions.repeat = true;
  const auto trace = session_traffic(sessions, {.rate = requests_per_s(5), .isl = 592.0, .requests = 3'000});
  sim::ContinuousServer server;
  append_workers(session_replica(200'000), 1, server);
  server.batching.cache_block = 16;
  const auto run = sim::start_run(server, trace, {}, 1)->to_the_end(trace->arrivals.size());
  EXPECT_NEAR(*run.prefix_hit(), 576.0 / 592, 0.001);
}

}  // namespace
}  // namespace rightsize::capacity
