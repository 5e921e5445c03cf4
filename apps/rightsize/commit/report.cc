#include "rightsize/commit/report.h"

#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/format.h"

namespace rightsize::app {
namespace {

using market::CommitmentPlanner;
using market::Future;
using market::Payment;
using report::Align;
using report::Json;

std::string money(double dollars) { return format_usd(usd(dollars)); }

std::string from(const CommitPlan& plan) {
  return plan.provider == kOwnPrices ? std::string("at your prices") : "from " + plan.provider;
}

// "Commit to 8 GPUs for three years from gcp."
std::string commitment(const CommitPlan& plan) {
  const auto term = [](double gpus, const char* length) {
    return fmt::format("{:g} GPU{} for {}", gpus, gpus == 1 ? "" : "s", length);
  };
  std::string terms;
  if (plan.mix.one_year > 0) terms = term(plan.mix.one_year, "one year");
  if (plan.mix.three_years > 0) terms += (terms.empty() ? "" : " and ") + term(plan.mix.three_years, "three years");
  return fmt::format("Commit to {} {}.", terms, from(plan));
}

void add_draws(const CommitPlan& plan, report::Report& report) {
  if (plan.draws.empty()) return;
  std::string text = "Committed spend:";
  Json& rows = report.document["committed_spend"];
  rows = Json::array();
  for (const market::Draw& draw : plan.draws) {
    text += fmt::format("{} {} from {}", text.ends_with(':') ? "" : ",", format_usd(draw.amount),
                        market::describe(*draw.from));
    rows.push_back({{"account", draw.from->account},
                    {"provider", draw.from->provider},
                    {"drawn_usd", in_usd(draw.amount)},
                    {"left_usd", in_usd(draw.from->left)},
                    {"until", format_date(draw.from->until)}});
  }
  report.document["new_money_usd"] = plan.new_money();
  report.blocks.emplace_back(
      report::Paragraph{text + fmt::format("; new money over three years: {}.", money(plan.new_money()))});
}

void add_terms(const CommitPlan& plan, report::Report& report) {
  report::Table table;
  table.title = fmt::format("What to buy now, {}", from(plan));
  table.columns = {{"term", "term", Align::kLeft},
                   {"GPUs", "gpus", Align::kRight},
                   {"$/GPU-h", "usd_per_gpu_hour", Align::kRight},
                   {"break-even use", "break_even_utilization", Align::kRight},
                   {"$/year", "usd_per_year", Align::kRight},
                   {"whole bill", "usd_total", Align::kRight}};
  Json& terms = report.document["terms"];
  terms = Json::array();
  const auto add = [&](const char* term, double gpus, const std::optional<double>& price, int years) {
    if (!price) return;
    const double even = market::break_even_use(*price, plan.prices.on_demand), year = gpus * *price * in_hours(kYear);
    table.rows.push_back({report::text_cell(term), report::number_cell(fmt::format("{:g}", gpus), gpus),
                          report::number_cell(format_usd_per_hour(*price), *price),
                          report::number_cell(fmt::format("{:.0f} %", 100 * even), even),
                          report::number_cell(money(year), year),
                          report::number_cell(money(year * years), year * years)});
    terms.push_back({{"term", term},
                     {"gpus", gpus},
                     {"usd_per_gpu_hour", *price},
                     {"break_even_utilization", even},
                     {"usd_per_year", year},
                     {"total_usd", year * years}});
  };
  add("1y", plan.mix.one_year, plan.prices.one_year, 1);
  add("3y", plan.mix.three_years, plan.prices.three_years, market::kPlanYears);
  if (!table.rows.empty()) report.blocks.emplace_back(std::move(table));
}

// Where there is a choice of how to pay.
void add_payments(const CommitPlan& plan, double interest, report::Report& report) {
  report::Table table;
  table.title = fmt::format("How to pay, with money at {:g} % a year", 100 * interest);
  table.columns = {{"term", "term", Align::kLeft},
                   {"payment", "payment", Align::kLeft},
                   {"$/GPU-h", "usd_per_gpu_hour", Align::kRight},
                   {"as if monthly", "monthly_usd_per_gpu_hour", Align::kRight},
                   {"paid now", "upfront_usd", Align::kRight},
                   {"", "choice", Align::kLeft}};
  Json& rows = report.document["payments"];
  rows = Json::array();
  const auto add = [&](const char* term, const std::vector<Payment>& ways, double gpus, int years) {
    if (ways.size() < 2) return;
    const Payment& best = market::cheapest_payment(ways, years, interest);
    for (const Payment& way : ways) {
      const double monthly = market::paid_monthly(way, years, interest);
      const double now = gpus * way.upfront * way.usd_per_gpu_hour * in_hours(kYear) * years;
      table.rows.push_back({report::text_cell(term), report::text_cell(way.name),
                            report::number_cell(format_usd_per_hour(way.usd_per_gpu_hour), way.usd_per_gpu_hour),
                            report::number_cell(format_usd_per_hour(monthly), monthly),
                            report::number_cell(money(now), now), report::text_cell(&way == &best ? "cheapest" : "")});
      rows.push_back({{"term", term},
                      {"payment", way.name},
                      {"usd_per_gpu_hour", way.usd_per_gpu_hour},
                      {"monthly_usd_per_gpu_hour", monthly},
                      {"upfront_usd", now},
                      {"cheapest", &way == &best}});
    }
  };
  add("1y", plan.one_year, plan.mix.one_year, 1);
  add("3y", plan.three_years, plan.mix.three_years, market::kPlanYears);
  if (!table.rows.empty()) report.blocks.emplace_back(std::move(table));
}

void add_regret(const CommitPlan& plan, const market::Demand& demand, const std::vector<Future>& futures, int ladder,
                report::Report& report) {
  std::vector<Future> tried = futures;
  tried.push_back({"demand falls by 20 % at once", 0, {0.8, 0.8, 0.8}, {1, 1, 1}});
  tried.push_back({"demand falls by half at once", 0, {0.5, 0.5, 0.5}, {1, 1, 1}});
  const CommitmentPlanner planner(demand, plan.prices, futures);
  report::Table table;
  table.title = "What if: cost over three years";
  table.columns = {{"future", "future", Align::kLeft},
                   {"weight", "weight", Align::kRight},
                   {"this mix", "usd", Align::kRight},
                   {"nothing committed", "uncommitted_usd", Align::kRight},
                   {"regret", "regret_usd", Align::kRight},
                   {fmt::format("in {} parts over a year", ladder), "laddered_usd", Align::kRight}};
  Json& rows = report.document["futures"];
  rows = Json::array();
  for (Future future : tried) {
    const double weight = future.probability;
    future.probability = 1;
    const CommitmentPlanner certain(demand, plan.prices, {future});
    const double with = certain.cost(plan.mix).total, without = certain.cost({}).total;
    const double regret = planner.regret(plan.mix, future), parts = planner.laddered_cost(plan.mix, ladder, future);
    table.rows.push_back(
        {report::text_cell(future.name),
         weight > 0 ? report::number_cell(fmt::format("{:g}", weight), weight) : report::text_cell("-"),
         report::number_cell(money(with), with), report::number_cell(money(without), without),
         report::number_cell(money(regret), regret), report::number_cell(money(parts), parts)});
    rows.push_back({{"name", future.name},
                    {"weight", weight},
                    {"usd", with},
                    {"uncommitted_usd", without},
                    {"regret_usd", regret},
                    {"laddered_usd", parts}});
  }
  report.blocks.emplace_back(std::move(table));
}

void add_providers(const std::vector<CommitPlan>& plans, report::Report& report) {
  if (plans.size() < 2) return;
  report::Table table;
  table.title = "Other providers";
  table.columns = {{"provider", "provider", Align::kLeft},
                   {"1y", "one_year_gpus", Align::kRight},
                   {"3y", "three_year_gpus", Align::kRight},
                   {"three years", "total_usd", Align::kRight},
                   {"nothing committed", "uncommitted_usd", Align::kRight}};
  const bool drawn = std::any_of(plans.begin(), plans.end(), [](const CommitPlan& p) { return !p.draws.empty(); });
  if (drawn) table.columns.push_back({"new money", "new_money_usd", Align::kRight});
  Json others = Json::array();
  for (const CommitPlan& plan : plans) {
    table.rows.push_back({report::text_cell(plan.provider),
                          report::number_cell(fmt::format("{:g}", plan.mix.one_year), plan.mix.one_year),
                          report::number_cell(fmt::format("{:g}", plan.mix.three_years), plan.mix.three_years),
                          report::number_cell(money(plan.cost.total), plan.cost.total),
                          report::number_cell(money(plan.without.total), plan.without.total)});
    if (drawn) table.rows.back().push_back(report::number_cell(money(plan.new_money()), plan.new_money()));
    Json other = {{"provider", plan.provider},
                  {"one_year_gpus", plan.mix.one_year},
                  {"three_year_gpus", plan.mix.three_years},
                  {"total_usd", plan.cost.total},
                  {"uncommitted_usd", plan.without.total}};
    if (drawn) other["new_money_usd"] = plan.new_money();
    others.push_back(std::move(other));
  }
  report.document["providers"] = others;
  report.blocks.emplace_back(std::move(table));
}

bool commits(const CommitPlan& plan) { return plan.mix.one_year + plan.mix.three_years > 0; }

Json document_of(const CommitPlan& best, const std::string& gpu, const Usage& usage) {
  return {{"schema", "rightsize/commit/1"},
          {"provider", best.provider},
          {"gpu", gpu},
          {"usage", usage.said},
          {"one_year_gpus", best.mix.one_year},
          {"three_year_gpus", best.mix.three_years},
          {"on_demand_usd_per_gpu_hour", best.prices.on_demand},
          {"spot_usd_per_gpu_hour", report::json_number(best.prices.spot)},
          {"total_usd", best.cost.total},
          {"uncommitted_usd", best.without.total},
          {"saving_usd", best.without.total - best.cost.total},
          {"first_year_usd", best.cost.first_year},
          {"coverage", best.cost.first_year_covered},
          {"utilization", best.cost.first_year_used}};
}

std::string conclusion(const CommitPlan& best) {
  if (commits(best)) {
    const double saved = best.without.total - best.cost.total;
    return fmt::format("{} Three years then cost {} in expectation instead of {}: {} less ({:.0f} %).",
                       commitment(best), money(best.cost.total), money(best.without.total), money(saved),
                       100 * saved / best.without.total);
  }
  const bool offered = best.prices.one_year || best.prices.three_years;
  return fmt::format(
      "Commit to nothing: {} Three years cost {} in expectation.",
      offered
          ? fmt::format("demand runs too seldom for the terms of {}.", best.provider)
          : fmt::format("{} is cheapest, and no price of a commitment there is known (--one-year, --three-years give "
                        "yours).",
                        best.provider),
      money(best.cost.total));
}

std::string usage_line(const CommitPlan& best, const Usage& usage, const market::Demand& demand) {
  std::string text =
      fmt::format("Usage: {}. On-demand {}/GPU-h", usage.said, format_usd_per_hour(best.prices.on_demand));
  if (best.prices.spot && demand.interruptible > 0)
    text += fmt::format(", spot {}/GPU-h for the {:.0f} % of demand that may be interrupted",
                        format_usd_per_hour(*best.prices.spot), 100 * demand.interruptible);
  if (commits(best))
    text += fmt::format(". In the first year commitments carry {:.0f} % of demand and are {:.0f} % used",
                        100 * best.cost.first_year_covered, 100 * best.cost.first_year_used);
  return text + ".";
}

// Cheaper at a price nobody should act on.
std::string passed_over(const std::vector<CommitPlan>& plans) {
  std::vector<std::string> names;
  for (const CommitPlan& plan : plans) {
    if (plans.front().may_lead && !plan.may_lead && plan.new_money() < plans.front().new_money())
      names.push_back(plan.provider);
  }
  return names.empty() ? ""
                       : fmt::format("{} may be cheaper, but its price is over a year old or unconfirmed: ask first.",
                                     fmt::join(names, ", "));
}

}  // namespace

report::Report commit_report(const std::vector<CommitPlan>& plans, const CommitFlags& flags, const Usage& usage,
                             const market::Demand& demand, const std::vector<Future>& futures) {
  const CommitPlan& best = plans.front();
  report::Report report;
  report.title = "Commitments";
  report.document = document_of(best, flags.gpu, usage);
  const auto say = [&](std::string text) {
    if (!text.empty()) report.blocks.emplace_back(report::Paragraph{std::move(text)});
  };
  say(conclusion(best));
  say(passed_over(plans));
  say(usage_line(best, usage, demand));
  add_draws(best, report);
  add_terms(best, report);
  add_payments(best, flags.interest, report);
  if (commits(best)) add_regret(best, demand, futures, flags.ladder, report);
  add_providers(plans, report);
  say(
      fmt::format("{}Weights of the futures are judgements: --future replaces them. Commitments cannot be given back; "
                  "one-year ones of later years are bought when the future is known.",
                  best.sources.empty() ? "" : fmt::format("Prices: {}. ", fmt::join(best.sources, "; "))));
  return report;
}

}  // namespace rightsize::app
