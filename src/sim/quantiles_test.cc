#include "sim/quantiles.h"

#include <algorithm>
#include <cmath>

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "base/random.h"

namespace rightsize::sim {
namespace {

// Independent values: the interval must cover the true mean about 95 times in 100.
TEST(LatencyStatistics, IntervalsCoverTheTruth) {
  int covered = 0, covered_tail = 0;
  for (std::uint64_t seed = 1; seed <= 100; ++seed) {
    Random random(seed);
    LatencyStatistics statistics(200);
    for (int i = 0; i < 20'000; ++i) {
      statistics.add(static_cast<std::int64_t>(1e6 * random.exponential()));
      statistics.checkpoint();
    }
    const Intervals intervals = statistics.intervals();
    const auto covers = [&](Statistic at, double truth) {
      return value_of(intervals.low, at) <= truth && truth <= value_of(intervals.high, at);
    };
    covered += covers(Statistic::kMean, 1e6);
    covered_tail += covers(Statistic::kP99, 1e6 * std::log(100));
  }
  EXPECT_GE(covered, 88);
  EXPECT_GE(covered_tail, 88);
}

// Nearly one request in a hundred is far slower than the others: the 99th percentile is then a matter of chance, and
// the interval shows it even if the values on either side are steady.
TEST(LatencyStatistics, TheIntervalOfAQuantileSpansAJumpNearby) {
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    Random random(seed);
    LatencyStatistics statistics(400);
    for (int i = 0; i < 20'000; ++i) {
      statistics.add(random.uniform() < 0.0097 ? 80'000'000 : 20'000'000);
      statistics.checkpoint();
    }
    const Intervals intervals = statistics.intervals();
    EXPECT_LT(value_of(intervals.low, Statistic::kP99), 21e6) << seed;
    EXPECT_GT(value_of(intervals.high, Statistic::kP99), 79e6) << seed;
    EXPECT_LT(value_of(intervals.high, Statistic::kP95), 21e6) << seed;
  }
}

TEST(LatencyStatistics, AShortRunHasNoInterval) {
  LatencyStatistics statistics;
  for (int i = 0; i < 500; ++i) statistics.add(i), statistics.checkpoint();
  EXPECT_TRUE(std::isnan(value_of(statistics.intervals().high, Statistic::kP99)));
  EXPECT_EQ(statistics.count(), 500u);
}

// A million requests that wait twelve hours each exceed 64 bits of nanoseconds.
TEST(LatencyStatistics, TheMeanOfLongWaitsDoesNotOverflow) {
  LatencyStatistics statistics;
  constexpr std::int64_t kWait = 12LL * 3600 * 1'000'000'000;
  for (int i = 0; i < 1'000'000; ++i) {
    statistics.add(kWait);
    statistics.checkpoint();
  }
  EXPECT_NEAR(statistics.values()[0], static_cast<double>(kWait), 1e-6 * static_cast<double>(kWait));
}

}  // namespace
}  // namespace rightsize::sim
