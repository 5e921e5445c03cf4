#include "live_service/lengths.h"

#include <cmath>

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "base/normal.h"
#include "sim/lengths.h"

namespace rightsize::live_service {
namespace {

// A histogram of log-normal lengths as an engine publishes it.
Histogram published(double median, double sigma) {
  std::vector<double> bounds{1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000, 10000, 20000, 50000}, cumulative;
  for (double bound : bounds)
    cumulative.push_back(1e6 * 0.5 * std::erfc(-std::log(bound / median) / sigma / std::sqrt(2.0)));
  cumulative.push_back(1e6);
  return {bounds, cumulative, 1e6 * median * std::exp(sigma * sigma / 2)};
}

RC_GTEST_PROP(RequestLengths, LogNormalLengthsAreRecoveredFromCoarseBuckets, ()) {
  const double median = *rc::gen::inRange(100, 3000), sigma = 0.4 + *rc::gen::inRange(0, 80) / 100.0;
  const Histogram histogram = published(median, sigma);
  const RequestLengths lengths(&histogram, *histogram.mean(), 1);
  for (double share : {0.1, 0.5, 0.9, 0.95, 0.99}) {
    const double true_length = median * std::exp(sigma * normal_quantile(share));
    RC_ASSERT(std::abs(lengths.quantile(share) / true_length - 1) < 0.04);
  }
}

RC_GTEST_PROP(RequestLengths, TheMeanIsTheMeasuredOne, ()) {
  std::vector<double> bounds{50, 100, 200, 400, 800}, cumulative;
  double sum = 0;
  for (int i = 0; i < 6; ++i) cumulative.push_back(sum += *rc::gen::inRange(1, 1000));
  const Histogram histogram(bounds, cumulative, 300 * sum);
  const RequestLengths lengths(&histogram, 300, 1);
  Random random(7);
  double drawn = 0;
  for (int i = 0; i < 20000; ++i) drawn += lengths.draw(random);
  RC_ASSERT(std::abs(drawn / 20000 / 300 - 1) < 0.05);
}

TEST(RequestLengths, LengthsInOneBucketStayInIt) {
  const Histogram histogram({100, 200, 400}, {0, 1000, 1000, 1000}, 150 * 1000);
  const RequestLengths lengths(&histogram, 150, 1);
  EXPECT_GE(lengths.quantile(0.01), 99);
  EXPECT_LE(lengths.quantile(0.99), 201);
}

// The same assumption as in `recommend` and `batch` for a given mean.
TEST(RequestLengths, WithoutAHistogramLengthsVaryAsInPublicTraces) {
  const RequestLengths lengths(nullptr, 1000, 1);
  EXPECT_TRUE(lengths.assumed());
  EXPECT_NEAR(lengths.quantile(0.95),
              (sim::RequestShape{.size = 1000, .size_variation = 1}.size_at(sim::Statistic::kP95)), 60);
}

}  // namespace
}  // namespace rightsize::live_service
