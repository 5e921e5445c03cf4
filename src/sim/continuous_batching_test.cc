#include "sim/continuous_batching.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

namespace rightsize::sim {
namespace {

using Tokens64 = std::vector<std::int64_t>;

StepPlan plan(std::int64_t decoding, std::int64_t kv_free, const Tokens64& prefilling, const Tokens64& waiting,
              const ContinuousConfig& config) {
  StepPlan out;
  plan_step({decoding, kv_free, prefilling, waiting}, config, out);
  return out;
}

TEST(PlanStep, MatchesTheDocumentedRuleCaseByCase) {
  const ContinuousConfig config{100, 4, 1000, true};
  StepPlan p = plan(0, 1000, {}, {60, 60}, config);  // the second prompt gets the rest of the budget
  EXPECT_EQ(p.admitted, 2u);
  EXPECT_EQ(p.chunks, (Tokens64{60, 40}));
  p = plan(2, 1000, {20}, {60}, config);  // decoding takes 2, the started prompt 20, the new one 60
  EXPECT_EQ(p.chunks, (Tokens64{20, 60}));
  p = plan(2, 1000, {200}, {10}, config);  // a long prompt takes the whole budget
  EXPECT_EQ(p.chunks, (Tokens64{98}));
  EXPECT_EQ(p.admitted, 0u);
  p = plan(4, 1000, {}, {10}, config);  // as many sequences as allowed
  EXPECT_EQ(p.admitted, 0u);
  p = plan(1, 50, {}, {60, 10}, config);  // the first in line does not fit the cache, and no request overtakes it
  EXPECT_EQ(p.admitted, 0u);
  p = plan(3, 2, {}, {10}, config);  // no room for a token each
  EXPECT_EQ(p.preempt, 1);
  p = plan(1, 100, {80}, {30}, config);  // the rest of the admitted prompt stays reserved
  EXPECT_EQ(p.admitted, 0u);
}

TEST(PlanStep, WithoutChunkedPrefillPromptsRunWhole) {
  ContinuousConfig config{100, 4, 1000, false};
  EXPECT_EQ(plan(0, 1000, {}, {60, 60}, config).admitted, 1u);
  EXPECT_EQ(plan(50, 1000, {}, {60}, config).admitted, 0u);
}

// One request alone, by hand: prompt of 10 tokens at 1 us each and a step of 100 us, then 4 more tokens, each with a
// step of 100 us + 5 us for the sequence + 1 us per token in the cache (10, 11, 12, 13).
TEST(SimulateContinuous, OneRequestMatchesAHandCalculation) {
  Trace trace;
  trace.arrivals = {{0, 10, 5}};
  trace.has_tokens = true;
  const ContinuousServer server{{{100e3, 1e3, 5e3, 1e3}}, {}};
  const auto p = simulate(server, std::make_shared<const Trace>(trace), {}, {});
  ASSERT_TRUE(p);
  EXPECT_EQ(p->completed, 1u);
  EXPECT_NEAR(value_of(p->ttft, Statistic::kMean), 110e3, 1);
  EXPECT_NEAR(value_of(p->latency, Statistic::kMean), 110e3 + 4 * 105e3 + 46e3, 1);
  EXPECT_NEAR(value_of(p->tpot, Statistic::kMean), 105e3 + 11.5e3, 1);
  EXPECT_EQ(p->batches, 5u);
}

// Prompts first: the second request arrives during the step from 110 us to 210 us, its prompt runs alone until 220 us,
// and the first one's token waits for it. If the engine checks its queue only every few steps, only the new request
// waits.
TEST(SimulateContinuous, PromptsFirstInterruptDecoding) {
  Trace trace;
  trace.arrivals = {{0, 10, 5}, {150'000, 10, 2}};
  trace.has_tokens = true;
  StepCost cost{.base = 100e3, .prefill = 1e3};
  cost.prompts_first = true;
  const auto arrivals = std::make_shared<const Trace>(trace);
  const auto p = simulate({{cost}, {}}, arrivals, {}, {});
  ASSERT_TRUE(p);
  EXPECT_NEAR(value_of(p->ttft, Statistic::kMean), (10e3 + 70e3) / 2, 1);
  EXPECT_NEAR(value_of(p->latency, Statistic::kMean), (420e3 + 170e3) / 2, 1);
  cost.wait_few = cost.wait_many = 2;
  const auto later = simulate({{cost}, {}}, arrivals, {}, {});
  ASSERT_TRUE(later);
  EXPECT_NEAR(value_of(later->ttft, Statistic::kMean), (10e3 + 270e3) / 2, 1);
  EXPECT_NEAR(value_of(later->tpot, Statistic::kMean), value_of(p->tpot, Statistic::kMean), 1);
}

// Time outside the steps counts for TTFT and latency, not for TPOT.
TEST(SimulateContinuous, RequestOverheadAddsToTtftAndNotToTpot) {
  Trace trace;
  trace.arrivals = {{0, 10, 5}};
  trace.has_tokens = true;
  const ContinuousServer server{{{100e3, 1e3, 5e3, 1e3, 7e6}}, {}};
  const auto p = simulate(server, std::make_shared<const Trace>(trace), {}, {});
  ASSERT_TRUE(p);
  EXPECT_NEAR(value_of(p->ttft, Statistic::kMean), 7e6 + 110e3, 1);
  EXPECT_NEAR(value_of(p->tpot, Statistic::kMean), 105e3 + 11.5e3, 1);
  EXPECT_EQ(p->latency_sum, p->presence);
}

// Only the second replica can hold a request of 50 tokens; the first one, idle and faster, gets the small request.
TEST(SimulateContinuous, ReplicasMayHaveCachesOfDifferentSize) {
  Trace trace;
  trace.arrivals = {{0, 40, 10}, {1, 5, 5}, {2, 4000, 10}};
  trace.has_tokens = true;
  ContinuousServer server{{{1e3, 1, 1, 0, 0, 20}, {1e6, 1, 1, 0, 0, 100}}, {}};
  const auto p = simulate(server, std::make_shared<const Trace>(trace), {}, {});
  ASSERT_TRUE(p);
  EXPECT_EQ(p->completed, 2u);
  EXPECT_EQ(p->rejected, 1u);
  EXPECT_GT(value_of(p->latency, Statistic::kMean), 5e6);  // ten steps of 1 ms, and five of 1 us
  server.replicas.pop_back();
  EXPECT_EQ(simulate(server, std::make_shared<const Trace>(trace), {}, {})->rejected, 2u);
}

// A second request arrives during the first step: it is noticed at that step's end.
TEST(SimulateContinuous, ARequestJoinsAtTheNextStep) {
  Trace trace;
  trace.arrivals = {{0, 10, 100}, {1'000, 10, 1}};
  trace.has_tokens = true;
  const ContinuousServer server{{{100e3, 0, 0, 0}}, {}};
  const auto p = simulate(server, std::make_shared<const Trace>(trace), {}, {});
  ASSERT_TRUE(p);
  // The first: 100 steps of 100 us. The second: waits 99 us, one step.
  EXPECT_EQ(p->latency_sum, 100 * 100'000 + 99'000 + 100'000);
  EXPECT_EQ(p->batches, 100u);
}

// Cache for 30 tokens, two sequences of 10 + 10: together they need 38, so the newer one is preempted once.
TEST(SimulateContinuous, AFullCachePreemptsTheNewestSequence) {
  Trace trace;
  trace.arrivals = {{0, 10, 10}, {1, 10, 10}};
  trace.has_tokens = true;
  const ContinuousServer server{{{100e3, 0, 0, 0}}, {8192, 8, 30, true}};
  const auto p = simulate(server, std::make_shared<const Trace>(trace), {}, {});
  ASSERT_TRUE(p);
  EXPECT_EQ(p->completed, 2u);
  EXPECT_EQ(p->preemptions, 1u);
  EXPECT_EQ(p->presence, p->latency_sum);
}

TEST(SimulateContinuous, RequestsLargerThanTheCacheAreRejected) {
  Trace trace;
  trace.arrivals = {{0, 100, 10}, {1, 10, 10}};
  trace.has_tokens = true;
  const ContinuousServer server{{{100e3, 0, 0, 0}}, {8192, 8, 50, true}};
  const auto p = simulate(server, std::make_shared<const Trace>(trace), {}, {});
  ASSERT_TRUE(p);
  EXPECT_EQ(p->rejected, 1u);
  EXPECT_EQ(p->completed, 1u);
}

RC_GTEST_PROP(SimulateContinuous, LittlesLawHoldsAndEveryRequestIsAccountedFor, ()) {
  ContinuousServer server;
  for (int i = *rc::gen::inRange(1, 4); i > 0; --i) server.replicas.push_back({5e6 * i, 10e3, 20e3, 3});
  server.batching = {*rc::gen::element<std::int64_t>(64, 512, 8192), *rc::gen::element<std::int64_t>(1, 8, 256),
                     *rc::gen::element<std::int64_t>(2000, 20'000, 1'000'000), *rc::gen::arbitrary<bool>()};
  const RequestShape shape{300, 50, true};
  const RequestsPerSecond rate = capacity(server, shape) * *rc::gen::element(0.2, 0.7, 0.95);
  const auto p = simulate(server, Poisson{rate}, shape, {2000, static_cast<std::uint64_t>(*rc::gen::inRange(1, 100))});
  RC_ASSERT(p.has_value());
  RC_ASSERT(p->completed + p->rejected == p->requests);
  RC_ASSERT(p->presence == p->latency_sum);
  RC_ASSERT(p->utilization <= 1.0 + 1e-9);
}

// Separate workers, by hand: the prompt of 10 tokens takes 10 us, its transfer 50 us and 0.1 us per token, then 5 steps
// of 105 us + 1 us for every token in the cache (10 to 14), and the first step gives the first token.
TEST(SeparateWorkers, OneRequestMatchesAHandCalculation) {
  Trace trace;
  trace.arrivals = {{0, 10, 5}};
  trace.has_tokens = true;
  ContinuousServer server{{{100e3, 0, 5e3, 1e3}}, {}};
  server.prefills = {{0, 1e3}};
  server.transfer = {50e3, 100};
  const auto p = simulate(server, std::make_shared<const Trace>(trace), {}, {});
  ASSERT_TRUE(p);
  EXPECT_EQ(p->completed, 1u);
  EXPECT_NEAR(value_of(p->ttft, Statistic::kMean), 10e3 + 51e3 + 115e3, 1);
  EXPECT_NEAR(value_of(p->latency, Statistic::kMean), 61e3 + 5 * 105e3 + 60e3, 1);
  EXPECT_NEAR(value_of(p->tpot, Statistic::kMean), (4 * 105e3 + 50e3) / 4, 1);
  EXPECT_EQ(p->batches, 5u);
  EXPECT_EQ(p->latency_sum, p->presence);
}

// Two prompts at once: neither stretches the other's decode steps.
TEST(SeparateWorkers, PromptsDoNotStretchSteps) {
  Trace trace;
  trace.arrivals = {{0, 1000, 50}, {10'000'000, 1000, 50}};
  trace.has_tokens = true;
  ContinuousServer together{{{100e3, 10e3, 0, 0}}, {}}, apart = together;
  apart.prefills = {{0, 10e3}};
  const auto mixed = simulate(together, std::make_shared<const Trace>(trace), {}, {});
  const auto separate = simulate(apart, std::make_shared<const Trace>(trace), {}, {});
  ASSERT_TRUE(mixed && separate);
  EXPECT_NEAR(value_of(separate->tpot, Statistic::kP99), 100e3, 2e3);
  EXPECT_GT(value_of(mixed->tpot, Statistic::kP99), 250e3);  // 10 ms of prompt in one of 49 steps
}

// Requests wait for a decode worker with a full cache, and preempted ones start again there.
TEST(SeparateWorkers, AFullCachePreemptsAndEveryRequestCompletes) {
  Trace trace;
  for (int i = 0; i < 6; ++i) trace.arrivals.push_back({i, 10, 10});
  trace.has_tokens = true;
  ContinuousServer server{{{100e3, 1e3, 0, 0}}, {8192, 8, 30, true}};
  server.prefills = {{0, 1e3}};
  const auto p = simulate(server, std::make_shared<const Trace>(trace), {}, {});
  ASSERT_TRUE(p);
  EXPECT_EQ(p->completed, 6u);
  EXPECT_GT(p->preemptions, 0u);
  EXPECT_EQ(p->presence, p->latency_sum);
}

RC_GTEST_PROP(SeparateWorkers, LittlesLawHoldsAndEveryRequestIsAccountedFor, ()) {
  ContinuousServer server;
  for (int i = *rc::gen::inRange(1, 4); i > 0; --i) server.replicas.push_back({5e6 * i, 10e3, 20e3, 3});
  for (int i = *rc::gen::inRange(1, 4); i > 0; --i) server.prefills.push_back({0, 10e3 * i});
  server.transfer = {*rc::gen::element(0.0, 5e6), *rc::gen::element(0.0, 1e3)};
  server.batching = {*rc::gen::element<std::int64_t>(512, 8192), *rc::gen::element<std::int64_t>(1, 8, 256),
                     *rc::gen::element<std::int64_t>(2000, 20'000, 1'000'000), true};
  const RequestShape shape{300, 50, true};
  const RequestsPerSecond rate = capacity(server, shape) * *rc::gen::element(0.2, 0.7, 0.95);
  const RunLength length{2000, static_cast<std::uint64_t>(*rc::gen::inRange(1, 100))};
  const auto p = simulate(server, Poisson{rate}, shape, length);
  RC_ASSERT(p.has_value());
  RC_ASSERT(p->completed + p->rejected == p->requests);
  RC_ASSERT(p->presence == p->latency_sum);
  RC_ASSERT(p->utilization <= 1.0 + 1e-9);
  // No first token comes before a prompt, a transfer and a step.
  RC_ASSERT(value_of(p->ttft, Statistic::kMean) > server.transfer.request);
  const auto again = simulate(server, Poisson{rate}, shape, length);
  RC_ASSERT(again->latency_sum == p->latency_sum);
}

TEST(SeparateWorkers, CapacityIsThatOfTheSlowerKind) {
  const RequestShape shape{1000, 100, false};
  ContinuousServer server{{{6e6, 0, 20e3, 0}}, {}};
  server.prefills = {{0, 100e3}};  // 100 ms per prompt
  EXPECT_NEAR(in_requests_per_s(capacity(server, shape)), 10, 1e-9);
  server.prefills.assign(100, {0, 100e3});
  const double decode = in_requests_per_s(capacity(server, shape));
  EXPECT_LT(decode, 1000);
  server.replicas.push_back(server.replicas.front());
  EXPECT_NEAR(in_requests_per_s(capacity(server, shape)), std::min(1000.0, 2 * decode), 1e-6);
}

// A run of equal steps may straddle the end of the warm-up and be cut short after it.
// Planners rely on this to skip runs.
RC_GTEST_PROP(SimulateContinuous, ALimitThatNoReplicaReachesChangesNothing, ()) {
  ContinuousServer server;
  server.replicas.assign(static_cast<std::size_t>(*rc::gen::inRange(1, 4)),
                         {.base = 8e6, .prefill = 4e4, .sequence = 2e4, .context = 3, .kv_tokens = 60'000});
  server.batching.token_budget = *rc::gen::element<std::int64_t>(512, 8192);
  if (*rc::gen::arbitrary<bool>()) server.prefills.assign(2, server.replicas.front());
  const RequestShape shape{.size = 800, .output = 120, .size_variation = 1, .output_variation = 1};
  const Poisson arrivals{requests_per_s(*rc::gen::inRange(1, 12))};
  const auto run = [&] { return start_run(server, arrivals, shape, 1, 100)->until(2'000); };
  const LatencyProfile wide = run();
  server.batching.max_sequences = wide.largest_batch + 1;
  const LatencyProfile narrow = run();
  RC_ASSERT(narrow.largest_batch == wide.largest_batch);
  RC_ASSERT(narrow.latency == wide.latency && narrow.ttft == wide.ttft && narrow.batches == wide.batches);
}

RC_GTEST_PROP(SimulateContinuous, MeasurementsAfterAWarmUpArePlausible, ()) {
  ContinuousServer server;
  for (int i = *rc::gen::inRange(1, 3); i > 0; --i) server.replicas.push_back({5e6 * i, 10e3, 20e3, 3});
  if (*rc::gen::arbitrary<bool>()) server.prefills = {{0, 10e3}};
  const RequestShape shape{.size = 100, .output = 1.0 * *rc::gen::inRange(1, 2'000)};
  const RequestsPerSecond rate = capacity(server, shape) * *rc::gen::element(0.001, 0.1, 0.7);
  const auto warm_up = static_cast<std::uint64_t>(*rc::gen::inRange(1, 40));
  const auto run = start_run(server, Poisson{rate}, shape, 3, warm_up);
  for (std::uint64_t more : {1U, 2U, 5U, 100U}) {
    const LatencyProfile p = run->until(warm_up + more);
    RC_ASSERT(p.requests == more);
    RC_ASSERT(p.batches <= 2'000U * (warm_up + more));
    RC_ASSERT(p.mean_batch >= 0 && p.mean_batch <= 256);
    RC_ASSERT(p.utilization >= 0 && p.utilization <= 1 + 1e-9);
  }
}

TEST(SimulateContinuous, OverloadIsRefused) {
  const ContinuousServer server{{{6e6, 15e3, 20e3, 4}}, {}};
  const RequestShape shape{500, 200, false};
  EXPECT_FALSE(simulate(server, Poisson{capacity(server, shape) * 1.01}, shape, {}));
}

}  // namespace
}  // namespace rightsize::sim
