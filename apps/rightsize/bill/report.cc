#include "rightsize/bill/report.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "base/date.h"
#include "base/format.h"
#include "report/fields.h"

namespace rightsize::app {
namespace {

using bill::Bill;
using bill::BudgetLine;
using bill::ChangeLine;
using bill::Commitment;
using bill::Costs;
using bill::MachineCost;
using bill::Money;
using bill::MonthChange;
using bill::TeamCost;
using report::cut;
using report::Fields;

// To the cent, as the bill adds up.
Usd cents(Money money) { return usd(money.in_cents()); }
std::string dollars(Money money) { return format_usd(cents(money)); }
std::string day_text(int day) { return format_date(Date{day}); }
std::string team_name(const std::string& name) { return name.empty() ? "(none)" : name == "*" ? "all teams" : name; }

const Fields<Costs> kCostFields = {
    {"billed_usd", "charged on invoices", [](const Costs& c) { return cents(c.billed); }},
    {"effective_usd", "after discounts, with the amortised part of commitments",
     [](const Costs& c) { return cents(c.effective); }},
    {"list_usd", "at list prices; null: not in the bill",
     [](const Costs& c) { return report::when(c.listed, cents(c.list)); }},
};

const Fields<MachineCost> kMachineFields = {
    {"instance", "machine", "instance type", [](const MachineCost& m) { return m.machine->instance; }},
    {"provider", "who rents it out", [](const MachineCost& m) { return m.machine->provider; }},
    {"gpu", "GPU", "its GPU", [](const MachineCost& m) { return m.machine->gpu; }},
    {"gpus", "GPUs of one machine", [](const MachineCost& m) { return m.machine->gpus; }},
    {"pricing", "terms", "on-demand, committed or spot", [](const MachineCost& m) { return m.pricing; }},
    {"machine_hours", "hours", "machine-hours billed; null: not in the bill",
     [](const MachineCost& m) { return report::when(m.hours > 0, m.hours); },
     [](const MachineCost& m) { return m.hours > 0 ? format_number(m.hours) : "?"; }},
    {"usd_per_hour", "$/h", "effective price of the machine",
     [](const MachineCost& m) { return m.rate() ? std::optional(in_usd_per_machine_hour(*m.rate())) : std::nullopt; },
     [](const MachineCost& m) { return m.rate() ? format_usd_per_hour(*m.rate()) : "?"; }},
    {"usd_per_gpu_hour", "$/GPU-h", "effective price of one of its GPUs",
     [](const MachineCost& m) {
       return m.rate() ? std::optional(in_usd_per_machine_hour(*m.rate()) / m.machine->gpus) : std::nullopt;
     },
     [](const MachineCost& m) {
       return m.rate() ? format_usd_per_hour(in_usd_per_machine_hour(*m.rate()) / m.machine->gpus) : "?";
     }},
    {"discount", "off list", "share that the effective cost is below the list cost; null: no list cost in the bill",
     [](const MachineCost& m) { return m.costs.discount(); },
     [](const MachineCost& m) {
       const std::optional<double> discount = m.costs.discount();
       return discount ? format_percent(Ratio::fraction(*discount)) : "-";
     }},
    {kCostFields, [](const MachineCost& m) { return &m.costs; }},
    {"cost", "effective", "", [](const MachineCost& m) { return cents(m.costs.effective); },
     [](const MachineCost& m) { return dollars(m.costs.effective); }, report::kTableOnly},
};

const Fields<Commitment> kCommitmentFields = {
    {"id", "commitment", "ID of the Savings Plan, reservation or committed use discount", &Commitment::id},
    {"type", "type", "kind of commitment", &Commitment::type},
    {"purchased_usd", "billed for the commitment itself", [](const Commitment& c) { return cents(c.purchased); }},
    {"used_usd", "used", "amortised cost that covered usage", [](const Commitment& c) { return cents(c.used); },
     [](const Commitment& c) { return dollars(c.used); }},
    {"unused_usd", "unused", "amortised cost that covered nothing", [](const Commitment& c) { return cents(c.unused); },
     [](const Commitment& c) { return dollars(c.unused); }},
    {"unused_share", "unused share", "unused part of the amortised cost", &Commitment::unused_share,
     [](const Commitment& c) { return format_percent(Ratio::fraction(c.unused_share())); }},
};

const Fields<TeamCost> kTeamFields = {
    {"name", "team", "value of the tag or column; empty without one", &TeamCost::name,
     [](const TeamCost& t) { return team_name(t.name); }},
    {"effective_usd", "effective", "effective cost of everything", [](const TeamCost& t) { return cents(t.effective); },
     [](const TeamCost& t) { return dollars(t.effective); }},
    {"gpu_usd", "GPU machines", "effective cost of machines with GPUs", [](const TeamCost& t) { return cents(t.gpu); },
     [](const TeamCost& t) { return dollars(t.gpu); }},
};

const Fields<BudgetLine> kBudgetFields = {
    {"team", "team", "the team; * for all", &BudgetLine::team, [](const BudgetLine& b) { return team_name(b.team); }},
    {"budget_usd", "budget", "dollars per month", &BudgetLine::budget},
    {"spent_usd", "spent", "in this month so far", &BudgetLine::spent},
    {"forecast_usd", "forecast", "for the whole month, at the mean of the last seven days", &BudgetLine::forecast,
     [](const BudgetLine& b) { return b.is_past() ? "-" : format_usd(b.forecast); }},
    {"low_usd", "80 % interval, low end", &BudgetLine::low},
    {"high_usd", "80 % interval, high end", &BudgetLine::high},
    {"over", "whether the forecast exceeds the budget", &BudgetLine::is_over},
    {"over_on", "over on", "the day on which it does",
     [](const BudgetLine& b) { return b.over_on ? std::optional(day_text(*b.over_on)) : std::nullopt; },
     [](const BudgetLine& b) { return b.over_on ? day_text(*b.over_on) : "-"; }},
};

const Fields<ChangeLine> kWeekFields = {
    {"team", "team", "the team", &ChangeLine::name, [](const ChangeLine& c) { return team_name(c.name); }},
    {"before_usd", "week before", "effective cost of the seven days before", &ChangeLine::before},
    {"after_usd", "last week", "effective cost of the last seven days", &ChangeLine::after},
    {"change_usd", "change", "the difference", &ChangeLine::change},
};

const Fields<ChangeLine> kChangeFields = {
    {"name", "", "team or machine", &ChangeLine::name, [](const ChangeLine& c) { return team_name(c.name); }},
    {"before_usd_per_day", "before", "effective cost per day of the month before", &ChangeLine::before},
    {"after_usd_per_day", "after", "effective cost per day of the last month", &ChangeLine::after},
    {"change_usd_per_day", "change", "the difference", &ChangeLine::change},
};

std::string month_text(int first_day) { return day_text(first_day).substr(0, 7); }
const Fields<MonthChange> kMonthFields = {
    {"before", "the month before", [](const MonthChange& m) { return month_text(m.before); }},
    {"after", "the last month", [](const MonthChange& m) { return month_text(m.after); }},
    {"before_days", "days of it in the bill", &MonthChange::before_days},
    {"after_days", "days of it in the bill", &MonthChange::after_days},
    {"total", "everything together", kChangeFields, [](const MonthChange& m) { return &m.all; }},
    {"teams", "by team, the largest change first", kChangeFields, &MonthChange::teams},
    {"machines", "by machine and terms, the largest change first", kChangeFields, &MonthChange::machines},
};

struct NamedCost {
  std::string name;
  Costs costs;
};
const Fields<NamedCost> kCategoryFields = {
    {"name", "usage, purchase, tax, credit, adjustment", &NamedCost::name},
    {kCostFields, [](const NamedCost& n) { return &n.costs; }},
};

const Fields<InCurrency> kConvertedFields = {
    {"currency", "the currency", [](const InCurrency& c) { return c.rate.currency; }},
    {"effective", "effective cost", &InCurrency::effective},
    {"billed", "billed cost", &InCurrency::billed},
    {"gpu", "effective cost of machines with GPUs", &InCurrency::gpu},
    {"exchange_rate", "dollars for one unit of it", [](const InCurrency& c) { return c.rate.usd; }},
    {"exchange_rate_date", "day of that rate", [](const InCurrency& c) { return c.rate.date; }},
};

std::string doubt_words(const bill::DoubtfulPrice& price) {
  const double paid = in_usd_per_machine_hour(price.paid), highest = in_usd_per_machine_hour(price.highest);
  return fmt::format(
      "{} costs {}/h in this bill, {:.1f} times the highest list price ({}/h); check the unit of its quantities",
      price.instance, format_usd_per_hour(paid), paid / highest, format_usd_per_hour(highest));
}

const Fields<BillResult> kBillFields = {
    {"rows", "rows read", [](const BillResult& r) { return r.bill.rows; }},
    {"currency", "currency of all amounts", [](const BillResult& r) { return r.bill.currency; }},
    {"converted?", "totals in --currency", kConvertedFields, &BillResult::converted},
    {"first_day", "first day charged",
     [](const BillResult& r) { return report::when(r.bill.first_day > 0, day_text(r.bill.first_day)); }},
    {"last_day", "last day charged",
     [](const BillResult& r) { return report::when(r.bill.last_day > 0, day_text(r.bill.last_day)); }},
    {"totals", "the whole bill", kCostFields, [](const BillResult& r) { return &r.bill.total; }},
    {"gpu_usd", "effective cost of machines with GPUs", [](const BillResult& r) { return cents(r.bill.gpu); }},
    {"categories", "by kind of charge", kCategoryFields,
     [](const BillResult& r) {
       std::vector<NamedCost> named;
       for (const auto& [category, costs] : r.bill.categories)
         named.push_back({std::string(bill::name_of(category)), costs});
       return named;
     }},
    {"machines", "machines with GPUs by terms", kMachineFields,
     [](const BillResult& r) { return std::cref(r.bill.machines); }},
    {"commitments", "Savings Plans, reservations, committed use discounts", kCommitmentFields,
     [](const BillResult& r) { return std::cref(r.bill.commitments); }},
    {"team_tag", "the tag or the column that names teams",
     [](const BillResult& r) { return report::when(!r.bill.team_tag.empty(), r.bill.team_tag); }},
    {"teams", "by team", kTeamFields, [](const BillResult& r) { return std::cref(r.bill.teams); }},
    {"budgets?", "against --team-budget", kBudgetFields, &BillResult::budgets},
    {"months?", "the last calendar month and the one before, per day", kMonthFields, &BillResult::months},
    {"weeks?", "the last seven days and the seven before, by team", kWeekFields, &BillResult::weeks},
    {"notes", "what was left out or is doubtful",
     [](const BillResult& r) {
       std::vector<std::string> notes = r.bill.notes;
       for (const bill::DoubtfulPrice& price : r.doubts) notes.push_back(doubt_words(price));
       return notes;
     }},
};
const report::Document<BillResult> kBillDocument("bill", "What a bill contains", kBillFields);

Money unused_of(const Bill& bill) {
  Money sum;
  for (const Commitment& commitment : bill.commitments) sum += commitment.unused;
  return sum;
}

std::string headline(const Bill& bill) {
  const Money unused = unused_of(bill);
  std::string text = fmt::format("{} effective ({} billed) from {} to {}; {} of it for machines with GPUs.",
                                 dollars(bill.total.effective), dollars(bill.total.billed), day_text(bill.first_day),
                                 day_text(bill.last_day), dollars(bill.gpu));
  if (unused > Money()) text += fmt::format(" Commitments of {} were not used.", dollars(unused));
  return text;
}

std::string budget_sentence(const BudgetLine& b) {
  const bool all = b.team == "*", past = b.is_past();
  const std::string team = all ? "All teams together" : team_name(b.team);
  const char* verb = past          ? b.is_over() ? "exceeded" : "stayed within"
                     : b.is_over() ? all ? "exceed" : "exceeds"
                     : all         ? "stay within"
                                   : "stays within";
  return fmt::format(
      "{} {} {} budget of {}{}: {}.", team, verb, all ? "their" : "its", format_usd(b.budget),
      !b.is_over() ? ""
      : b.over_on  ? fmt::format(" on {}", day_text(*b.over_on))
                   : " on the last day",
      past ? fmt::format("{} spent", format_usd(b.spent))
           : fmt::format("forecast {} ({} to {})", format_usd(b.forecast), format_usd(b.low), format_usd(b.high)));
}

report::Table titled(std::string title, report::Table table, std::size_t top) {
  table.title = std::move(title);
  table.most_shown = top;
  return table;
}

report::Table weeks_table(const BillResult& result, std::size_t top) {
  report::Table table = table_of(kWeekFields, result.weeks, {cut("team", 30), "before_usd", "after_usd", "change_usd"});
  if (!result.bill.by_tag) table.columns.front().title = result.bill.team_tag;
  return titled("What changed in the last seven days", std::move(table), top);
}

std::string month_sentence(const MonthChange& months) {
  const auto part = [](int month, Usd per_day, int days) {
    return fmt::format("{} cost {} per day ({} day{})", month_text(month), format_usd(per_day), days,
                       days == 1 ? "" : "s");
  };
  const Usd change = months.all.change();
  return fmt::format("{}, {}: {} {} per day.", part(months.after, months.all.after, months.after_days),
                     part(months.before, months.all.before, months.before_days),
                     format_usd(change < Usd{} ? -change : change), change < Usd{} ? "less" : "more");
}

report::Table months_table(const MonthChange& months, const std::vector<ChangeLine>& lines, const char* what,
                           std::size_t top) {
  report::Table table = table_of(kChangeFields, lines,
                                 {cut("name", 36), "before_usd_per_day", "after_usd_per_day", "change_usd_per_day"});
  table.columns[0].title = what;
  table.columns[1].title = month_text(months.before);
  table.columns[2].title = month_text(months.after);
  return titled(fmt::format("Cost per day by {}", what), std::move(table), top);
}

}  // namespace

report::Report bill_report(const BillResult& result, std::size_t top) {
  const Bill& bill = result.bill;
  report::Report report;
  report.title = "Bill";
  report.document = kBillDocument.of(result);
  report.say(headline(bill));
  if (const std::optional<InCurrency>& in = result.converted) {
    const auto whole = [](double amount) { return format_count(std::round(amount)); };
    report.say(
        fmt::format("In {}: {} effective ({} billed), {} of it for machines with GPUs; 1 {} is {:.5g} USD ({}, {}).",
                    in->rate.currency, whole(in->effective), whole(in->billed), whole(in->gpu), in->rate.currency,
                    in->rate.usd, in->rate.source, format_date(in->rate.date)));
  }
  if (result.months) report.say(month_sentence(*result.months));
  for (const bill::DoubtfulPrice& price : result.doubts) report.say("Caution: " + doubt_words(price) + ".");
  for (const BudgetLine& line : result.budgets) {
    if (line.is_over()) report.say(budget_sentence(line));
  }
  if (bill.machines.empty()) {
    report.say(
        "No row names a machine with GPUs or a GPU that the catalogue has. The machine type is read from "
        "SkuPriceDetails, "
        "x_InstanceType, "
        "x_SkuInstanceType, x_SkuDetails, x_UsageType, SkuMeter, ChargeDescription, or any column that contains "
        "instance types such as p5.48xlarge.");
  } else {
    report.blocks.emplace_back(titled("What machines with GPUs really cost",
                                      table_of(kMachineFields, bill.machines,
                                               {cut("instance", 28), "gpu", "pricing", "machine_hours", "usd_per_hour",
                                                "usd_per_gpu_hour", "discount", "cost"}),
                                      top));
  }
  if (!bill.commitments.empty()) {
    report.blocks.emplace_back(titled("Commitments",
                                      table_of(kCommitmentFields, bill.commitments,
                                               {cut("id", 44), "type", "used_usd", "unused_usd", "unused_share"}),
                                      top));
  }
  if (!result.budgets.empty()) {
    report.blocks.emplace_back(titled("Budgets of the month",
                                      table_of(kBudgetFields, result.budgets,
                                               {cut("team", 30), "budget_usd", "spent_usd", "forecast_usd", "over_on"}),
                                      0));
  }
  if (!bill.teams.empty() && !bill.team_tag.empty()) {
    const std::string title =
        bill.by_tag ? fmt::format("Teams, by the tag '{}'", bill.team_tag) : "By " + bill.team_tag;
    report::Table table = table_of(kTeamFields, bill.teams, {cut("name", 36), "effective_usd", "gpu_usd"});
    if (!bill.by_tag) table.columns.front().title = bill.team_tag;
    report.blocks.emplace_back(titled(title, std::move(table), top));
  }
  if (result.months) {
    const char* group = bill.by_tag ? "team" : bill.team_tag.c_str();
    if (!bill.team_tag.empty())
      report.blocks.emplace_back(months_table(*result.months, result.months->teams, group, top));
    report.blocks.emplace_back(months_table(*result.months, result.months->machines, "machine", top));
  } else if (!result.weeks.empty()) {
    report.blocks.emplace_back(weeks_table(result, top));
  }
  for (const std::string& note : bill.notes) report.say("Note: " + note + ".");
  const bool priced = std::ranges::any_of(bill.machines, [](const MachineCost& m) { return m.rate().has_value(); });
  report.say(
      fmt::format("Read: {} rows.{}", format_count(static_cast<double>(bill.rows)),
                  priced ? " To use these prices elsewhere, pass --bill FILE to any command that takes --price." : ""));
  return report;
}

report::Report bill_digest(const BillResult& result) {
  report::Report report;
  report.title = fmt::format("GPU spend in the week to {}", day_text(result.bill.last_day));
  report.document = kBillDocument.of(result);
  Usd before, after;
  for (const ChangeLine& line : result.weeks) before += line.before, after += line.after;
  if (result.weeks.empty()) {
    report.say("The bill has fewer than 14 days, so there is no week to compare with.");
  } else {
    const Usd change = after - before;
    const std::string by = format_usd(change < Usd{} ? -change : change);
    report.say(fmt::format("{} in the last seven days, {}.", format_usd(after),
                           by == format_usd(Usd{})
                               ? "as much as in the week before"
                               : by + (change < Usd{} ? " less" : " more") + " than the week before"));
    report.blocks.emplace_back(weeks_table(result, 10));
  }
  for (const BudgetLine& line : result.budgets) report.say(budget_sentence(line));
  if (const Money unused = unused_of(result.bill); unused > Money())
    report.say(fmt::format("Commitments of {} were not used in the whole period.", dollars(unused)));
  return report;
}

}  // namespace rightsize::app
