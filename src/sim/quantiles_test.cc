#include "sim/quantiles.h"

#include <algorithm>
#include <cmath>

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "sim/random.h"

namespace rightsize::sim {
namespace {

TEST(LogHistogram, EmptyIsZeroAndSmallValuesAreExact) {
  LogHistogram h;
  EXPECT_EQ(h.quantile(0.5), 0);
  for (int i = 1; i <= 100; ++i) h.add(i);
  EXPECT_EQ(h.quantile(0.5), 50);
  EXPECT_EQ(h.quantile(0.99), 99);
  EXPECT_EQ(h.quantile(1), 100);
  h.add(-5);  // counts as 0
  EXPECT_EQ(h.quantile(0), 0);
}

RC_GTEST_PROP(LogHistogram, WithinItsStatedErrorOfTheSortedValues, ()) {
  const auto raw =
      *rc::gen::nonEmpty(rc::gen::container<std::vector<std::uint64_t>>(rc::gen::arbitrary<std::uint64_t>()));
  LogHistogram h;
  std::vector<std::int64_t> values;
  for (std::uint64_t v : raw) values.push_back(static_cast<std::int64_t>(v >> (1 + v % 40)));
  for (std::int64_t v : values) h.add(v);
  std::sort(values.begin(), values.end());
  for (double q : {0.1, 0.5, 0.9, 0.99}) {
    const auto rank = static_cast<std::size_t>(std::max(1.0, std::ceil(q * static_cast<double>(values.size()))));
    const double exact = static_cast<double>(values[rank - 1]);
    RC_ASSERT(std::fabs(h.quantile(q) - exact) <= exact * LogHistogram::kRelativeError + 1);
  }
}

TEST(LogHistogram, TakingMovesEverything) {
  LogHistogram a, b;
  for (int i = 0; i < 1000; ++i) (i % 2 ? a : b).add(i * 1000);
  a.take(b);
  EXPECT_EQ(a.count(), 1000u);
  EXPECT_EQ(b.count(), 0u);
  EXPECT_NEAR(a.quantile(0.5), 500e3, 500e3 * LogHistogram::kRelativeError);
}

TEST(Random, TheExponentialHasItsMomentsAndQuantiles) {
  Random random(7);
  LogHistogram h;
  double sum = 0, squares = 0;
  constexpr int kDraws = 2'000'000;
  for (int i = 0; i < kDraws; ++i) {
    const double x = random.exponential();
    sum += x;
    squares += x * x;
    h.add(static_cast<std::int64_t>(x * 1e9));
  }
  EXPECT_NEAR(sum / kDraws, 1, 0.003);
  EXPECT_NEAR(squares / kDraws, 2, 0.02);
  for (double q : {0.01, 0.5, 0.9, 0.999})
    EXPECT_NEAR(h.quantile(q) * 1e-9, -std::log1p(-q), 0.01 * -std::log1p(-q) + 1e-4);
}

TEST(Random, SeedsGiveTheSameStreamAgainAndOthersAnother) {
  Random a(1), b(1), c(2);
  bool differs = false;
  for (int i = 0; i < 100; ++i) {
    const std::uint64_t x = a.next();
    EXPECT_EQ(x, b.next());
    differs = differs || x != c.next();
  }
  EXPECT_TRUE(differs);
}

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
