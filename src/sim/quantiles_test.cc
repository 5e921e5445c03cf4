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
  int covered = 0;
  for (std::uint64_t seed = 1; seed <= 100; ++seed) {
    Random random(seed);
    LatencyStatistics statistics(200);
    for (int i = 0; i < 20'000; ++i) {
      statistics.add(static_cast<std::int64_t>(1e6 * random.exponential()));
      statistics.checkpoint();
    }
    const double half = value_of(statistics.half_widths(), Statistic::kMean);
    covered += std::fabs(value_of(statistics.values(), Statistic::kMean) - 1e6) <= half;
  }
  EXPECT_GE(covered, 88);
}

TEST(LatencyStatistics, AShortRunHasNoInterval) {
  LatencyStatistics statistics;
  for (int i = 0; i < 500; ++i) statistics.add(i), statistics.checkpoint();
  EXPECT_TRUE(std::isnan(value_of(statistics.half_widths(), Statistic::kP99)));
  EXPECT_EQ(statistics.count(), 500u);
}

}  // namespace
}  // namespace rightsize::sim
