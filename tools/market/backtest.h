// What a rule of choosing would have paid, month by month, knowing only what was known then.
#pragma once

#include <string>
#include <vector>

#include "history.h"

namespace rightsize::market_tools {

// One month: a job of a week begins on its first day with readings, once for each GPU and once for any GPU by its peak
// 16-bit rate. Prices are those of `age` days before. Ratios are means over the jobs.
struct MonthResult {
  int day = 0;
  int jobs = 0;
  double lowest_paid_over_row = 0;     // choosing the lowest row: what the week cost against what the row said
  double ours_paid_over_likely = 0;    // choosing by the outlook: against what it said
  double ours_paid_over_lowest = 0;    // what the two choices cost, one against the other
  double floors_paid_over_lowest = 0;  // the same where floors may be chosen, by their outlook
  double hindsight_over_lowest = 0;    // the zone that turned out cheapest: no rule can do better
  double ours_paid_over_on_demand = 0;
  double inside = 0;  // share of jobs whose cost was between low and high
};

std::vector<MonthResult> backtest_choice(const History& history, int age);
std::string to_markdown(const std::vector<MonthResult>& months, int age);

// A year bought on the first day of each month at a discount on the on-demand price of that day, against paying
// on-demand as it moved: the mean over machines of what the commitment saved, for a machine used all the time, and the
// least use at which it would have paid.
struct CommitmentResult {
  int day = 0;
  int machines = 0;
  double months = 0;      // of the year that the history covers
  double saved = 0;       // share of the on-demand bill
  double worst = 0;       // of any machine
  double break_even = 0;  // mean use at which it would have cost the same
};

std::vector<CommitmentResult> backtest_commitment(const History& history, double discount);
std::string to_markdown(const std::vector<CommitmentResult>& months, double discount);

}  // namespace rightsize::market_tools
