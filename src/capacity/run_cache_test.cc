#include "capacity/run_cache.h"

#include <gtest/gtest.h>

#include "base/cancel.h"

namespace rightsize::capacity {
namespace {

std::unique_ptr<sim::Run> small_batcher() {
  sim::Server server;
  server.gpus = {{sim::ServiceTimes{{0, 4'000'000, 5'000'000, 6'000'000}, {0, 0, 1e5, 2e5}}, 1, 0, 3}};
  server.batching = {3, {}, 1'000'000};
  return sim::start_run(server, sim::Poisson{requests_per_s(900)}, 1);
}

std::unique_ptr<sim::Run> small_engine() {
  sim::ContinuousServer server;
  server.replicas.assign(2, {.base = 8e6, .prefill = 4e4, .sequence = 2e4, .context = 3, .kv_tokens = 60'000});
  const sim::RequestShape shape{.size = 800, .output = 120, .size_variation = 1, .output_variation = 1};
  return sim::start_run(server, sim::Poisson{requests_per_s(8)}, shape, 1, 200);
}

// A result must not depend on other callers that continued the run, on another thread or for another limit.
TEST(SharedRun, MeasuresTheSameInAnyOrder) {
  const std::vector<std::uint64_t> looks{1'000, 3'000, 9'000};
  for (const auto& start : {small_engine, small_batcher}) {
    SharedRun upwards(looks), mixed(looks);
    std::vector<sim::LatencyProfile> expected;
    for (std::size_t look : {0U, 1U, 2U}) expected.push_back(upwards.at(look, start));
    EXPECT_NE(expected[0].latency, expected[2].latency);
    for (std::size_t look : {2U, 0U, 1U, 0U}) {
      const sim::LatencyProfile seen = mixed.at(look, start);
      EXPECT_EQ(seen.requests, expected[look].requests);
      EXPECT_EQ(seen.batches, expected[look].batches);
      EXPECT_EQ(seen.latency, expected[look].latency);
      EXPECT_EQ(seen.ttft, expected[look].ttft);
      EXPECT_EQ(seen.tpot, expected[look].tpot);
    }
  }
}

TEST(SharedRun, StartsAgainAfterACancelledCall) {
  const std::vector<std::uint64_t> looks{1'000, 3'000, 9'000};
  for (const auto& start : {small_engine, small_batcher}) {
    SharedRun whole(looks), interrupted(looks);
    {
      const auto work = std::make_shared<Work>();
      const CancelScope scope(work);
      interrupted.at(0, start);
      work->cancel();
      EXPECT_LT(interrupted.at(2, start).requests, 9'000U);
    }
    for (std::size_t look : {2U, 0U}) {
      EXPECT_EQ(interrupted.at(look, start).requests, whole.at(look, start).requests);
      EXPECT_EQ(interrupted.at(look, start).latency, whole.at(look, start).latency);
    }
  }
}

TEST(RunCache, NumbersTrafficAndReplicasByContent) {
  RunCache cache;
  Service service;
  service.arrivals = mixed_arrivals(20, {{512, 256, 0.8}, {8192, 512, 0.2}});
  Service same = service, other = service;
  same.arrivals = mixed_arrivals(20, {{512, 256, 0.8}, {8192, 512, 0.2}});
  same.slos = {{Quantity::kTtft, Statistic::kP95, seconds(1)}};
  other.arrivals = mixed_arrivals(21, {{512, 256, 0.8}, {8192, 512, 0.2}});
  Service warm = service;
  auto trace = std::make_shared<sim::Trace>(*sim::trace_of(service.arrivals));
  trace->warm_up = 100;
  warm.arrivals = std::shared_ptr<const sim::Trace>(trace);
  EXPECT_EQ(cache.traffic_number(service), cache.traffic_number(same));
  EXPECT_NE(cache.traffic_number(service), cache.traffic_number(warm));
  EXPECT_NE(cache.traffic_number(service), cache.traffic_number(other));
  Replica one, renamed, faster;
  one.step.base = renamed.step.base = 6e6, faster.step.base = 5e6;
  renamed.gpu = "l4";
  EXPECT_EQ(cache.replica_number(one), cache.replica_number(renamed));
  EXPECT_NE(cache.replica_number(one), cache.replica_number(faster));
}

}  // namespace
}  // namespace rightsize::capacity
