#include "capacity/window.h"

#include <cmath>
#include <random>

#include <gtest/gtest.h>

namespace rightsize::capacity {
namespace {

// The article's pipeline: 1M images per day in 4-hour windows are 166,667 per window; at 82 ms each that is 13,667 s of
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

TEST(Window, AbsurdAmountsHaveNoSchedule) {
  for (const double items : {1e12, 1e15, 1e18, 1e300})
    EXPECT_FALSE(schedule_window({items, hours(4), hours(4), seconds(1), seconds(120)})) << items;
}

// Days repeat: a mean over many of them is that of the days and of the rest.
TEST(Window, TheMeanOfManyDaysIsThatOfOneAndTheRest) {
  std::mt19937 random(5);
  const auto between = [&](double low, double high) { return std::uniform_real_distribution<>(low, high)(random); };
  for (int i = 0; i < 200; ++i) {
    std::vector<double> by_hour(24);
    for (double& value : by_hour) value = between(-2, 10);
    const Seconds from = hours(between(0, 48)), rest = hours(between(0.1, 23));
    const double days_more = std::floor(between(1, 1e9));
    const double day = mean_between(by_hour, hours(0), hours(24)), part = mean_between(by_hour, from, from + rest);
    const double mean = mean_between(by_hour, from, from + rest + days(days_more));
    const double weight = in_hours(rest) / (in_hours(rest) + 24 * days_more);
    EXPECT_NEAR(mean, day * (1 - weight) + part * weight, 1e-6);
  }
}

TEST(Window, RunsMoveToTheBestHoursAndStillMeetTheDeadline) {
  std::mt19937 random(7);
  const auto between = [&](double low, double high) { return std::uniform_real_distribution<>(low, high)(random); };
  for (int i = 0; i < 300; ++i) {
    WindowWork work{between(1e3, 1e6),
                    hours(24 / std::floor(between(1, 13))),
                    {},
                    milliseconds(between(1, 200)),
                    seconds(between(0, 600))};
    work.deadline = work.window * between(0.3, 1);
    work.gpus = static_cast<int>(between(0, 30));
    const auto at_once = schedule_window(work);
    if (!at_once) continue;
    for (int h = 0; h < 24; ++h) work.by_hour.push_back(std::floor(between(-2, 10)));
    const auto moved = schedule_window(work);
    ASSERT_TRUE(moved);
    ASSERT_EQ(moved->day.size(), at_once->day.size());
    EXPECT_EQ(moved->gpus, at_once->gpus);
    EXPECT_GE(moved->gpus, work.gpus);
    for (std::size_t run = 0; run < moved->day.size(); ++run) {
      const WindowRun &a = at_once->day[run], &b = moved->day[run];
      const double cost = mean_between(work.by_hour, b.starts, b.ends);
      EXPECT_GE(b.starts, b.closes);
      EXPECT_LE(b.ends, std::max(b.closes + work.deadline, b.closes + moved->busy) + seconds(1e-6));
      EXPECT_LE(cost, mean_between(work.by_hour, a.starts, a.ends) + 1e-9);
      for (int minute = 0; a.closes + seconds(60 * minute) + moved->busy <= a.closes + work.deadline; minute += 7) {
        const Seconds start = a.closes + seconds(60 * minute);
        EXPECT_LE(cost, mean_between(work.by_hour, start, start + moved->busy) + 1e-9);
      }
    }
  }
}

TEST(Window, TheMeanOfEqualHoursIsTheirValue) {
  const std::vector<double> same(24, 0.3);
  for (double from : {0.0, 5.5, 23.9, 30.2})
    EXPECT_NEAR(mean_between(same, hours(from), hours(from + 7.3)), 0.3, 1e-12);
  std::vector<double> night(24, 0);
  night[0] = 1;
  EXPECT_NEAR(mean_between(night, hours(23.5), hours(24.5)), 0.5, 1e-12);
}

}  // namespace
}  // namespace rightsize::capacity
