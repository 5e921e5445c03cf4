#include "bill/budget.h"

#include <algorithm>
#include <chrono>
#include <cmath>

#include <fmt/format.h>

#include "base/parse_units.h"
#include "base/text.h"
#include "base/usage_units.h"

namespace rightsize::bill {
namespace {

constexpr int kRecentDays = 7;
constexpr double kWidth80 = 1.2816;  // 80 % of a normal distribution lie within this many deviations

double spent_between(const std::map<int, Money>& by_day, int first, int last) {
  Money sum;
  for (auto day = by_day.lower_bound(first); day != by_day.end() && day->first <= last; ++day) sum += day->second;
  return sum.amount();
}

void add_change(std::vector<ChangeLine>& lines, const ChangeLine& line) {
  if (line.before != Usd{} || line.after != Usd{}) lines.push_back(line);
}

std::vector<ChangeLine> largest_first(std::vector<ChangeLine> lines) {
  std::ranges::stable_sort(lines, std::ranges::greater(),
                           [](const ChangeLine& line) { return std::abs(in_usd(line.change())); });
  return lines;
}

TeamCost together(const std::vector<TeamCost>& teams) {
  TeamCost all;
  all.name = "*";
  for (const TeamCost& team : teams) {
    all.effective += team.effective;
    for (const auto& [day, money] : team.by_day) all.by_day[day] += money;
  }
  return all;
}

BudgetLine line_of(const TeamCost& team, const Budget& budget, int last_day) {
  const Month month = month_of(last_day);
  BudgetLine line;
  line.team = budget.team;
  line.budget = budget.monthly;
  line.days = last_day - month.first + 1;
  line.of_days = month.days;
  const double spent = spent_between(team.by_day, month.first, last_day);
  const int recent = std::min(kRecentDays, line.days);
  double sum = 0, squares = 0;
  for (int day = last_day - recent + 1; day <= last_day; ++day) {
    const double one = spent_between(team.by_day, day, day);
    sum += one;
    squares += one * one;
  }
  const double mean = sum / recent;
  const double variance = recent > 1 ? std::max(0.0, (squares - sum * mean) / (recent - 1)) : 0;
  const double rest = month.days - line.days;
  // Both the remaining days and the mean of the recent days vary.
  const double spread = kWidth80 * std::sqrt(variance * (rest + rest * rest / recent));
  const double forecast = spent + rest * mean;
  line.spent = usd(spent);
  line.forecast = usd(forecast);
  line.low = usd(std::max(spent, forecast - spread));
  line.high = usd(forecast + spread);
  const double limit = in_usd(budget.monthly);
  if (spent > limit) {
    double so_far = 0;
    for (int day = month.first; day <= last_day && !line.over_on; ++day) {
      so_far += spent_between(team.by_day, day, day);
      if (so_far > limit) line.over_on = day;
    }
  } else if (forecast > limit && mean > 0) {
    line.over_on = last_day + static_cast<int>(std::floor((limit - spent) / mean)) + 1;
  }
  return line;
}

}  // namespace

Checked<std::vector<Budget>> parse_budgets(const std::vector<std::string>& texts) {
  std::vector<Budget> budgets;
  Errors errors;
  for (const std::string& text : texts) {
    const std::size_t equals = text.rfind('=');
    std::string_view number = trim(std::string_view(text).substr(equals == std::string::npos ? 0 : equals + 1));
    for (const std::string_view unit : {"/month", "/mo"}) {
      if (number.ends_with(unit)) number.remove_suffix(unit.size());
    }
    const Result<Usd> monthly = parse_usd(number);
    if (!monthly || !(*monthly > Usd{}) || equals == 0) {
      errors.push_back(bad_input(fmt::format("--team-budget '{}': expected a team and dollars per month", text))
                           .with_hint("--team-budget ml=20000; '*=90000' is for everything together"));
      continue;
    }
    // Without a team, the budget is for all teams.
    const std::string team(equals == std::string::npos ? "*" : trim(std::string_view(text).substr(0, equals)));
    budgets.push_back({team, *monthly});
  }
  if (!errors.empty()) return fail(std::move(errors));
  return budgets;
}

std::vector<BudgetLine> against_budgets(const std::vector<TeamCost>& teams, const std::vector<Budget>& budgets,
                                        int last_day) {
  std::vector<BudgetLine> lines;
  for (const Budget& budget : budgets) {
    const auto found = std::ranges::find(teams, budget.team, &TeamCost::name);
    TeamCost none;
    none.name = budget.team;
    lines.push_back(line_of(budget.team == "*"     ? together(teams)
                            : found == teams.end() ? none
                                                   : *found,
                            budget, last_day));
  }
  return lines;
}

std::vector<ChangeLine> week_over_week(const std::vector<TeamCost>& teams, int last_day) {
  std::vector<ChangeLine> lines;
  for (const TeamCost& team : teams) {
    add_change(lines, {team.name, usd(spent_between(team.by_day, last_day - 13, last_day - 7)),
                       usd(spent_between(team.by_day, last_day - 6, last_day))});
  }
  return largest_first(std::move(lines));
}

std::optional<MonthChange> month_over_month(const Bill& bill) {
  const Month last = month_of(bill.last_day);
  if (bill.first_day >= last.first) return std::nullopt;
  const int begin = std::max(bill.first_day, month_of(last.first - 1).first);
  MonthChange change{month_of(begin).first, last.first, last.first - begin, bill.last_day - last.first + 1};
  const auto line = [&](const std::string& name, const std::map<int, Money>& by_day) {
    return ChangeLine{name, usd(spent_between(by_day, begin, last.first - 1) / change.before_days),
                      usd(spent_between(by_day, last.first, bill.last_day) / change.after_days)};
  };
  for (const TeamCost& team : bill.teams) add_change(change.teams, line(team.name, team.by_day));
  for (const MachineCost& cost : bill.machines)
    add_change(change.machines,
               line(fmt::format("{} ({})", cost.machine->instance, name_of(cost.pricing)), cost.by_day));
  change.all = line("*", together(bill.teams).by_day);
  change.teams = largest_first(std::move(change.teams));
  change.machines = largest_first(std::move(change.machines));
  return change;
}

std::string budget_rules(const std::vector<Budget>& budgets) {
  std::string text = "groups:\n  - name: rightsize-budgets\n    rules:\n";
  for (const Budget& budget : budgets) {
    std::string quoted;
    for (const char c : budget.team) {
      if (std::string_view(".+*?()[]{}|^$\\").find(c) != std::string_view::npos) quoted += "\\\\";
      if (c == '"' || c == '\n') continue;
      quoted += c;
    }
    const std::string owner = budget.team == "*" ? "" : fmt::format("{{owner=~\"{}(/.*)?\"}}", quoted);
    text += fmt::format(
        "      - alert: GpuSpendOverBudget\n"
        "        expr: sum(rightsize_owner_usd{}) / scalar(rightsize_fleet_window_seconds) * {:.0f} > {:.2f}\n"
        "        for: 6h\n"
        "        labels:\n          severity: warning\n          team: '{}'\n"
        "        annotations:\n"
        "          summary: 'GPU spend of {} is at a rate of {{{{ $value | humanize }}}} USD per month, budget "
        "{:.0f}'\n",
        owner, in_seconds(kMonth), in_usd(budget.monthly), budget.team, budget.team == "*" ? "all teams" : budget.team,
        in_usd(budget.monthly));
  }
  return text;
}

Month month_of(int day) {
  namespace clock = std::chrono;
  const clock::year_month_day date{clock::sys_days{clock::days{day}}};
  const clock::year_month month = date.year() / date.month();
  const clock::sys_days first{month / 1}, next{(month + clock::months{1}) / 1};
  return {static_cast<int>(first.time_since_epoch().count()), static_cast<int>((next - first).count())};
}

}  // namespace rightsize::bill
