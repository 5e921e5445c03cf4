#include "base/random.h"

#include <cmath>

#include <gtest/gtest.h>

#include "base/log_histogram.h"

namespace rightsize {
namespace {

TEST(Random, TheExponentialHasItsMomentsAndQuantiles) {
  Random random(7);
  LogHistogram<8> h;
  double sum = 0, squares = 0;
  constexpr int kDraws = 2'000'000;
  for (int i = 0; i < kDraws; ++i) {
    const double x = random.exponential();
    sum += x;
    squares += x * x;
    h.add(x);
  }
  EXPECT_NEAR(sum / kDraws, 1, 0.003);
  EXPECT_NEAR(squares / kDraws, 2, 0.02);
  for (double q : {0.01, 0.5, 0.9, 0.999}) EXPECT_NEAR(h.quantile(q), -std::log1p(-q), 0.01 * -std::log1p(-q) + 1e-4);
}

TEST(Random, TheNormalHasItsMomentsAndTails) {
  Random random(11);
  double sum = 0, squares = 0;
  int beyond = 0;  // two deviations: 4.55 %
  constexpr int kDraws = 400'000;
  for (int i = 0; i < kDraws; ++i) {
    const double x = random.normal();
    sum += x, squares += x * x, beyond += std::fabs(x) > 2 ? 1 : 0;
  }
  EXPECT_NEAR(sum / kDraws, 0, 0.01);
  EXPECT_NEAR(squares / kDraws, 1, 0.01);
  EXPECT_NEAR(static_cast<double>(beyond) / kDraws, 0.0455, 0.002);
}

TEST(Random, EqualSeedsGiveEqualStreamsAndOthersDiffer) {
  Random a(1), b(1), c(2);
  bool differs = false;
  for (int i = 0; i < 100; ++i) {
    const std::uint64_t x = a.next();
    EXPECT_EQ(x, b.next());
    differs = differs || x != c.next();
  }
  EXPECT_TRUE(differs);
}

}  // namespace
}  // namespace rightsize
