#include "fleet/running.h"

#include <cmath>

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "fleet/test_fleet.h"

namespace rightsize::fleet {
namespace {

LoadCurve curve(std::vector<double> mean, std::vector<double> max) {
  return {kStart, seconds(600), std::move(mean), std::move(max)};
}

TEST(TimeAbove, BoundsOfHandMadeCurves) {
  // Never above; always above; one step of four.
  EXPECT_EQ(time_above(curve({0.5, 0.5}, {0.9, 0.9}), 1, seconds(60), 0).high, 0);
  EXPECT_NEAR(time_above(curve({1.5, 1.5}, {1.5, 1.5}), 1, seconds(60), 0).low, 1, 1e-12);
  const ShareBounds one = time_above(curve({0.2, 0.2, 0.2, 0.5}, {0.2, 0.2, 0.2, 2.0}), 1, seconds(60), 0);
  EXPECT_NEAR(one.low, 0.1 / 4, 1e-12);   // one reading of ten
  EXPECT_NEAR(one.high, 0.5 / 4, 1e-12);  // half of the step: a mean of 0.5 from 1 and 0
  // Without recordings, nothing is known.
  EXPECT_EQ(time_above(curve({}, {}), 1, seconds(60), 0).high, 1);
}

// The bounds hold for any readings.
RC_GTEST_PROP(TimeAbove, BoundsHoldForAnyReadings, ()) {
  const int per_step = 10;
  const auto readings =
      *rc::gen::container<std::vector<double>>(std::size_t{per_step} * *rc::gen::inRange<std::size_t>(1, 6),
                                               rc::gen::map(rc::gen::inRange(0, 30), [](int v) { return v / 10.0; }));
  LoadCurve load{kStart, seconds(600), {}, {}};
  double above = 0;
  for (std::size_t i = 0; i < readings.size(); i += per_step) {
    double sum = 0, most = 0;
    for (std::size_t j = i; j < i + per_step; ++j) {
      sum += readings[j];
      most = std::max(most, readings[j]);
      above += readings[j] > 1 ? 1 : 0;
    }
    load.mean.push_back(sum / per_step);
    load.max.push_back(most);
  }
  const double share = above / static_cast<double>(readings.size());
  const ShareBounds bounds = time_above(load, 1, seconds(60), 0);
  RC_ASSERT(bounds.low <= share + 1e-9);
  RC_ASSERT(share <= bounds.high + 1e-9);
  RC_ASSERT(bounds.low <= bounds.likely + 1e-12 && bounds.likely <= bounds.high + 1e-12);
}

RC_GTEST_PROP(LevelFor, LevelIsTheSmallestThatIsRarelyExceeded, ()) {
  const auto peaks = *rc::gen::nonEmpty(rc::gen::container<std::vector<int>>(rc::gen::inRange(0, 101)));
  LoadCurve load{kStart, seconds(600), {}, {}};
  for (int peak : peaks) {
    load.max.push_back(peak / 100.0);
    load.mean.push_back(peak / 200.0);
  }
  const double level = level_for(load, 0.01, seconds(60), 0);
  RC_ASSERT(time_above(load, level, seconds(60), 0).likely <= 0.01 + 1e-9);
  if (level > 0.001) RC_ASSERT(time_above(load, level - 0.001, seconds(60), 0).likely >= 0.01 - 1e-9);
}

TEST(Forecast, LatencyFollowsProcessorSharing) {
  const Forecast f =
      make_forecast(curve({0.5}, {0.5}),
                    {.p95 = 0.5, .peak = 1.2, .now_p95 = 0.25, .now_peak = 0.6, .growth = 2, .reading = seconds(60)});
  EXPECT_DOUBLE_EQ(*f.latency_p95, 2 * 0.75 / 0.5);
  EXPECT_FALSE(f.latency_peak);  // work piles up
  ASSERT_EQ(f.worst.size(), 1u);
  EXPECT_EQ(f.worst[0].begin, kStart);
  const Forecast batch = make_forecast(curve({0.5}, {0.5}), {.p95 = 0.5, .peak = 1.2, .growth = 2, .paced = false});
  EXPECT_DOUBLE_EQ(*batch.latency_peak, 2);
}

TEST(Running, FindsCurrentOwnersAndSinceWhen) {
  UseAccumulator sum({});
  live(sum, {.uuid = "A", .pod = "old-0"}, 2 * kDay, busy);
  live(sum, {.uuid = "A", .pod = "new-0", .from_minute = 2 * kDay}, kDay, trickle);
  live(sum, {.uuid = "B", .pod = "gone-0", .index = 1}, kDay, busy);
  const DevicePrices book = book_at(2);
  const std::vector<GpuRow> gpus = judge(sum.finish(), book);
  const TimeSpan window = window_of(gpus);
  for (const GpuRow& gpu : gpus) {
    const Running now = running_on(gpu, window, {});
    if (gpu.use.device.uuid == "B") {
      EXPECT_FALSE(now.here);
      continue;
    }
    EXPECT_TRUE(now.actionable());
    ASSERT_EQ(now.owners.size(), 1u);
    EXPECT_EQ(now.owner().instance, "new-0");
    EXPECT_NEAR(in_days(now.since - kStart), 2, 0.002);
    EXPECT_NEAR(now.busy_p95, 0.08, 0.02);  // not the 98 % of the previous owner
    Thresholds two_days;
    two_days.min_age = hours(48);
    EXPECT_FALSE(running_on(gpu, window, two_days).old_enough);
  }
}

}  // namespace
}  // namespace rightsize::fleet
