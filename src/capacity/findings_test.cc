#include "capacity/findings.h"

#include <gtest/gtest.h>

namespace rightsize::capacity {
namespace {

KeptRun::Begin small_batcher() {
  sim::Server server;
  server.gpus = {{sim::ServiceTimes{{0, 4'000'000, 5'000'000, 6'000'000}, {0, 0, 1e5, 2e5}}, 1, 0, 3}};
  server.batching = {3, {}, 1'000'000};
  return [server]() -> KeptRun::Until {
    return
        [run = std::make_shared<sim::BatchRun>(server, sim::Poisson{requests_per_s(900)}, 1)](std::uint64_t requests) {
          sim::ContinuousProfile seen;
          seen.all = run->until(requests);
          return seen;
        };
  };
}

KeptRun::Begin small_engine() {
  sim::ContinuousServer server;
  server.replicas = {{.base = 8e6, .prefill = 4e4, .sequence = 2e4, .context = 3, .kv_tokens = 60'000},
                     {.base = 8e6, .prefill = 4e4, .sequence = 2e4, .context = 3, .kv_tokens = 60'000}};
  return [server]() -> KeptRun::Until {
    const sim::RequestShape shape{.size = 800, .output = 120, .size_variation = 1, .output_variation = 1};
    return [run = std::make_shared<sim::ContinuousRun>(server, sim::Poisson{requests_per_s(8)}, shape, 1, 200)](
               std::uint64_t requests) { return run->until(requests); };
  };
}

void expect_same(const sim::ContinuousProfile& a, const sim::ContinuousProfile& b) {
  EXPECT_EQ(a.all.requests, b.all.requests);
  EXPECT_EQ(a.all.batches, b.all.batches);
  EXPECT_EQ(a.all.latency, b.all.latency);
  EXPECT_EQ(a.ttft, b.ttft);
  EXPECT_EQ(a.tpot, b.tpot);
}

// Whoever else went further before, on another thread or for another limit: an answer must not depend on it.
TEST(KeptRun, TellsTheSameInWhateverOrderItIsAsked) {
  const std::vector<std::uint64_t> looks{1'000, 3'000, 9'000};
  for (const auto& begin : {small_engine(), small_batcher()}) {
    KeptRun upwards(begin), marked(begin), unmarked(begin);
    std::vector<sim::ContinuousProfile> expected;
    for (std::uint64_t at : looks) expected.push_back(upwards.at(at));
    EXPECT_NE(expected[0].all.latency, expected[2].all.latency);
    for (std::size_t i : {2U, 0U, 1U, 0U}) {
      expect_same(marked.at(looks[i], looks), expected[i]);
      expect_same(unmarked.at(looks[i]), expected[i]);
    }
  }
}

}  // namespace
}  // namespace rightsize::capacity
