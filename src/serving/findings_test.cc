#include "serving/findings.h"

#include <gtest/gtest.h>

namespace rightsize::serving {
namespace {

KeptRun::Begin small_engine() {
  sim::ContinuousServer server;
  server.replicas = {{.base = 8e6, .prefill = 4e4, .sequence = 2e4, .context = 3, .kv_tokens = 60'000},
                     {.base = 8e6, .prefill = 4e4, .sequence = 2e4, .context = 3, .kv_tokens = 60'000}};
  return [server] {
    return sim::ContinuousRun(server, sim::Poisson{requests_per_s(8)},
                              {.size = 800, .output = 120, .size_variation = 1, .output_variation = 1}, 1, 200);
  };
}

void expect_same(const sim::ContinuousProfile& a, const sim::ContinuousProfile& b) {
  EXPECT_EQ(a.all.requests, b.all.requests);
  EXPECT_EQ(a.steps, b.steps);
  EXPECT_EQ(a.ttft, b.ttft);
  EXPECT_EQ(a.tpot, b.tpot);
}

// Whoever else went further before, on another thread or for another limit: an answer must not depend on it.
TEST(KeptRun, TellsTheSameInWhateverOrderItIsAsked) {
  const std::vector<std::uint64_t> looks{1'000, 3'000, 9'000};
  KeptRun upwards(small_engine()), marked(small_engine()), unmarked(small_engine());
  std::vector<sim::ContinuousProfile> expected;
  for (std::uint64_t at : looks) expected.push_back(upwards.at(at));
  EXPECT_NE(expected[0].ttft, expected[2].ttft);
  for (std::size_t i : {2U, 0U, 1U, 0U}) {
    expect_same(marked.at(looks[i], looks), expected[i]);
    expect_same(unmarked.at(looks[i]), expected[i]);
  }
}

}  // namespace
}  // namespace rightsize::serving
