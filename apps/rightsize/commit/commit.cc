// rightsize commit: how much capacity to commit to, for how long, and what that risks.
#include <algorithm>
#include <cmath>
#include <memory>
#include <set>

#include <fmt/format.h>

#include "base/format.h"
#include "base/parse_units.h"
#include "base/text.h"
#include "catalog/places.h"
#include "market/payment.h"
#include "rightsize/commit/usage.h"
#include "rightsize/input/named_gpu.h"
#include "rightsize/input/price_flag.h"

namespace rightsize::app {
namespace {

constexpr const char* kOwnPrices = "yours";  // in the place of a provider

using catalog::Purchase;
using market::CommitmentMix;
using market::CommitmentPlanner;
using market::CommitmentPrices;
using market::Future;
using market::Payment;
using report::Align;
using report::Json;

struct Flags {
  std::string usage, base, gpu, provider, region, catalog;
  std::string on_demand, spot, one_year, three_years;
  std::vector<std::string> futures;
  double spot_share = 0;
  double growth = 0, interest = 0.08;
  int step = 1, ladder = 4;
  bool community = false;
};

// A plan at one provider.
struct Plan {
  std::string provider;
  CommitmentPrices prices;                     // as if paid by the month
  std::vector<Payment> one_year, three_years;  // the ways to pay for them
  std::vector<std::string> sources;            // of each price, for the report
  CommitmentMix mix;
  market::MixCost cost, without;                // with the mix; all on demand and spot
  std::optional<market::Offer> on_demand = {};  // whose price it is
  std::vector<market::Draw> draws = {};         // of the mix's cost, from what is committed already

  double new_money() const { return cost.total - in_usd(market::sum_of(draws)); }
};

// What may happen. The weights are judgements and printed as such; --future replaces them.
std::vector<Future> default_futures() {
  return {{"as now", 0.5, {1, 1, 1}, {1, 1, 1}},
          {"demand falls by 20 %", 0.2, {1, 0.8, 0.8}, {1, 1, 1}},
          {"demand falls by half", 0.1, {1, 0.5, 0.5}, {1, 1, 1}},
          {"list prices fall by 44 %, as p5 did in June 2025", 0.2, {1, 1, 1}, {1, 0.56, 0.56}}};
}

// "slow year,weight=0.3,demand=1/0.7/0.7,prices=1/0.8/0.8"
Result<Future> parse_future(const std::string& text) {
  Future future;
  const auto wrong = [&](const std::string& why) {
    return bad_input(fmt::format("--future '{}': {}", text, why))
        .with_hint("for example --future 'slow,weight=0.3,demand=1/0.7/0.7,prices=1/0.8/0.8'");
  };
  for (std::string_view part : split_list(text, ',')) {
    const std::size_t equals = part.find('=');
    if (equals == std::string_view::npos) {
      future.name = part;
      continue;
    }
    const std::string_view key = part.substr(0, equals), rest = part.substr(equals + 1);
    std::vector<double> numbers;
    for (std::string_view word : split_list(rest, '/')) {
      const Result<double> number = parse_number(word);
      if (!number || *number < 0) return fail(wrong(fmt::format("'{}' is not a number from 0 up", word)));
      numbers.push_back(*number);
    }
    if (key == "weight" && numbers.size() == 1) {
      future.probability = numbers[0];
    } else if ((key == "demand" || key == "prices") && numbers.size() == market::kPlanYears) {
      std::copy(numbers.begin(), numbers.end(), key == "demand" ? future.demand : future.prices);
    } else {
      return fail(wrong("weight is one number, demand and prices one for each of three years"));
    }
  }
  if (future.name.empty()) return fail(wrong("a name comes first"));
  return future;
}

Result<std::optional<double>> own_price(const std::string& flag, const std::string& text) {
  if (text.empty()) return std::optional<double>{};
  const Result<double> bare = parse_number(text);
  const Result<UsdPerGpuSecond> rate = parse_usd_per_gpu_hour(text);
  if (!bare && !rate) return fail(bad_input(fmt::format("{} '{}': dollars per GPU-hour expected", flag, text)));
  const double usd = bare ? *bare : in_usd_per_gpu_hour(*rate);
  if (usd <= 0) return fail(bad_input(fmt::format("{} '{}': a price must be above zero", flag, text)));
  return std::optional(usd);
}

// "2.60", or "2.60,half=2.52,all=2.40": by the month, half of it upfront, all of it upfront.
Result<std::vector<Payment>> own_payments(const std::string& flag, const std::string& text) {
  std::vector<Payment> payments;
  for (std::string_view part : split_list(text, ',')) {
    const std::size_t equals = part.find('=');
    const std::string_view name = equals == std::string_view::npos ? "" : part.substr(0, equals);
    if (!name.empty() && name != "half" && name != "all") {
      return fail(bad_input(fmt::format("{} '{}': '{}' is no way to pay", flag, text, name))
                      .with_hint(fmt::format(
                          "for example {} 2.60,half=2.52,all=2.40: monthly, half upfront, all upfront", flag)));
    }
    RIGHTSIZE_TRY(const std::optional<double> price,
                  own_price(flag, std::string(equals == std::string_view::npos ? part : part.substr(equals + 1))));
    if (!price) return fail(bad_input(fmt::format("{} '{}': a price is missing", flag, text)));
    payments.push_back({name.empty() ? "monthly" : std::string(name) + " upfront",
                        name.empty()     ? 0.0
                        : name == "half" ? 0.5
                                         : 1.0,
                        *price});
  }
  return payments;
}

// The cheapest offer of each term at one provider, as it will likely cost.
Plan prices_at(const market::PriceBook& book, const catalog::Gpu& gpu, const std::string& provider,
               const std::vector<std::string>& regions, const Flags& flags) {
  Plan plan;
  plan.provider = provider;
  market::OfferFilter filter;
  filter.providers = {provider};
  filter.gpus = {gpu.name};
  filter.community = flags.community;
  filter.regions = regions;
  for (const Purchase purchase : {Purchase::kOnDemand, Purchase::kSpot, Purchase::kOneYear, Purchase::kThreeYears}) {
    filter.purchases = {purchase};
    const std::optional<market::Offer> offer = book.cheapest_offer(gpu.name, filter);
    if (!offer) continue;
    const market::PriceOutlook outlook = book.outlook(*offer, kMonth);
    const double usd = in_usd_per_machine_hour(outlook.likely) / offer->machine->gpus;
    if (purchase == Purchase::kOnDemand) plan.prices.on_demand = usd, plan.on_demand = offer;
    if (purchase == Purchase::kSpot) plan.prices.spot = usd;
    if (purchase == Purchase::kOneYear) plan.one_year = {{"monthly", 0, usd}};
    if (purchase == Purchase::kThreeYears) plan.three_years = {{"monthly", 0, usd}};
    plan.sources.push_back(market::describe(*offer));
  }
  return plan;
}

Result<std::vector<Plan>> candidates(const Flags& flags, const market::PriceBook& book, const catalog::Gpu* gpu) {
  RIGHTSIZE_TRY(const std::optional<double> on_demand, own_price("--on-demand", flags.on_demand));
  RIGHTSIZE_TRY(const std::optional<double> spot, own_price("--spot", flags.spot));
  RIGHTSIZE_TRY(const std::vector<Payment> one, own_payments("--one-year", flags.one_year));
  RIGHTSIZE_TRY(const std::vector<Payment> three, own_payments("--three-years", flags.three_years));
  std::vector<Plan> plans;
  if (gpu != nullptr) {
    std::vector<std::string> providers;
    std::set<std::string> known, known_regions;
    for (const catalog::Price& price : book.catalog().prices) known.insert(price.provider);
    RIGHTSIZE_TRY(providers, catalog::match_providers(flags.provider, known));
    for (const catalog::Price& price : book.catalog().prices) known_regions.insert(price.region);
    RIGHTSIZE_TRY(const std::vector<std::string> regions, catalog::match_regions(flags.region, known_regions));
    if (providers.empty()) {
      for (const market::Offer& offer : book.offers({.gpus = {gpu->name}}))
        providers.push_back(offer.machine->provider);
      std::sort(providers.begin(), providers.end());
      providers.erase(std::unique(providers.begin(), providers.end()), providers.end());
    }
    for (const std::string& provider : providers) plans.push_back(prices_at(book, *gpu, provider, regions, flags));
  } else {
    plans.emplace_back().provider = kOwnPrices;
  }
  for (Plan& plan : plans) {
    if (on_demand) plan.prices.on_demand = *on_demand;
    if (spot) plan.prices.spot = spot;
    if (!one.empty()) plan.one_year = one;
    if (!three.empty()) plan.three_years = three;
    const auto monthly = [&](const std::vector<Payment>& ways, int years) {
      return ways.empty()
                 ? std::optional<double>()
                 : market::paid_monthly(market::cheapest_payment(ways, years, flags.interest), years, flags.interest);
    };
    plan.prices.one_year = monthly(plan.one_year, 1);
    plan.prices.three_years = monthly(plan.three_years, market::kPlanYears);
  }
  std::erase_if(plans, [](const Plan& plan) { return plan.prices.on_demand <= 0; });
  return plans;
}

void decide(Plan& plan, const market::Demand& demand, const std::vector<Future>& futures, int step) {
  const CommitmentPlanner planner(demand, plan.prices, futures);
  const CommitmentMix exact = planner.best();
  // What is sold is whole GPUs or machines: of the roundings, the cheapest.
  plan.mix = {};
  plan.without = planner.cost({});
  plan.cost = plan.without;
  for (const double one : {0.0, std::floor(exact.one_year / step) * step, std::ceil(exact.one_year / step) * step}) {
    for (const double three :
         {0.0, std::floor(exact.three_years / step) * step, std::ceil(exact.three_years / step) * step}) {
      const market::MixCost cost = planner.cost({one, three});
      if (cost.total >= plan.cost.total * (1 - 1e-12)) continue;
      plan.cost = cost;
      plan.mix = {one, three};
    }
  }
}

// Every dollar spent there counts towards a commitment to spend, whatever it buys.
void draw(const market::PriceBook& book, Plan& plan) {
  if (plan.on_demand)
    plan.draws =
        book.committed().draws(*plan.on_demand, usd(plan.cost.total), kYear * double{market::kPlanYears}, false);
}

Json price_json(const std::optional<double>& price) { return report::json_number(price); }

std::string money(double dollars) { return format_usd(usd(dollars)); }

std::string from(const Plan& plan) {
  return plan.provider == kOwnPrices ? std::string("at your prices") : "from " + plan.provider;
}

// "Commit to 8 GPUs for three years from gcp."
std::string commitment(const Plan& plan) {
  const auto term = [](double gpus, const char* length) {
    return fmt::format("{:g} GPU{} for {}", gpus, gpus == 1 ? "" : "s", length);
  };
  std::string terms;
  if (plan.mix.one_year > 0) terms = term(plan.mix.one_year, "one year");
  if (plan.mix.three_years > 0) terms += (terms.empty() ? "" : " and ") + term(plan.mix.three_years, "three years");
  return fmt::format("Commit to {} {}.", terms, from(plan));
}

void add_draws(const Plan& plan, report::Report& report) {
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

void add_terms(const Plan& plan, report::Report& report) {
  report::Table table;
  table.title = fmt::format("What to buy now, {}", from(plan));
  table.columns = {{"term", "term", Align::kLeft},
                   {"GPUs", "gpus", Align::kRight},
                   {"$/GPU-h", "usd_per_gpu_hour", Align::kRight},
                   {"break-even use", "break_even_utilization", Align::kRight},
                   {"$ a year", "usd_per_year", Align::kRight},
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
void add_payments(const Plan& plan, double interest, report::Report& report) {
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

void add_regret(const Plan& plan, const market::Demand& demand, const std::vector<Future>& futures, int ladder,
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

Outcome report_of(const std::vector<Plan>& plans, const Flags& flags, const Usage& usage, const market::Demand& demand,
                  const std::vector<Future>& futures) {
  const Plan& best = plans.front();
  Outcome outcome;
  report::Report& report = outcome.report;
  report.title = "Commitments";
  const double saved = best.without.total - best.cost.total;
  const bool none = best.mix.one_year + best.mix.three_years <= 0;
  report.document = {{"schema", "rightsize/commit/1"},
                     {"provider", best.provider},
                     {"gpu", flags.gpu},
                     {"usage", usage.said},
                     {"one_year_gpus", best.mix.one_year},
                     {"three_year_gpus", best.mix.three_years},
                     {"on_demand_usd_per_gpu_hour", best.prices.on_demand},
                     {"spot_usd_per_gpu_hour", price_json(best.prices.spot)},
                     {"total_usd", best.cost.total},
                     {"uncommitted_usd", best.without.total},
                     {"saving_usd", saved},
                     {"first_year_usd", best.cost.first_year},
                     {"coverage", best.cost.first_year_covered},
                     {"utilization", best.cost.first_year_used}};
  const bool offered = best.prices.one_year || best.prices.three_years;
  const std::string nothing =
      offered ? fmt::format("Commit to nothing: demand runs too seldom for the terms of {}.", best.provider)
              : fmt::format(
                    "Commit to nothing: {} is cheapest, and no price of a commitment there is known "
                    "(--one-year, --three-years give yours).",
                    best.provider);
  report.blocks.emplace_back(report::Paragraph{
      none ? fmt::format("{} Three years cost {} in expectation.", nothing, money(best.cost.total))
           : fmt::format("{} Three years then cost {} in expectation instead of {}: {} less ({:.0f} %).",
                         commitment(best), money(best.cost.total), money(best.without.total), money(saved),
                         100 * saved / best.without.total)});
  report.blocks.emplace_back(report::Paragraph{
      fmt::format("Usage: {}. On-demand {}/GPU-h{}.{}", usage.said, format_usd_per_hour(best.prices.on_demand),
                  best.prices.spot && demand.interruptible > 0
                      ? fmt::format(", spot {}/GPU-h for the {:.0f} % of demand that may be interrupted",
                                    format_usd_per_hour(*best.prices.spot), 100 * demand.interruptible)
                      : "",
                  none ? ""
                       : fmt::format(" In the first year commitments carry {:.0f} % of demand and are {:.0f} % used.",
                                     100 * best.cost.first_year_covered, 100 * best.cost.first_year_used))});
  add_draws(best, report);
  add_terms(best, report);
  add_payments(best, flags.interest, report);
  if (!none) add_regret(best, demand, futures, flags.ladder, report);
  if (plans.size() > 1) {
    report::Table table;
    table.title = "Other providers";
    table.columns = {{"provider", "provider", Align::kLeft},
                     {"1y", "one_year_gpus", Align::kRight},
                     {"3y", "three_year_gpus", Align::kRight},
                     {"three years", "total_usd", Align::kRight},
                     {"nothing committed", "uncommitted_usd", Align::kRight}};
    const bool drawn = std::any_of(plans.begin(), plans.end(), [](const Plan& p) { return !p.draws.empty(); });
    if (drawn) table.columns.push_back({"new money", "new_money_usd", Align::kRight});
    Json others = Json::array();
    for (const Plan& plan : plans) {
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
  std::string sources;
  for (const std::string& source : best.sources) sources += (sources.empty() ? "" : "; ") + source;
  report.blocks.emplace_back(
      report::Paragraph{fmt::format("{}Weights of the futures are judgements: --future replaces them. Commitments "
                                    "cannot be given back; one-year ones "
                                    "of later years are bought when the future is known.",
                                    sources.empty() ? "" : "Prices: " + sources + ". ")});
  return outcome;
}

Checked<Outcome> run(const Flags& flags) {
  if (flags.usage.empty() == flags.base.empty()) {
    return fail(bad_input("say what runs: --usage FILE or --base GPUS")
                    .with_hint("a CSV with a column gpus, the JSON of 'rightsize fleet', or --base 8"));
  }
  Usage usage;
  if (!flags.usage.empty()) {
    RIGHTSIZE_TRY(usage, read_usage(flags.usage));
  } else {
    RIGHTSIZE_TRY(usage, parse_base(flags.base));
  }
  if (!(flags.interest >= 0 && flags.interest <= 1))
    return fail(bad_input("--interest is between 0 and 1, 0.08 for 8 %"));
  if (flags.spot_share < 0 || flags.spot_share > 1) return fail(bad_input("--spot-share is between 0 and 1"));
  if (flags.gpu.empty() && flags.on_demand.empty()) {
    return fail(bad_input("say which GPU: --gpu h100-sxm, or give the prices: --on-demand, --one-year ..."));
  }
  std::vector<Future> futures;
  for (const std::string& text : flags.futures) {
    RIGHTSIZE_TRY(Future future, parse_future(text));
    futures.push_back(std::move(future));
  }
  if (futures.empty()) futures = default_futures();
  for (Future& future : futures) {
    for (int year = 1; year < market::kPlanYears; ++year) future.demand[year] *= std::pow(1 + flags.growth, year);
  }
  RIGHTSIZE_TRY(const catalog::Catalog catalog, open_catalog(flags.catalog));
  const market::PriceBook book(catalog);
  const catalog::Gpu* gpu = nullptr;
  if (!flags.gpu.empty()) {
    RIGHTSIZE_TRY(gpu, named_gpu(catalog, flags.gpu));
  }
  RIGHTSIZE_TRY(std::vector<Plan> plans, candidates(flags, book, gpu));
  if (plans.empty()) {
    Outcome outcome;
    outcome.report.title = "Commitments";
    outcome.report.document = {{"schema", "rightsize/commit/1"}};
    outcome.report.blocks.emplace_back(report::Paragraph{"No provider has an on-demand price for this GPU."});
    outcome.exit_code = kNoFeasibleAnswer;
    return outcome;
  }
  const market::Demand demand{usage.gpus, flags.spot_share};
  for (Plan& plan : plans) decide(plan, demand, futures, flags.step), draw(book, plan);
  std::stable_sort(plans.begin(), plans.end(),
                   [](const Plan& a, const Plan& b) { return a.new_money() < b.new_money(); });
  return report_of(plans, flags, usage, demand, futures);
}

}  // namespace

Run add_commit(FlagSet& command) {
  auto flags = std::make_shared<Flags>();
  command.add_option("--usage", flags->usage,
                     "GPUs in use over time: CSV with a column gpus, or gpu_hours by hour or date; or 'fleet' JSON");
  command.add_option("--base", flags->base, "a stated base instead: 8, or 8,peak=20,share=0.3");
  command.add_option("--gpu", flags->gpu, "which GPU, for its prices");
  command.add_option("--provider", flags->provider,
                     "providers to compare, comma-separated (default: all that have it)");
  command.add_option("--region", flags->region, "only prices of this region");
  command.add_option("--on-demand", flags->on_demand, "your on-demand price, $/GPU-h");
  command.add_option("--spot", flags->spot, "your spot price, $/GPU-h");
  command.add_option("--one-year", flags->one_year,
                     "your one-year price, $/GPU-h; 2.60,half=2.52,all=2.40 where paying upfront costs less");
  command.add_option("--three-years", flags->three_years, "your three-year price, likewise");
  command.add_option("--interest", flags->interest, "what money costs a year, 0.08 for 8 %, to compare payments")
      ->default_str("0.08");
  command.add_option("--spot-share", flags->spot_share, "share of demand that may be interrupted, 0-1")
      ->default_str("0");
  command.add_option("--growth", flags->growth, "demand grows by this share a year, 0.2 for 20 %")->default_str("0");
  command
      .add_option("--future", flags->futures,
                  "how it may go: NAME,weight=0.3,demand=1/0.7/0.7,prices=1/0.8/0.8 by year; may be repeated")
      ->one_value_each();
  command.add_option("--step", flags->step, "commitments are bought in so many GPUs")->default_str("1")->range(1, 1024);
  command.add_option("--ladder", flags->ladder, "parts over a year to compare with buying at once")
      ->default_str("4")
      ->range(2, 52);
  command.add_flag("--community", flags->community, "also marketplaces that resell the machines of others");
  add_catalog_flag(command, flags->catalog);
  return [flags] { return run(*flags); };
}

}  // namespace rightsize::app
