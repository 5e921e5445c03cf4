#include "rightsize/recommend/api_cost.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

namespace rightsize::app {
namespace {

struct Case {
  plan::Request request;
  plan::Plan plan;
};

Case random_case(bool serving) {
  Case c;
  c.request.work.kind = serving ? plan::WorkKind::kServing : plan::WorkKind::kOffline;
  c.request.model.vocabulary = 1000;
  c.request.job.serve.isl = *rc::gen::inRange(1, 10'000);
  c.request.job.serve.osl = *rc::gen::inRange(1, 10'000);
  c.request.work.rate = requests_per_s(*rc::gen::inRange(1, 1000) / 10.0);
  c.request.work.amount = *rc::gen::inRange(1, 1'000'000);
  c.plan.cost = usd(*rc::gen::inRange(1, 100'000));
  c.plan.time.startup = seconds(*rc::gen::inRange(1, 1000));
  c.plan.time.work = seconds(*rc::gen::inRange(1, 100'000));
  return c;
}

// At the break-even volume both cost the same, and the sentence agrees with the two costs.
RC_GTEST_PROP(ApiCost, BreaksEvenWhereBothCostTheSame, ()) {
  const bool serving = *rc::gen::arbitrary<bool>();
  Case c = random_case(serving);
  const ApiPrice price{*rc::gen::inRange(1, 1000) / 100.0, *rc::gen::inRange(1, 1000) / 100.0};
  const auto cost = api_cost(price, c.request, c.plan);
  RC_ASSERT(cost.has_value());
  RC_ASSERT((api_sentence(*cost).find(" more than this plan") != std::string::npos) == (cost->cost > c.plan.cost));
  if (!(cost->break_even > 0)) return;
  const double share = cost->break_even / cost->tokens;
  const double fixed = serving ? 1 : c.plan.time.startup / c.plan.time.total();
  const double plan_cost = in_usd(c.plan.cost) * (fixed + (1 - fixed) * share);
  RC_ASSERT(std::abs(in_usd(cost->cost) * share - plan_cost) <= 1e-6 * plan_cost);
}

TEST(ApiPrice, IsOnePriceOrTwo) {
  EXPECT_EQ(parse_api_price("0.15/0.60")->output, 0.6);
  EXPECT_EQ(parse_api_price("$3")->output, 3);
  for (const char* wrong : {"", "/", "cheap", "1/2/3", "-1/2"}) EXPECT_FALSE(parse_api_price(wrong)) << wrong;
}

}  // namespace
}  // namespace rightsize::app
