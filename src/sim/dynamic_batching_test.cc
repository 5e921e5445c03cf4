#include "sim/dynamic_batching.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

namespace rightsize::sim {
namespace {

std::vector<QueuedRequest> queue_of(const std::vector<int>& sizes, SimTime first = 0, SimTime apart = 1) {
  std::vector<QueuedRequest> queue;
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    queue.push_back({first + static_cast<SimTime>(i) * apart, 0, sizes[i]});
  }
  return queue;
}

struct Case {
  const char* what;
  std::vector<int> sizes;  // of the queued requests; the first arrived at 0
  SimTime now;
  DynamicBatchConfig config;
  BatchDecision expected;
};

// Every branch of the rule, by hand.
TEST(Decide, MatchesTheDocumentedRuleCaseByCase) {
  const std::vector<int> three(3, 1), six(6, 1), nine(9, 1);
  const Case cases[] = {
      {"nothing waits", {}, 0, {8, {}, 100}, {0, kNever}},
      {"no delay sends whatever is there", three, 5, {8, {}, 0}, {3, kNever}},
      {"a full batch goes at once", nine, 10, {8, {}, 100}, {8, kNever}},
      {"exactly full", std::vector<int>(8, 1), 10, {8, {}, 100}, {8, kNever}},
      {"not full: until the oldest has waited", three, 10, {8, {}, 100}, {0, 100}},
      {"the oldest has waited exactly long enough", three, 100, {8, {}, 100}, {3, kNever}},
      {"a preferred size is reached", six, 10, {8, {4}, 100}, {4, kNever}},
      {"the largest preferred size that fits", six, 10, {8, {2, 4, 6}, 100}, {6, kNever}},
      {"no preferred size reached: wait", three, 10, {8, {4, 8}, 100}, {0, 100}},
      {"delay exceeded: everything, not the preferred size", six, 100, {8, {4}, 100}, {6, kNever}},
      {"no delay: the preferred size first", six, 10, {8, {4}, 0}, {4, kNever}},
      {"no delay, none reached: everything", three, 10, {8, {4}, 0}, {3, kNever}},
      {"no batching", three, 10, {1, {}, 100}, {1, kNever}},
      {"sizes: the next would pass the largest batch", {3, 3, 4}, 10, {8, {}, 100}, {2, kNever}},
      {"sizes: a sum may hit a preferred size", {3, 1, 3}, 10, {8, {4}, 100}, {2, kNever}},
      {"sizes: past every preferred size without hitting one", {3, 3, 1}, 10, {8, {4}, 100}, {1, kNever}},
      {"sizes: one request of the whole batch", {8, 1}, 10, {8, {}, 100}, {1, kNever}},
  };
  for (const Case& c : cases) {
    const BatchDecision got = decide(queue_of(c.sizes), c.now, c.config);
    EXPECT_EQ(got.send, c.expected.send) << c.what;
    EXPECT_EQ(got.wake, c.expected.wake) << c.what;
  }
}

TEST(Decide, WakesAtATimeoutThatComesBeforeTheDelay) {
  std::vector<QueuedRequest> queue{{0, 50, 1}, {5, 40, 1}};
  EXPECT_EQ(decide(queue, 10, {8, {}, 100}), (BatchDecision{0, 41}));  // a timeout acts once it has passed
}

TEST(Decide, DelayCountsFromTheOldestRequestOfTheBatch) {
  // A newer request with a higher priority comes before an older one.
  std::vector<QueuedRequest> queue{{90, 0, 1}, {0, 0, 1}};
  EXPECT_EQ(decide(queue, 100, {8, {}, 100}), (BatchDecision{2, kNever}));
}

RC_GTEST_PROP(Decide, TheConstantTimeRuleAgreesForRequestsOfSizeOne, ()) {
  const int max_batch = *rc::gen::inRange(1, 20);
  DynamicBatchConfig config{max_batch, {}, *rc::gen::element<SimTime>(0, 10, 50)};
  for (int size = 1; size <= max_batch; ++size) {
    if (*rc::gen::inRange(0, 4) == 0) config.preferred_sizes.push_back(size);
  }
  const auto queued = static_cast<std::size_t>(*rc::gen::inRange(1, 30));
  const SimTime now = *rc::gen::inRange(30, 100);
  const auto queue = queue_of(std::vector<int>(queued, 1));
  RC_ASSERT(decide(queue, now, config) == decide_uniform(queued, queue[0].arrived, now, config));
}

TEST(Check, RefusesImpossiblePreferredSizes) {
  EXPECT_TRUE(check({8, {2, 8}, 0}));
  EXPECT_FALSE(check({8, {2, 9}, 0}));
  EXPECT_FALSE(check({8, {4, 2}, 0}));
  EXPECT_FALSE(check({0, {}, 0}));
}

TEST(PolicyQueue, PrioritiesComeFirstAndOrderIsKept) {
  PolicyQueue queue({}, 2);
  EXPECT_TRUE(queue.push({1, 0, 1}, 1));
  EXPECT_TRUE(queue.push({2, 0, 1}, 0));
  EXPECT_TRUE(queue.push({3, 0, 1}, 0));
  auto front = queue.front(10);
  ASSERT_EQ(front.size(), 3u);
  EXPECT_EQ(front[0].arrived, 2);
  EXPECT_EQ(front[2].arrived, 1);
  queue.pop(2);
  EXPECT_EQ(queue.front(10)[0].arrived, 1);
}

TEST(PolicyQueue, TheLimitIsPerLevel) {
  PolicyQueue queue({0, QueuePolicy::OnTimeout::kReject, 1}, 2);
  EXPECT_TRUE(queue.push({1, 0, 1}, 0));
  EXPECT_FALSE(queue.push({2, 0, 1}, 0));
  EXPECT_TRUE(queue.push({3, 0, 1}, 1));
}

TEST(PolicyQueue, TimeoutsRejectOrDelay) {
  std::vector<SimTime> rejected;
  PolicyQueue strict({10, QueuePolicy::OnTimeout::kReject, 0}, 1);
  strict.push({0, 0, 1}, 0);
  strict.push({5, 0, 1}, 0);
  EXPECT_EQ(strict.expire(10, rejected), 0u);  // at the timeout it still counts
  EXPECT_EQ(strict.expire(11, rejected), 1u);
  EXPECT_EQ(rejected, std::vector<SimTime>{0});
  EXPECT_EQ(strict.size(), 1u);

  PolicyQueue patient({10, QueuePolicy::OnTimeout::kDelay, 0}, 1);
  patient.push({0, 0, 1}, 0);
  patient.push({5, 0, 1}, 0);
  EXPECT_EQ(patient.expire(11, rejected), 0u);
  EXPECT_EQ(patient.front(2)[0].arrived, 5);  // the late one is now last
  EXPECT_EQ(patient.front(2)[1].timeout, 0);
}

// In Triton, a request's own timeout counts only if it is shorter than the default and the server allows it.
TEST(PolicyQueue, ARequestsOwnTimeoutOnlyShortens) {
  std::vector<SimTime> rejected;
  QueuePolicy policy{10, QueuePolicy::OnTimeout::kReject, 0, true};
  PolicyQueue queue(policy, 1);
  queue.push({0, 0, 1}, 0);   // the default: until 10
  queue.push({1, 50, 1}, 0);  // cannot be longer: until 11
  queue.push({2, 3, 1}, 0);   // shorter, behind the others: until 5
  EXPECT_EQ(queue.expire(6, rejected), 1u);
  EXPECT_EQ(rejected, std::vector<SimTime>{2});
  EXPECT_EQ(queue.expire(11, rejected), 1u);
  EXPECT_EQ(queue.expire(12, rejected), 1u);

  policy.allow_override = false;
  PolicyQueue strict(policy, 1);
  strict.push({2, 3, 1}, 0);
  EXPECT_EQ(strict.expire(12, rejected), 0u);
  PolicyQueue endless({0, QueuePolicy::OnTimeout::kReject, 0, true}, 1);  // nothing to shorten
  endless.push({2, 3, 1}, 0);
  EXPECT_EQ(endless.expire(100, rejected), 0u);
}

}  // namespace
}  // namespace rightsize::sim
