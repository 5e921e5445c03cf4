#include "live_service/histogram.h"

#include <algorithm>
#include <cmath>

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

namespace rightsize::live_service {
namespace {

TEST(Histogram, AQuantileLiesInsideItsBucket) {
  const Histogram h({1, 2, 4}, {10, 30, 40, 40}, 80);
  const Quantile p50 = *h.quantile(0.5);
  EXPECT_DOUBLE_EQ(p50.value, 1.5);  // the 20th of 40: half way through the 20 between 1 and 2
  EXPECT_DOUBLE_EQ(p50.low, 1);
  EXPECT_DOUBLE_EQ(p50.high, 2);
  EXPECT_DOUBLE_EQ(*h.mean(), 2);
}

TEST(Histogram, AboveTheLastBoundTheSumTellsHowFar) {
  const Histogram h({1, 2}, {1, 2, 10}, 90);  // eight values with a mean of 11: from 2 to 20
  const Quantile p95 = *h.quantile(0.95);
  EXPECT_DOUBLE_EQ(p95.value, 2 + 18 * 7.5 / 8);
  EXPECT_DOUBLE_EQ(p95.low, 2);
  EXPECT_TRUE(std::isinf(p95.high));
  EXPECT_DOUBLE_EQ(Histogram({1, 2}, {1, 2, 10}, 0).quantile(0.95)->value, 2);  // without a sum
}

// Latencies of an overloaded service grow with time: percentiles beyond the last bound are near the true ones.
RC_GTEST_PROP(Histogram, PercentilesOfAnOverloadedServiceAreNearTheTrueOnes, ()) {
  const double longest = *rc::gen::inRange(20, 2000);
  constexpr int kRequests = 10'000;
  std::vector<double> bounds = {0.1, 1, 5, 10}, cumulative;
  for (const double bound : bounds) cumulative.push_back(std::floor(kRequests * bound / longest));
  cumulative.push_back(kRequests);
  const Histogram h(bounds, cumulative, kRequests * longest / 2);
  for (const double share : {0.6, 0.95, 0.99}) {
    RC_ASSERT(std::abs(h.quantile(share)->value / (share * longest) - 1) < 0.02);
    RC_ASSERT(std::isinf(h.quantile(share)->high));
  }
}

TEST(Histogram, AnEmptyHistogramHasNoFigures) {
  EXPECT_FALSE(Histogram().quantile(0.5));
  EXPECT_FALSE(Histogram({1, 2}, {0, 0, 0}, 0).mean());
}

TEST(Histogram, ALimitOnABoundIsExactAndOneInsideABucketIsNot) {
  const Histogram h({1, 2, 4}, {50, 90, 98, 100}, 0);
  const Quantile on = h.share_over(2);
  EXPECT_NEAR(on.value, 0.10, 1e-12);
  EXPECT_DOUBLE_EQ(on.low, on.high);
  const Quantile inside = h.share_over(3);
  EXPECT_NEAR(inside.value, 0.06, 1e-12);
  EXPECT_NEAR(inside.low, 0.02, 1e-12);
  EXPECT_NEAR(inside.high, 0.10, 1e-12);
}

TEST(Histogram, DescendingCountsAreRaised) {
  const Histogram h({1, 2}, {10, 9, 12}, 0);
  EXPECT_EQ(h.counts(), (std::vector<double>{10, 0, 2}));
}

RC_GTEST_PROP(Histogram, AnyQuantileIsInTheBucketOfTheTrueOne, ()) {
  std::vector<double> values = *rc::gen::nonEmpty(rc::gen::container<std::vector<double>>(
      rc::gen::map(rc::gen::inRange(0, 1000), [](int v) { return v / 100.0; })));
  const std::vector<double> bounds = {0.1, 0.5, 1, 2, 5};
  std::vector<double> cumulative;
  double sum = 0;
  for (double bound : bounds)
    cumulative.push_back(
        static_cast<double>(std::count_if(values.begin(), values.end(), [&](double v) { return v <= bound; })));
  cumulative.push_back(static_cast<double>(values.size()));
  for (double v : values) sum += v;
  const Histogram h(bounds, cumulative, sum);
  std::sort(values.begin(), values.end());
  for (double share : {0.5, 0.95, 0.99}) {
    const auto rank = static_cast<std::size_t>(std::ceil(share * static_cast<double>(values.size()))) - 1;
    const Quantile q = *h.quantile(share);
    RC_ASSERT(q.low <= values[rank]);
    RC_ASSERT(values[rank] <= q.high);
    RC_ASSERT(q.low <= q.value && q.value <= q.high);
  }
}

}  // namespace
}  // namespace rightsize::live_service
