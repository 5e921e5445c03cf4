#include "decisions/sequential.h"

#include <cmath>
#include <vector>

#include <gtest/gtest.h>

#include "base/random.h"

namespace rightsize::decisions {
namespace {

TEST(ConfidenceSequence, FewSamplesSayNothing) {
  EXPECT_TRUE(std::isinf(half_width(1, 0.1)));
  EXPECT_TRUE(std::isinf(half_width(4, 0.1)));
  EXPECT_TRUE(std::isfinite(half_width(5, 0.1)));
  const ConfidenceSequence none = sequence_of({});
  EXPECT_EQ(none.count, 0);
}

TEST(ConfidenceSequence, NarrowsWithSamplesAndScalesWithTheirSpread) {
  for (std::int64_t n = 5; n < 2000; n += 7) {
    EXPECT_GT(half_width(n, 1), half_width(n + 7, 1));
    EXPECT_NEAR(half_width(n, 3), 3 * half_width(n, 1), 1e-12);
  }
}

// The guarantee of a confidence sequence: checked after every sample, it misses the true mean in at most 5 % of all
// series. An interval for a single look (1.96 standard errors) misses far more often.
TEST(ConfidenceSequence, ContainsTheTrueMeanAtEveryLook) {
  Random random(7);
  int missed = 0, naive_missed = 0;
  constexpr int kSeries = 2000, kLength = 300;
  for (int series = 0; series < kSeries; ++series) {
    double mean = 0, squares = 0;
    bool out = false, naive_out = false;
    for (int n = 1; n <= kLength; ++n) {
      const double value = 0.3 * random.normal(), off = value - mean;
      mean += off / n;
      squares += off * (value - mean);
      if (n < 5) continue;
      const double deviation = std::sqrt(squares / (n - 1));
      out = out || std::abs(mean) > half_width(n, deviation);
      naive_out = naive_out || std::abs(mean) > 1.96 * deviation / std::sqrt(n);
    }
    missed += out;
    naive_missed += naive_out;
  }
  EXPECT_LE(missed, kSeries * 0.05);
  EXPECT_GT(naive_missed, kSeries * 0.2);
}

TEST(ConfidenceSequence, WorksOnFactors) {
  std::vector<double> samples;
  for (int i = 0; i < 40; ++i) samples.push_back(i % 2 == 0 ? 90.0 : 110.0);
  const ConfidenceSequence s = sequence_of(samples);
  EXPECT_NEAR(s.typical, std::sqrt(90.0 * 110.0), 1e-9);
  EXPECT_LT(s.low, s.typical);
  EXPECT_GT(s.high, s.typical);
  EXPECT_NEAR(s.typical / s.low, s.high / s.typical, 1e-9);
}

TEST(SamplesToTell, IsTheFirstSufficientSize) {
  const auto wanted = samples_to_tell(0.2, 0.05);
  ASSERT_TRUE(wanted);
  EXPECT_LE(half_width(*wanted, 0.2), 0.05);
  EXPECT_GT(half_width(*wanted - 1, 0.2), 0.05);
  EXPECT_FALSE(samples_to_tell(0.2, 0));
  EXPECT_FALSE(samples_to_tell(1e6, 1e-3));
}

TEST(Peaks, TheThresholdIsTheSmallestSufficientCount) {
  EXPECT_LT(std::pow(0.9, kEnoughPeaks), kAlpha);
  EXPECT_GT(std::pow(0.9, kEnoughPeaks - 1), kAlpha);
}

}  // namespace
}  // namespace rightsize::decisions
