#include "market/spot_plan.h"

#include <cmath>

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

namespace rightsize::market {
namespace {

SpotTerms terms(double rate) {
  SpotTerms made;
  made.low = usd_per_machine_hour(8), made.likely = usd_per_machine_hour(10), made.high = usd_per_machine_hour(13);
  made.on_demand = usd_per_machine_hour(30);
  made.interruptions_per_hour = rate;
  return made;
}

// d = 0.02 h, M = 20 h: sqrt(0.8) = 0.894427; x (1 + sqrt(0.0005)/3 + 0.02/360) - 0.02 = 0.88115 h.
TEST(SpotPlan, IntervalIsDalys) {
  EXPECT_NEAR(in_hours(checkpoint_interval(hours(0.02), hours(20))), 0.894427 * (1 + 0.0223607 / 3 + 0.02 / 360) - 0.02,
              1e-5);
  EXPECT_DOUBLE_EQ(in_hours(checkpoint_interval(hours(5), hours(2))), 2);
}

TEST(SpotPlan, WithoutInterruptionsItIsWorkTimesPrice) {
  const auto plan = plan_spot({hours(100), 2, hours(0.02), hours(0.2)}, terms(0));
  ASSERT_TRUE(plan);
  EXPECT_DOUBLE_EQ(in_hours(plan->time), 100);
  EXPECT_NEAR(in_usd(plan->mean), 2000, 30);
  EXPECT_NEAR(in_usd(plan->low), 1600, 100);  // the price alone is uncertain
  EXPECT_NEAR(in_usd(plan->high), 2600, 150);
  EXPECT_DOUBLE_EQ(in_usd(*plan->on_demand), 6000);
  EXPECT_GT(*plan->chance_cheaper, 0.99);
  EXPECT_FALSE(plan_spot({hours(100), 64, hours(2), hours(1)}, terms(1)));  // one a minute, two hours to save
}

TEST(SpotPlan, AShareAMonthIsARate) {
  EXPECT_NEAR(std::exp(-interruptions_per_hour(0.2) * in_hours(kMonth)), 0.8, 1e-12);
}

// Daly's expectation and the draws agree; more interruptions never make it cheaper.
RC_GTEST_PROP(SpotPlan, DrawsAgreeWithTheFormula, ()) {
  SpotJob job{hours(*rc::gen::inRange(20, 400)), *rc::gen::inRange(1, 9), seconds(60.0 * *rc::gen::inRange(1, 10)),
              seconds(60.0 * *rc::gen::inRange(1, 30))};
  const double rate = *rc::gen::inRange(1, 60) / 1000.0;
  SpotTerms fixed = terms(rate);
  fixed.low = fixed.high = fixed.likely;
  const auto plan = plan_spot(job, fixed);
  RC_PRE(plan.has_value());
  const double expected = in_hours(plan->time) * 10 * job.machines;
  RC_ASSERT(std::fabs(in_usd(plan->mean) / expected - 1) < 0.03);
  RC_ASSERT(plan->low <= plan->mean);
  const auto quieter = plan_spot(job, [&] {
    SpotTerms t = fixed;
    t.interruptions_per_hour /= 2;
    return t;
  }());
  RC_ASSERT(quieter->time <= plan->time);
}

}  // namespace
}  // namespace rightsize::market
