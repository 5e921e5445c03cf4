// Tests the price outlook on 16 months of prices, fitted each month to the prices known before.
#include "backtest.h"

#include <gtest/gtest.h>

#include "fit_outlook.h"

namespace rightsize::market_tools {
namespace {

const History& history() {
  static const History kRead =
      *read_history(std::string(RIGHTSIZE_ROOT) + "/data/measurements/aws-gpu-daily-prices.csv.gz");
  return kRead;
}

struct Sums {
  double inside = 0, likely = 0, row = 0;
};

Sums over_all_months(int age) {
  Sums sums;
  int jobs = 0;
  for (const MonthResult& month : backtest_choice(history(), age)) {
    sums.inside += month.inside * month.jobs;
    sums.likely += month.ours_paid_over_likely * month.jobs;
    sums.row += month.lowest_paid_over_row * month.jobs;
    jobs += month.jobs;
  }
  return {sums.inside / jobs, sums.likely / jobs, sums.row / jobs};
}

TEST(Backtest, FourInFiveJobsCostBetweenLowAndHigh) {
  for (const int age : {1, 28, 85}) {
    const double inside = over_all_months(age).inside;
    EXPECT_GE(inside, 0.72) << age << " days";
    EXPECT_LE(inside, 0.88) << age << " days";
  }
}

TEST(Backtest, TheLikelyPriceIsCloserToTheCostThanTheLowestRow) {
  for (const int age : {28, 85}) {
    const Sums sums = over_all_months(age);
    EXPECT_NEAR(sums.likely, 1, 0.12) << age << " days";
    EXPECT_GT(sums.row, 1.3) << age << " days";
  }
}

TEST(Outlook, TheBuiltInTableEqualsTheFit) {
  const market::OutlookTable fitted = to_table(fit_outlook(history(), history().days.back() + 1));
  const market::OutlookTable& built_in = market::OutlookTable::built_in();
  ASSERT_EQ(fitted.cheap.size(), built_in.cheap.size());
  for (std::size_t i = 0; i < fitted.cheap.size(); ++i) {
    EXPECT_NEAR(fitted.cheap[i].weight, built_in.cheap[i].weight, 1e-3);
    EXPECT_NEAR(fitted.cheap[i].high, built_in.cheap[i].high, 1e-3);
  }
}

}  // namespace
}  // namespace rightsize::market_tools
