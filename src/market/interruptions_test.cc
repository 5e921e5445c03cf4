#include "market/interruptions.h"

#include <cmath>

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

namespace rightsize::market {
namespace {

using catalog::Purchase;

PriceOutlook outlook(double low = 8, double likely = 10, double high = 13) {
  PriceOutlook made;
  made.low = usd_per_machine_hour(low), made.likely = usd_per_machine_hour(likely),
  made.high = usd_per_machine_hour(high);
  return made;
}

JobAssumptions without_failures(double spot_rate) {
  JobAssumptions a;
  a.failures_per_gpu_hour = 0;
  a.spot_interruptions_per_hour = spot_rate;
  return a;
}

TEST(RunningTime, WithoutInterruptionsOnlyStartUpIsAdded) {
  const auto time = running_time({hours(10), seconds(100), Purchase::kOnDemand, 1, 8}, without_failures(0.05));
  ASSERT_TRUE(time);
  EXPECT_NEAR(in_hours(time->total()), 10 + 10.0 / 60, 1e-9);
}

// d = 0.02 h, M = 20 h: sqrt(0.8) = 0.894427; x (1 + sqrt(0.0005)/3 + 0.02/360) - 0.02 = 0.88115 h.
TEST(RunningTime, TheIntervalIsDalysOptimum) {
  EXPECT_NEAR(in_hours(checkpoint_interval(hours(0.02), hours(20))), 0.894427 * (1 + 0.0223607 / 3 + 0.02 / 360) - 0.02,
              1e-5);
  EXPECT_DOUBLE_EQ(in_hours(checkpoint_interval(hours(5), hours(2))), 2);
  const auto time = running_time({hours(100), hours(0.02), Purchase::kSpot, 1, 8}, without_failures(0.05));
  EXPECT_NEAR(in_hours(time->interval), 0.88115, 1e-4);
  // M e^(r/M) (e^((t+d)/M) - 1) work / t with r = 1/6 h.
  const double expected = 20 * std::exp(1.0 / 120) * std::expm1(0.90115 / 20) * 100 / 0.88115;
  EXPECT_NEAR(in_hours(time->total()), expected + 1.0 / 6, 0.01);
}

// To first order: 0.1 interruptions per hour x (3 min of restart + half of 6 min of lost work).
TEST(RunningTime, TimePerWorkIsRestartsAndHalfAnInterval) {
  EXPECT_NEAR(time_per_work(seconds(360), {}, seconds(180), hours(10)), 1.01, 1e-4);
  EXPECT_DOUBLE_EQ(time_per_work(hours(1), {}, hours(1), hours(INFINITY)), 1);
}

// Without storage the whole job is one segment: M e^(r/M) (e^(work/M) - 1).
// A job that runs for a few hours at a time starts again in every window and saves before the window ends.
RC_GTEST_PROP(RunningTime, EveryWindowStartsAndSaves, ()) {
  const JobAssumptions a;
  InterruptibleJob job{hours(*rc::gen::inRange(1, 400)), seconds(*rc::gen::inRange(1, 900)), Purchase::kOnDemand, 1, 8};
  const auto whole = running_time(job, a);
  RC_ASSERT(whole);
  job.window = hours(*rc::gen::inRange(1, 24));
  const auto parts = running_time(job, a);
  RC_ASSERT(parts && parts->total() >= whole->total());
  if (whole->total() <= job.window) {
    RC_ASSERT(parts->total() == whole->total());
    return;
  }
  RC_ASSERT(parts->interval + a.startup + job.save <= job.window * (1 + 1e-9));
  const double windows = parts->startup / a.startup;
  RC_ASSERT(windows >= parts->work / job.window);
  RC_ASSERT(parts->total() <= job.window * (windows + 1e-9));
  job.window = a.startup;
  RC_ASSERT(!running_time(job, a));
}

RC_GTEST_PROP(RunningTime, StartingOverTakesLongerThanResuming, ()) {
  const double work = *rc::gen::inRange(1, 40), rate = *rc::gen::inRange(1, 5) / 100.0;
  InterruptibleJob job{hours(work), {}, Purchase::kSpot, 1, 8};
  const JobAssumptions a = without_failures(rate);
  const auto resumes = running_time(job, a);
  job.starts_over = true;
  const auto again = running_time(job, a);
  RC_ASSERT(resumes && again);
  RC_ASSERT(again->total() > resumes->total());
  const double expected = std::exp(rate / 6) * std::expm1(work * rate) / rate + 1.0 / 6;
  RC_ASSERT(std::abs(in_hours(again->total()) / expected - 1) < 1e-9);
  RC_ASSERT(again->interval == Seconds{});
}

// By the formula alone, 8 on-demand GPUs would save every 10 hours, and lose that much with every crash of the job.
TEST(RunningTime, CheckpointsAreNeverFurtherApartThanRequested) {
  JobAssumptions a;
  const InterruptibleJob job{hours(25), seconds(84), Purchase::kOnDemand, 1, 8};
  const auto usual = running_time(job, a);
  ASSERT_TRUE(usual);
  EXPECT_NEAR(in_hours(usual->interval), 4, 1e-9);
  EXPECT_NEAR(usual->saving / usual->work, 84.0 / (4 * 3600), 1e-3);
  a.checkpoint_every = hours(1000);
  const auto least = running_time(job, a);
  EXPECT_GT(in_hours(least->interval), 4);
  EXPECT_LT(in_seconds(least->total()), in_seconds(usual->total()));
  EXPECT_EQ(in_seconds(running_time({hours(25), {}, Purchase::kOnDemand, 1, 8}, a)->interval), 0);
}

TEST(RunningTime, MoreMachinesAreInterruptedMoreOften) {
  const JobAssumptions spot;
  double last = 0;
  for (int machines = 1; machines <= 32; machines *= 2) {
    const auto time = running_time({hours(100), seconds(50), Purchase::kSpot, machines, machines * 8}, spot);
    ASSERT_TRUE(time);
    EXPECT_GT(in_hours(time->redoing), last);
    last = in_hours(time->redoing);
  }
  EXPECT_FALSE(running_time({hours(100), seconds(500), Purchase::kSpot, 4096, 32768}, spot));
}

TEST(SpotCost, WithoutInterruptionsItIsWorkTimesPrice) {
  JobAssumptions a = without_failures(0);
  a.startup = Seconds{};
  const auto cost =
      spot_cost({hours(100), hours(0.02), Purchase::kSpot, 2, 16}, outlook(), usd_per_machine_hour(30), a);
  ASSERT_TRUE(cost);
  EXPECT_DOUBLE_EQ(in_hours(cost->time.total()), 100);
  EXPECT_DOUBLE_EQ(in_usd(cost->mean), 2000);
  EXPECT_NEAR(in_usd(cost->low), 1600, 100);  // only the price is uncertain
  EXPECT_NEAR(in_usd(cost->high), 2600, 150);
  EXPECT_DOUBLE_EQ(in_usd(*cost->on_demand), 6000);
  EXPECT_GT(*cost->chance_cheaper, 0.99);
  EXPECT_FALSE(spot_cost({hours(100), hours(2), Purchase::kSpot, 64, 512}, outlook(), {}, without_failures(1)));
}

TEST(SpotCost, AMonthlyShareBecomesARate) {
  EXPECT_NEAR(std::exp(-interruptions_per_hour(0.2) * in_hours(kMonth)), 0.8, 1e-12);
}

// At a fixed price the simulated bills centre on Daly's expectation, both with drawn interruptions and in the normal
// limit.
RC_GTEST_PROP(SpotCost, TheMiddleOfTheDistributionIsTheExpectation, ()) {
  const int length = *rc::gen::inRange(20, 3000);
  const InterruptibleJob job{hours(length), seconds(60.0 * *rc::gen::inRange(1, 10)), Purchase::kSpot,
                             *rc::gen::inRange(1, 9), 8};
  JobAssumptions a = without_failures(*rc::gen::inRange(1, 60) / 1000.0);
  a.restart = seconds(60.0 * *rc::gen::inRange(1, 30));
  const auto cost = spot_cost(job, outlook(10, 10, 10), usd_per_machine_hour(30), a);
  RC_PRE(cost.has_value());
  RC_ASSERT(cost->low <= cost->mean * 1.001 && cost->mean <= cost->high * 1.02);
  RC_ASSERT(cost->time.total() >= job.work);
  if (cost->time.interruptions > 20)
    RC_ASSERT(std::fabs((in_usd(cost->low) + in_usd(cost->high)) / 2 / in_usd(cost->mean) - 1) < 0.03);
  // More interruptions never make it shorter.
  JobAssumptions worse = a;
  worse.spot_interruptions_per_hour *= 1.5;
  const auto later = running_time(job, worse);
  if (later) RC_ASSERT(later->total() >= cost->time.total());
}

// Both sides of the switch to the normal limit give the same spread.
TEST(SpotCost, TheNormalLimitContinuesTheDraws) {
  JobAssumptions a = without_failures(0.05);
  const auto spread = [&](double length) {
    const auto cost = spot_cost({hours(length), seconds(300), Purchase::kSpot, 4, 32}, outlook(10, 10, 10), {}, a);
    return (in_usd(cost->high) - in_usd(cost->low)) / std::sqrt(length);
  };
  EXPECT_NEAR(spread(250) / spread(200), 1, 0.1);  // about 57 and 45 interruptions
}

// Any finite job and rate is answered or refused immediately.
RC_GTEST_PROP(SpotCost, IsBounded, ()) {
  const double length = std::pow(10.0, *rc::gen::inRange(-3, 12)), rate = std::pow(10.0, *rc::gen::inRange(-9, 4));
  const auto cost = spot_cost({hours(length), seconds(60), Purchase::kSpot, *rc::gen::inRange(1, 1000), 8}, outlook(),
                              usd_per_machine_hour(30), without_failures(rate));
  if (cost) RC_ASSERT(std::isfinite(in_usd(cost->mean)) && std::isfinite(in_usd(cost->high)));
}

TEST(SideCosts, AreStorageByTheMonthAndOneTransferOut) {
  JobAssumptions a;
  a.storage = gb(1000);
  a.egress = gb(10);
  EXPECT_NEAR(in_usd(side_costs(kMonth, gb(5), a)), 80 + 0.9, 1e-9);
  a.storage.reset();
  EXPECT_NEAR(in_usd(side_costs(kMonth, gb(500), a)), 40 + 0.9, 1e-9);
}

}  // namespace
}  // namespace rightsize::market
