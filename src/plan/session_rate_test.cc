#include "plan/session_rate.h"

#include <gtest/gtest.h>

#include "plan/test_requests.h"

namespace rightsize::plan {
namespace {

Request users_with(const std::string& tpot, const std::string& think) {
  return request_of({{"job", "serve"},
                     {"model", "llama-3.1-8b"},
                     {"sessions", "users=150,turns=4,think=" + think + ",system=500,turn-in=200,turn-out=200"},
                     {"ttft-slo", "2s"},
                     {"tpot-slo", tpot},
                     {"gpu", "l40s,a100-80gb-sxm,h100-sxm"},
                     {"providers", "aws,gcp,lambda"}});
}

// The request rate of users follows from the plan's latency, whatever the limits.
TEST(SessionRate, FollowsFromThePlansLatency) {
  for (const char* think : {"2s", "30s"}) {
    std::vector<double> before;
    for (const char* tpot : {"20ms", "40ms", "80ms"}) {
      const Request asked = users_with(tpot, think);
      before.push_back(in_requests_per_s(asked.work.rate));
      const Request request = settled(asked, built_in_prices(), built_in_constants());
      Request quick = request;
      quick.plans_only = true;
      const Recommendation found = recommend(quick, built_in_prices(), built_in_constants());
      ASSERT_FALSE(found.plans.empty());
      const double predicted = in_requests_per_s(request.work.sessions->rate(found.best()->latency));
      EXPECT_NEAR(in_requests_per_s(request.work.rate) / predicted, 1, 0.08) << tpot << ", think " << think;
      EXPECT_NEAR(in_seconds(*waiting_in(request)) / in_seconds(found.best()->latency), 1, 0.25);
    }
    EXPECT_EQ(before.front(), before.back()) << "the limit decides how often users ask";
  }
}

// The reported effect of a longer TPOT limit is that of the changed request.
TEST(SessionRate, ChangesOfTheRequestSettleTheirOwnTraffic) {
  const Request request = settled(users_with("20ms", "2s"), built_in_prices(), built_in_constants());
  const Recommendation found = recommend(request, built_in_prices(), built_in_constants());
  const auto change = std::find_if(found.changes.begin(), found.changes.end(),
                                   [](const RequestChange& c) { return c.kind == RequestChangeKind::kLongerTpot; });
  ASSERT_NE(change, found.changes.end());
  const Request again = settled(users_with("40ms", "2s"), built_in_prices(), built_in_constants());
  const Recommendation rerun = recommend(again, built_in_prices(), built_in_constants());
  EXPECT_EQ(rerun.best()->machines, change->plan.machines);
  EXPECT_EQ(in_usd(rerun.best()->cost), in_usd(change->plan.cost));
}

// A limit that the answer meets does not change it, and a tighter one finds nothing cheaper: the formulas, which know
// only mean prompts, must not drop a plan that the simulated prefix cache makes possible.
TEST(SessionRate, LimitsThatThePlanMeetsDoNotChangeIt) {
  struct Asked {
    const char *model, *sessions, *ttft, *tpot;
  };
  constexpr Asked kAsked[] = {
      {"qwen3-coder-480b-a35b", "users=150,turns=25,think=20s,system=12000,turn-in=2000,turn-out=500", "3s", "40ms"},
      {"llama-3.3-70b", "users=300,turns=15,think=25s,system=8000,turn-in=1500,turn-out=400", "2s", "40ms"},
      {"glm-4.5-air", "users=400,turns=20,think=25s,system=10000,turn-in=1500,turn-out=400", "2s", "30ms"}};
  for (const Asked& asked : kAsked) {
    const auto best = [&](const Given& limits) {
      Given given{
          {"job", "serve"},         {"model", asked.model},   {"precision", "fp8"}, {"sessions", asked.sessions},
          {"ttft-slo", asked.ttft}, {"tpot-slo", asked.tpot}, {"regions", "us"}};
      given.insert(given.end(), limits.begin(), limits.end());
      Request request = settled(request_of(given), built_in_prices(), built_in_constants());
      request.plans_only = true;
      return recommend(request, built_in_prices(), built_in_constants());
    };
    const Recommendation found = best({});
    ASSERT_FALSE(found.plans.empty()) << asked.model;
    const Recommendation same = best({{"max-gpus", std::to_string(found.best()->gpus)}});
    ASSERT_FALSE(same.plans.empty()) << asked.model;
    EXPECT_LE(in_usd(same.best()->cost), in_usd(found.best()->cost)) << asked.model;
    const Recommendation less = best({{"budget", std::to_string(static_cast<int>(in_usd(found.best()->cost)) - 1)}});
    constexpr double kTie = 1.02;  // within it, merits decide
    const bool other_standing = less.plans.empty() || !less.best()->price.may_lead() || less.best()->extrapolated;
    EXPECT_TRUE(other_standing || less.best()->cost * kTie > found.best()->cost) << asked.model;
  }
}

TEST(SessionRate, AGivenRateIsKept) {
  const Request request = users_with("40ms", "2s");
  Request open = request;
  auto trace = std::make_shared<sim::Trace>(*request.work.trace);
  trace->closed = nullptr;
  open.work.trace = trace;
  EXPECT_FALSE(with_waiting(open, seconds(100)));
  EXPECT_TRUE(with_waiting(request, seconds(100)));
}

}  // namespace
}  // namespace rightsize::plan
