#include "live_service/reading.h"

#include <numeric>

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

namespace rightsize::live_service {
namespace {

TEST(SpreadIncrease, GrowthAcrossAGapIsSpreadOverIt) {
  std::vector<double> steps(4, 0.0);
  spread_increase({{0, 100}, {60, 160}, {180, 280}}, 0, 60, steps);
  EXPECT_EQ(steps, (std::vector<double>{60, 60, 60, 0}));
}

TEST(SpreadIncrease, AFallIsARestartFromZero) {
  std::vector<double> steps(2, 0.0);
  spread_increase({{0, 5000}, {60, 5010}, {120, 7}}, 0, 60, steps);
  EXPECT_EQ(steps, (std::vector<double>{10, 7}));
}

TEST(SpreadIncrease, ReadingsOutsideTheWindowDoNotCount) {
  std::vector<double> steps(1, 0.0);
  spread_increase({{-60, 0}, {60, 120}, {120, 999}}, 0, 60, steps);
  EXPECT_EQ(steps, (std::vector<double>{60}));
}

RC_GTEST_PROP(SpreadIncrease, EverythingBetweenFirstAndLastReadingIsCountedOnce, ()) {
  std::vector<CounterPoint> points;
  double time = 0, value = 1000, grown = 0;
  for (int more : *rc::gen::container<std::vector<int>>(rc::gen::inRange(0, 50))) {
    points.push_back({time, value});
    time += 7 + more, value += more, grown += more;
  }
  points.push_back({time, value});
  std::vector<double> steps(static_cast<std::size_t>(time / 60) + 1, 0.0);
  spread_increase(points, 0, 60, steps);
  RC_ASSERT(std::abs(std::accumulate(steps.begin(), steps.end(), 0.0) - grown) < 1e-6 * (1 + grown));
}

}  // namespace
}  // namespace rightsize::live_service
