// What a way to choose offers would have paid, month by month, with only the prices known at the time.
#pragma once

#include <string>
#include <vector>

#include "history.h"

namespace rightsize::market_tools {

// One month: a one-week job begins on the first day with readings, once for each GPU and once for any GPU by its peak
// 16-bit rate. Prices are `age` days old. Ratios are means over the jobs.
struct MonthResult {
  int day = 0;
  int jobs = 0;
  double lowest_paid_over_row = 0;     // choosing the lowest row: the cost of the week over that of the row
  double ours_paid_over_likely = 0;    // choosing by the outlook: the cost of the week over the likely cost
  double ours_paid_over_lowest = 0;    // the cost of the second choice over that of the first
  double floors_paid_over_lowest = 0;  // the same if floors may be chosen, by their outlook
  double hindsight_over_lowest = 0;    // the zone that turned out cheapest; no choice can be better
  double ours_paid_over_on_demand = 0;
  double inside = 0;  // share of jobs with a cost between low and high
};

std::vector<MonthResult> backtest_choice(const History& history, int age);
std::string to_markdown(const std::vector<MonthResult>& months, int age);

// A year bought on the first day of each month at a discount on the on-demand price of that day, compared with paying
// on-demand prices over the year: the mean saving over machines that are always used, and the utilization at which the
// commitment breaks even.
struct CommitmentResult {
  int day = 0;
  int machines = 0;
  double months = 0;      // of the year that the history covers
  double saved = 0;       // share of the on-demand bill
  double worst = 0;       // of any machine
  double break_even = 0;  // mean utilization at which it would have cost the same
};

std::vector<CommitmentResult> backtest_commitment(const History& history, double discount);
std::string to_markdown(const std::vector<CommitmentResult>& months, double discount);

}  // namespace rightsize::market_tools
