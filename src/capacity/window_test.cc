#include "capacity/window.h"

#include <gtest/gtest.h>

namespace rightsize::capacity {
namespace {

// The article's pipeline: 1M images a day in 4-hour windows are 166,667 a window; at 82 ms each that is 13,667 s of
// work, which one GPU does in 3 h 47 min 47 s; with 2 min to start, 3 h 49 min 47 s of the 4 h.
TEST(Window, MatchesTheArticlesImageExample) {
  const auto plan = schedule_window({1e6, hours(4), hours(4), milliseconds(82), seconds(120)});
  ASSERT_TRUE(plan);
  EXPECT_EQ(plan->gpus, 1);
  EXPECT_NEAR(plan->items_per_window, 166666.67, 0.01);
  EXPECT_NEAR(in_seconds(plan->busy), 13786.67, 0.01);
  EXPECT_NEAR(plan->utilization, 0.957, 0.001);
  EXPECT_EQ(plan->day.size(), 6u);
}

TEST(Window, AnEarlierDeadlineTakesMoreGpus) {
  const auto plan = schedule_window({1e6, hours(4), hours(1), milliseconds(82), seconds(120)});
  EXPECT_EQ(plan->gpus, 4);  // 13,667 s over 3,480 s
  EXPECT_LE(plan->latest, hours(1));
  EXPECT_FALSE(schedule_window({1e6, hours(4), seconds(60), milliseconds(82), seconds(120)}));
}

}  // namespace
}  // namespace rightsize::capacity
