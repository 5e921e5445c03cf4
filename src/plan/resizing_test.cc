// Services whose GPUs turn out slower than predicted, and what that means for rank and verdict.
#include <cmath>

#include <gtest/gtest.h>

#include "plan/candidates.h"
#include "plan/test_draws.h"
#include "plan/test_requests.h"

namespace rightsize::plan {
namespace {

Given service(Draw& draw) {
  return {{"model", draw.one_of({"llama-3.2-1b", "llama-3.1-8b", "bert-large"})},
          {"job", "serve"},
          {"rate", draw.whole(1, 40) + "/s"},
          {"ttft-slo", draw.whole(100, 900) + "ms"},
          {"gpu", draw.one_of({"l4,h100-sxm", "a100-80gb-sxm,l40s", "rtx-pro-6000,b200-sxm"})},
          {"top", "3"}};
}

Option option(Draw& draw) {
  Option made;
  made.machines_each = static_cast<int>(draw.between(1, 3));
  made.machines = made.machines_each * static_cast<int>(draw.between(1, 9));
  made.least_machines = made.machines_each;
  made.load = draw.between(0.01, 0.8);
  made.ttft = seconds(draw.between(0.01, 1));
  made.speed = {0.8, draw.between(1.01, 2)};
  const int slow = static_cast<int>(draw.between(1, 6)) - 2;  // groups more at the slow end; below 0: not simulated
  if (slow >= 0) made.machines_if_slow = made.machines + slow * made.machines_each;
  return made;
}

TEST(Resizing, SlowerGpusNeverNeedFewerMachines) {
  Request request;
  request.work.kind = WorkKind::kServing;
  request.limits.ttft = seconds(1);
  for (int i = 0; i < 2000; ++i) {
    Draw draw(first_seed() + static_cast<std::uint64_t>(i));
    const Option one = option(draw);
    double before = 0;
    for (double factor = 0.5; factor < 3; factor *= 1.03) {
      const double needed = machines_at(request, one, factor);
      EXPECT_GE(needed, before) << i << " at " << factor;
      before = needed;
    }
    EXPECT_EQ(machines_at(request, one, 1), one.machines) << i;
    EXPECT_GE(machines_at(request, one, one.speed.high), one.machines_if_slow.value_or(0)) << i;
  }
}

TEST(Resizing, LessRoomIsMoreLikelyToNeedMachines) {
  Request request;
  request.work.kind = WorkKind::kServing;
  request.limits.ttft = seconds(1);
  Option one;
  one.speed = {0.8, 1.25};
  double before = 0;
  for (double used = 0.3; used < 1; used += 0.01) {
    one.ttft = seconds(used);
    const double chance = chance_of_resizing(request, one);
    EXPECT_GE(chance, before);
    EXPECT_LE(chance, 0.5);
    before = chance;
  }
  EXPECT_GT(before, 0.4);  // at 99 % of the limit
}

// The verdict says what the draws say, and nothing that was not computed is reported.
TEST(Resizing, VerdictsFollowTheDraws) {
  for (int i = 0; i < 6; ++i) {
    Draw draw(first_seed() + static_cast<std::uint64_t>(i));
    const Given settings = service(draw);
    SCOPED_TRACE(shown(settings));
    Request request = request_of(settings);
    const Recommendation found = recommend(request, built_in_prices(), built_in_constants());
    if (found.plans.empty()) continue;
    if (found.decision() == Decision::kClear && found.rival() != nullptr) {
      EXPECT_GE(*found.confidence, 0.8);
      EXPECT_LE(found.plans.front().resizing, 0.2);
    }
    for (const Plan& plan : found.plans) EXPECT_TRUE(plan.interval_known);
    request.plans_only = true;
    const Recommendation quick = recommend(request, built_in_prices(), built_in_constants());
    EXPECT_FALSE(quick.confidence.has_value());
    for (const Plan& plan : quick.plans) EXPECT_EQ(plan.interval_known, plan.extrapolated);
  }
}

TEST(Resizing, ALimitOnWholeAnswersHoldsForThem) {
  const Request request = request_of({{"model", "llama-3.1-8b"},
                                      {"job", "serve"},
                                      {"rate", "4/s"},
                                      {"osl", "100"},
                                      {"latency-slo", "2s"},
                                      {"gpu", "h100-sxm,l40s"}});
  const Recommendation found = recommend(request, built_in_prices(), built_in_constants());
  ASSERT_FALSE(found.plans.empty());
  for (const Plan& plan : found.plans) {
    EXPECT_LE(in_seconds(plan.answer), 2);
    EXPECT_GT(plan.answer, plan.latency);  // p95 and mean
  }
}

// Without a rate, the given GPUs serve as much as the limits allow: tighter limits, less.
TEST(Resizing, GivenGpusServeTheHighestRate) {
  double before = 0;
  for (const char* tpot : {"12ms", "20ms", "40ms"}) {
    const Request request = request_of({{"model", "llama-3.1-8b"},
                                        {"job", "serve"},
                                        {"gpu", "h100-sxm"},
                                        {"gpus", "4"},
                                        {"ttft-slo", "1s"},
                                        {"tpot-slo", tpot}});
    const Recommendation found = recommend(request, built_in_prices(), built_in_constants());
    ASSERT_FALSE(found.plans.empty()) << tpot;
    EXPECT_EQ(found.best()->gpus, 4);
    EXPECT_LE(in_milliseconds(found.best()->tpot), in_milliseconds(*request.limits.tpot));
    EXPECT_GT(found.best()->requests_per_second, before * 0.97) << tpot;
    before = found.best()->requests_per_second;
  }
  EXPECT_GT(before, 10);
}

// Terms that were asked for are answered, whether they lead or not.
TEST(Resizing, EveryTermThatWasAskedForIsAnswered) {
  const Request request = request_of({{"model", "llama-3.1-8b"},
                                      {"job", "serve"},
                                      {"rate", "4/s"},
                                      {"providers", "gcp,lambda"},
                                      {"purchase", "on-demand,1y,3y"}});
  const Recommendation found = recommend(request, built_in_prices(), built_in_constants());
  ASSERT_FALSE(found.plans.empty());
  EXPECT_EQ(found.other_terms.size() + found.missing_terms.size(), 2U);
  for (const Plan& plan : found.other_terms) EXPECT_NE(plan.offer.price->purchase, found.best()->offer.price->purchase);
}

}  // namespace
}  // namespace rightsize::plan
