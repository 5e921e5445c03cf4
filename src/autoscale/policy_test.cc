#include "autoscale/policy.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <rapidcheck/gtest.h>

#include "autoscale/scaler.h"

namespace rightsize::autoscale {
namespace {

using testing::HasSubstr;

std::string policy_error(std::string_view text) {
  const Result<Policy> policy = parse_policy(text);
  return policy ? "" : policy.error().message;
}

// A random policy of any kind, as a user could write it.
std::string random_policy_text() {
  const auto number = [](int from, int to) { return *rc::gen::inRange(from, to); };
  const int min = number(1, 4), max = min + number(0, 20);
  const std::string limits = fmt::format("min={},max={}", min, max);
  switch (number(0, 8)) {
    case 0:
      return fmt::format("fixed:replicas={}", number(1, 50));
    case 1:
      return fmt::format("schedule:every={}m,lead={}s,plan={}/{}/{}", number(1, 90), number(0, 300), number(1, 9),
                         number(0, 9), number(0, 9));
    case 2:
      return fmt::format("hpa:target={},{},period={}s,down={}s,tolerance=0.{}", number(1, 64), limits, number(1, 60),
                         number(0, 600), number(0, 5));
    case 3:
      return fmt::format("keda:threshold={},min=0,max={},polling={}s,cooldown={}s", number(1, 64), max, number(1, 60),
                         number(0, 600));
    case 4:
      return fmt::format("knative:target={},{},window={}s", number(1, 64), limits, number(6, 120));
    case 5:
      return fmt::format("dynamo:rate=1.{},{},interval={}s,predictor=trend", number(0, 9), limits, number(10, 300));
    case 6:
      return fmt::format("variant:{},kv=0.{},queue={}", limits, number(5, 9), number(4, 9));
    default:
      return fmt::format("skyserve:rate=2.{},{},up-delay={}s", number(0, 9), limits, number(0, 300));
  }
}

RC_GTEST_PROP(Policy, PrintedPoliciesReadBackAsTheSame, ()) {
  const std::string text = random_policy_text();
  const Result<Policy> policy = parse_policy(text);
  RC_ASSERT(policy.has_value());
  const std::string printed = describe(*policy);
  const Result<Policy> again = parse_policy(printed);
  RC_ASSERT(again.has_value());
  RC_ASSERT(parameters(*policy) == parameters(*again));
  RC_ASSERT(describe(*again) == printed);
}

TEST(Policy, ErrorsNameTheKeyAndACorrection) {
  EXPECT_THAT(policy_error("hpaa:target=3"), HasSubstr("unknown policy 'hpaa'"));
  EXPECT_THAT(policy_error("hpa:tarket=3"), HasSubstr("no key 'tarket'"));
  EXPECT_THAT(policy_error("hpa:target=3,down=soon"), HasSubstr("down"));
  EXPECT_THAT(policy_error("hpa"), HasSubstr("no target"));
  EXPECT_THAT(policy_error("hpa:target=3,min=5,max=4"), HasSubstr("less than min"));
  EXPECT_THAT(policy_error("hpa:target=3,min=0"), HasSubstr("cannot start from 0"));
  EXPECT_THAT(policy_error("fixed:replicas=0"), HasSubstr("no replicas"));
  EXPECT_THAT(policy_error("fixed:replicas=2.5"), HasSubstr("whole number"));
  EXPECT_THAT(policy_error("schedule:plan=0/0"), HasSubstr("no replicas"));
}

// Decisions of a scaler with a constant `in_flight`, starting from `wanted` replicas; replicas are ready immediately.
std::vector<int> decisions(const std::string& text, double in_flight, int wanted, int count) {
  const std::unique_ptr<Scaler> scaler = make_scaler(*parse_policy(text));
  std::vector<int> made;
  for (int i = 0; i < count; ++i) {
    Seen seen;
    seen.now = scaler->next(), seen.in_flight = in_flight, seen.wanted = seen.ready = wanted;
    made.push_back(wanted = scaler->decide(seen));
  }
  return made;
}

TEST(PodAutoscaler, GrowsByFourOrDoublesAndShrinksAfterTheWindow) {
  EXPECT_EQ(decisions("hpa:target=10,max=100", 400, 2, 4), (std::vector<int>{6, 12, 24, 40}));
  EXPECT_EQ(decisions("hpa:target=10,max=100,up=1/30s", 400, 2, 4), (std::vector<int>{3, 3, 4, 4}));
  EXPECT_EQ(decisions("hpa:target=10,max=8", 400, 4, 2), (std::vector<int>{8, 8}));
  const std::vector<int> falling = decisions("hpa:target=10,down=30s", 20, 5, 2);
  EXPECT_EQ(falling, (std::vector<int>{2, 2})) << "what it wanted in the last 30 s, not what it had";
}

TEST(PodAutoscaler, StaysWithinTheTolerance) {
  EXPECT_EQ(decisions("hpa:target=10,tolerance=0.1", 54, 5, 1).back(), 5);
  EXPECT_EQ(decisions("hpa:target=10,tolerance=0.05", 54, 5, 1).back(), 6);
}

TEST(Knative, PanicsAtTwiceTheReadyReplicas) {
  EXPECT_EQ(decisions("knative:target=10,max=50", 100, 2, 1).back(), 10);
  EXPECT_EQ(decisions("knative:target=10,min=0", 0, 8, 40).back(), 0) << "to zero after the grace period";
}

TEST(Prediction, EveryPredictorPredictsAConstantRate) {
  const std::vector<double> counts(200, 7.0);
  for (const double next : {last_value(counts), trend(counts), seasonal(counts, 48)}) EXPECT_DOUBLE_EQ(next, 7);
}

TEST(Prediction, ASeasonIsPredictedAfterTheFirst) {
  std::vector<double> counts;
  for (int i = 0; i < 3 * 48; ++i) counts.push_back(10 + 8 * std::sin(2 * 3.14159265358979 * i / 48));
  const double next = 10 + 8 * std::sin(0);
  EXPECT_NEAR(seasonal(counts, 48), next, 0.2);
  EXPECT_LT(std::abs(trend(counts) - next), std::abs(last_value(counts) - next));
}

}  // namespace
}  // namespace rightsize::autoscale
