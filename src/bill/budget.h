// Spend compared with monthly budgets: a forecast for the month, and what changed from one week to the next.
#pragma once

#include <cmath>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/units.h"
#include "bill/bill.h"

namespace rightsize::bill {

struct Budget {
  std::string team;  // "*": everything together
  Usd monthly;
};
// "ml=20000", "*=90000": dollars per month. Every mistake is reported.
Checked<std::vector<Budget>> parse_budgets(const std::vector<std::string>& texts);

// A team's month so far, from the first of the month to the last day of the data.
struct BudgetLine {
  std::string team;
  Usd budget, spent;
  Usd forecast, low, high;     // for the whole month; 80 % interval from the spread between days
  int days = 0, of_days = 0;   // of the month
  std::optional<int> over_on;  // the day on which the forecast exceeds the budget, since 1970-01-01

  bool is_past() const { return days >= of_days; }  // a month that is over has no forecast
  bool is_over() const { return forecast > budget; }
};

// The rest of the month is forecast at the mean of the last seven days.
std::vector<BudgetLine> against_budgets(const std::vector<TeamCost>& teams, const std::vector<Budget>& budgets,
                                        int last_day);

// The cost of a team or a machine in one period and in the next.
struct ChangeLine {
  std::string name;
  Usd before, after;

  // 0 if only rounding differs.
  Usd change() const { return std::abs(in_usd(after - before)) < 5e-5 ? Usd{} : after - before; }
};
// The last seven days and the seven before, by team; the largest change first.
std::vector<ChangeLine> week_over_week(const std::vector<TeamCost>& teams, int last_day);

// The last calendar month of a bill and the one before, per day that the bill covers.
struct MonthChange {
  int before = 0, after = 0;            // their first days
  int before_days = 0, after_days = 0;  // covered
  ChangeLine all = {};                  // per day, like the others
  std::vector<ChangeLine> teams = {}, machines = {};
};
// Empty for a bill of one month.
std::optional<MonthChange> month_over_month(const Bill& bill);

// Prometheus rules on the series of `rightsize exporter`: alert if a team's spend rate exceeds its budget.
std::string budget_rules(const std::vector<Budget>& budgets);

// The first day of a day's month and the number of days in it.
struct Month {
  int first = 0, days = 0;
};
Month month_of(int day);

}  // namespace rightsize::bill
