#include "market/running_time.h"

#include <cmath>

#include <gtest/gtest.h>

namespace rightsize::market {
namespace {

using catalog::Purchase;

TEST(RunningTime, WithoutInterruptionsOnlyStartUpIsAdded) {
  Assumptions none;
  none.failures_per_gpu_hour = 0;
  const auto time = running_time(hours(10), gb(100), Purchase::kOnDemand, 1, 8, none);
  ASSERT_TRUE(time);
  EXPECT_NEAR(in_hours(time->total()), 10 + 10.0 / 60, 1e-9);
}

// One spot machine, 0.05 interruptions an hour, 100 s to save: t = sqrt(2 x 100 x 72,000) = 3,794.7 s;
// saving 100 / 3794.7 = 2.635 %, redoing (1897.4 + 600) / 72,000 = 3.469 %; useful 93.896 %.
TEST(RunningTime, CheckpointIntervalMatchesYoungsFormula) {
  Assumptions spot;
  spot.failures_per_gpu_hour = 0;
  const auto time = running_time(hours(100), gb(100), Purchase::kSpot, 1, 8, spot);
  ASSERT_TRUE(time);
  EXPECT_NEAR(in_hours(time->saving), 100 * 0.026352 / 0.938963, 0.01);
  EXPECT_NEAR(in_hours(time->redoing), 100 * 0.034686 / 0.938963, 0.01);
}

// 8 GPUs on demand fail every 260 days or so: to save once in 10 hours would lose the least by the formula, and a day
// of work with every crash of the job's own making.
TEST(RunningTime, SavesAtLeastAsOftenAsAskedForHoweverSeldomMachinesFail) {
  Assumptions a;
  const auto usual = running_time(hours(25), gb(84), Purchase::kOnDemand, 1, 8, a);
  ASSERT_TRUE(usual);
  EXPECT_NEAR(in_hours(usual->interval), 4, 1e-9);
  EXPECT_NEAR(usual->saving / usual->work, 84.0 / (4 * 3600), 1e-3);
  a.checkpoint_every = hours(1);
  EXPECT_NEAR(in_hours(running_time(hours(25), gb(84), Purchase::kOnDemand, 1, 8, a)->interval), 1, 1e-9);
  a.checkpoint_every = hours(1000);
  const auto least = running_time(hours(25), gb(84), Purchase::kOnDemand, 1, 8, a);
  EXPECT_GT(in_hours(least->interval), 4);
  EXPECT_LT(in_seconds(least->total()), in_seconds(usual->total()));
  // Work done in parts has nothing to save.
  EXPECT_EQ(in_seconds(running_time(hours(25), {}, Purchase::kOnDemand, 1, 8, a)->interval), 0);
}

TEST(RunningTime, MoreMachinesAreInterruptedMoreOften) {
  const Assumptions spot;
  double last = 0;
  for (int machines = 1; machines <= 32; machines *= 2) {
    const auto time = running_time(hours(100), gb(50), Purchase::kSpot, machines, machines * 8, spot);
    ASSERT_TRUE(time);
    EXPECT_GT(in_hours(time->redoing), last);
    last = in_hours(time->redoing);
  }
  EXPECT_FALSE(running_time(hours(100), gb(500), Purchase::kSpot, 4096, 32768, spot));
}

TEST(SideCosts, SideCostsAreStorageByTheMonthAndOneTransferOut) {
  Assumptions a;
  a.storage = gb(1000);
  a.egress = gb(10);
  EXPECT_NEAR(in_usd(side_costs(kMonth, a)), 80 + 0.9, 1e-9);
}

}  // namespace
}  // namespace rightsize::market
