#include "rightsize/commit/input.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <map>
#include <numeric>
#include <tuple>

#include <fmt/format.h>

#include "base/csv.h"
#include "base/file.h"
#include "base/located_json.h"
#include "base/parse_units.h"
#include "base/text.h"
#include "catalog/words.h"
#include "rightsize/input/price_flag.h"
#include "settings/setting.h"

namespace rightsize::app {
namespace {

using catalog::Purchase;
using market::Future;
using market::Payment;

// The weights of these scenarios are our judgement, as the report states; --future replaces the scenarios.
std::vector<Future> default_futures() {
  return {{"as now", 0.5, {1, 1, 1}, {1, 1, 1}},
          {"demand falls by 20 %", 0.2, {1, 0.8, 0.8}, {1, 1, 1}},
          {"demand falls by half", 0.1, {1, 0.5, 0.5}, {1, 1, 1}},
          {"list prices fall by 44 %, as p5 did in June 2025", 0.2, {1, 1, 1}, {1, 0.56, 0.56}}};
}

// "slow year,weight=0.3,demand=1/0.7/0.7,prices=1/0.8/0.8"
Result<Future> parse_future(const std::string& text) {
  constexpr double kLargestFactor = 1000;
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
      if (!number || !(*number >= 0 && *number <= kLargestFactor))
        return fail(wrong(fmt::format("'{}' must be a number between 0 and 1,000", word)));
      numbers.push_back(*number);
    }
    if (key == "weight" && numbers.size() == 1) {
      future.probability = numbers[0];
    } else if ((key == "demand" || key == "prices") && numbers.size() == market::kPlanYears) {
      std::copy(numbers.begin(), numbers.end(), key == "demand" ? future.demand : future.prices);
    } else {
      return fail(wrong("give weight one number, demand and prices one number per year"));
    }
  }
  if (future.name.empty()) return fail(wrong("the name comes first"));
  return future;
}

// "2.60", or "2.60,half=2.52,all=2.40": paid monthly, half upfront, all upfront. "30%": 30 % below on-demand.
Result<std::vector<Payment>> own_payments(const std::string& flag, const std::string& text, double on_demand) {
  std::vector<Payment> payments;
  for (std::string_view part : split_list(text, ',')) {
    const std::size_t equals = part.find('=');
    const std::string_view name = equals == std::string_view::npos ? "" : part.substr(0, equals);
    if (!name.empty() && name != "half" && name != "all") {
      return fail(bad_input(fmt::format("{} '{}': unknown payment '{}'", flag, text, name))
                      .with_hint(fmt::format(
                          "for example {} 2.60,half=2.52,all=2.40: monthly, half upfront, all upfront", flag)));
    }
    std::string_view amount = equals == std::string_view::npos ? part : part.substr(equals + 1);
    for (const std::string_view word : {"off", "discount", "less", "cheaper"})  // "30% off"
      if (to_lower(amount).ends_with(word)) amount = trim(amount.substr(0, amount.size() - word.size()));
    const bool discount = amount.ends_with('%');
    RIGHTSIZE_TRY(const settings::Value price,
                  settings::read(settings::get(discount ? "discount" : "on-demand"), amount, flag));
    payments.push_back({name.empty() ? "monthly" : std::string(name) + " upfront",
                        name.empty()     ? 0.0
                        : name == "half" ? 0.5
                                         : 1.0,
                        discount ? on_demand * (1 - price.number) : price.number});
  }
  return payments;
}

double mean_of(const std::vector<double>& values) {
  return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

std::string gpus_words(double gpus) { return fmt::format("{:.4g} GPU{}", gpus, gpus == 1 ? "" : "s"); }

Checked<DemandHistory> read_table(const std::string& path, std::string text) {
  RIGHTSIZE_TRY(const Csv csv, Csv::parse(path, std::move(text)));
  const bool in_use = csv.column("gpus").has_value(), daily = csv.column("date").has_value();
  if (!in_use && !csv.column("gpu_hours")) {
    return fail(Errors(bad_input("a column gpus or gpu_hours is missing")
                           .at(csv.header_place(0))
                           .with_hint("one row per step: gpus in use, or gpu_hours of an hour or a date")));
  }
  DemandHistory usage;
  Errors errors;
  for (const CsvRow& row : csv.rows()) {
    const char* column = in_use ? "gpus" : "gpu_hours";
    Result<double> value = parse_number(csv.cell(row, column));
    if (value && *value < 0) value = fail(bad_input("GPUs in use cannot be negative"));
    if (value) {
      usage.gpus.push_back(*value / (in_use || !daily ? 1 : 24));
    } else {
      errors.push_back(std::move(value).error().at(csv.place(row, column)));
    }
  }
  if (errors.empty() && usage.gpus.empty()) errors.push_back(bad_input(path + ": no rows"));
  if (!errors.empty()) return fail(std::move(errors));
  usage.source = fmt::format("{} ({} {}, {} on average)", path, usage.gpus.size(), daily && !in_use ? "days" : "steps",
                             gpus_words(mean_of(usage.gpus)));
  return usage;
}

Checked<DemandHistory> read_fleet(const std::string& path, std::string text) {
  RIGHTSIZE_TRY(const LocatedJson json, LocatedJson::parse(path, std::move(text)));
  const auto number = [](const JsonValue& object, const char* name) -> std::optional<double> {
    const JsonMember* member = object.find(name);
    if (member == nullptr || member->value.type != JsonType::kNumber) return std::nullopt;
    return member->value.number;
  };
  const JsonMember* totals = json.root().find("totals");
  const std::optional<double> used = totals == nullptr ? std::nullopt : number(totals->value, "gpu_hours");
  const std::optional<double> window = totals == nullptr ? std::nullopt : number(totals->value, "window_seconds");
  if (!used || !window || *window <= 0)
    return fail(Errors(bad_input(path + ": no totals with gpu_hours and window_seconds, as 'rightsize fleet' writes")));
  const double gpus = *used / in_hours(seconds(*window));
  return DemandHistory{
      {gpus},
      fmt::format("{} ({} on average; its hours are unknown, so demand is assumed even)", path, gpus_words(gpus))};
}

// A CSV with a column gpus (in use, one row per step), or gpu_hours with one row per `hour` or `date`; or the JSON of
// `rightsize fleet`, with its GPU-hours spread evenly over the window.
Checked<DemandHistory> read_usage(const std::string& path) {
  RIGHTSIZE_TRY(std::string text, read_file(path));
  return trim(text).starts_with('{') ? read_fleet(path, std::move(text)) : read_table(path, std::move(text));
}

// "8": eight all the time. "8,peak=20,share=0.3": twenty during 30 % of the time.
Result<DemandHistory> parse_base(const std::string& text) {
  constexpr double kMostGpus = 1e6;
  double base = -1, peak = 0, share = 0;
  for (std::string_view part : split_list(text, ',')) {
    double* into = &base;
    if (part.starts_with("peak=")) into = &peak;
    if (part.starts_with("share=")) into = &share;
    const std::size_t equals = part.find('=');
    const Result<double> value = parse_number(equals == std::string_view::npos ? part : part.substr(equals + 1));
    const bool known = equals == std::string_view::npos || into != &base;
    if (!value || *value < 0 || !known)
      return fail(bad_input(fmt::format("--base '{}': GPUs expected", text))
                      .with_hint("for example --base 8, or --base 8,peak=20,share=0.3"));
    *into = *value;
  }
  if (base < 0 || share > 1) return fail(bad_input(fmt::format("--base '{}': GPUs expected", text)));
  if (std::max(base, peak) > kMostGpus)
    return fail(bad_input(fmt::format("--base '{}': the number of GPUs must be between 0 and 1,000,000", text)));
  constexpr int kSteps = 1000;
  DemandHistory usage;
  const int high = peak > 0 ? static_cast<int>(std::lround(share * kSteps)) : 0;
  for (int i = 0; i < kSteps; ++i) usage.gpus.push_back(i < high ? peak : base);
  const std::string often = fmt::format("{} for {:.0f} % of the time", gpus_words(peak), 100 * share);
  usage.source = high == 0   ? gpus_words(base) + " stated"
                 : base == 0 ? often
                             : fmt::format("{}, {:g} for the rest", often, base);
  return usage;
}

// The likely prices of each machine and region of one provider. Regions with the same prices are listed once.
std::vector<CommitPlan> prices_at(const market::PriceBook& book, const catalog::Gpu& gpu, const std::string& provider,
                                  const std::vector<std::string>& regions, const std::vector<Purchase>& purchases,
                                  const CommitFlags& flags) {
  market::OfferFilter filter;
  filter.providers = {provider};
  filter.gpus = {gpu.name};
  filter.community = flags.community;
  filter.regions = regions;
  filter.purchases = purchases;
  struct Term {
    market::Offer offer;
    market::PriceOutlook outlook;
    auto rank() const { return std::pair(!outlook.may_lead(), outlook.likely); }
  };
  std::map<std::pair<std::string, std::string>, std::map<Purchase, Term>> places;  // instance, region
  for (const market::Offer& offer : book.offers(filter)) {
    if (offer.price->available || offer.price->purchase == Purchase::kBlock) continue;
    auto& terms = places[{offer.machine->instance, offer.price->region}];
    const Term term{offer, book.outlook(offer, kMonth)};
    const auto [at, is_new] = terms.try_emplace(offer.price->purchase, term);
    if (!is_new && term.rank() < at->second.rank()) at->second = term;
  }
  std::map<std::tuple<bool, double, double, double, double, int>, CommitPlan> plans;
  for (const auto& [place, terms] : places) {
    CommitPlan plan;
    plan.provider = provider;
    plan.instance = place.first, plan.region = place.second;
    double usd[4] = {0, 0, 0, 0};
    for (const auto& [purchase, term] : terms) {
      const double price = in_usd_per_machine_hour(term.outlook.likely) / term.offer.machine->gpus;
      usd[static_cast<int>(purchase)] = price;
      plan.machine_gpus = term.offer.machine->gpus;
      if (purchase == Purchase::kOnDemand) {
        plan.prices.on_demand = price, plan.on_demand = term.offer;
        plan.may_lead = term.outlook.may_lead();
      }
      if (purchase == Purchase::kSpot) plan.prices.spot = price;
      if (purchase == Purchase::kOneYear) plan.one_year = {{"monthly", 0, price}};
      if (purchase == Purchase::kThreeYears) plan.three_years = {{"monthly", 0, price}};
      plan.sources.push_back(market::describe(term.offer));
    }
    plans.try_emplace({!plan.may_lead, usd[0], usd[1], usd[2], usd[3], plan.machine_gpus}, std::move(plan));
  }
  std::vector<CommitPlan> found;
  for (auto& [prices, plan] : plans) found.push_back(std::move(plan));
  return found;
}

}  // namespace

Result<> check(const CommitFlags& flags) {
  if (flags.usage.empty() == flags.base.empty())
    return fail(bad_input("give the demand: --usage FILE or --base GPUS")
                    .with_hint("a CSV with a column gpus, the JSON of 'rightsize fleet', or --base 8"));
  if (flags.gpu.empty() && !flags.on_demand)
    return fail(bad_input("give the GPU (--gpu h100-sxm) or the prices (--on-demand, --one-year ...)"));
  return {};
}

Checked<DemandHistory> usage_of(const CommitFlags& flags) {
  constexpr int kHoursOfADay = 24;
  const bool count = parse_number(flags.usage).has_value();  // --usage 16: GPUs, not a file
  if (!flags.usage.empty() && !count) {
    if (flags.hours_per_day < kHoursOfADay)
      return fail(bad_input(fmt::format("{} has the hours: leave out --hours-per-day", flags.usage)));
    if (flags.busy_share) return fail(bad_input(fmt::format("{} has the use: leave out --utilization", flags.usage)));
    return read_usage(flags.usage);
  }
  RIGHTSIZE_TRY(DemandHistory usage, parse_base(count ? flags.usage : flags.base));
  const auto idle_after = [&](int busy_parts, int parts) {
    const std::vector<double> busy = usage.gpus;
    for (int part = 1; part < parts; ++part) {
      for (const double gpus : busy) usage.gpus.push_back(part < busy_parts ? gpus : 0);
    }
  };
  if (flags.hours_per_day < kHoursOfADay) {
    idle_after(flags.hours_per_day, kHoursOfADay);
    usage.source += fmt::format(", {} hours per day", flags.hours_per_day);
  }
  if (flags.busy_share) {
    constexpr int kPercents = 100;
    idle_after(std::max(1, static_cast<int>(std::lround(*flags.busy_share * kPercents))), kPercents);
    usage.source += fmt::format(", {:.0f} % of the time", *flags.busy_share * kPercents);
  }
  return usage;
}

CommitFlags with_terms(CommitFlags flags) {
  const Result<std::vector<Purchase>> purchases = catalog::read_purchases(flags.purchase);
  const auto asks = [&](Purchase term) {
    return purchases && std::find(purchases->begin(), purchases->end(), term) != purchases->end();
  };
  const bool only_one_year = asks(Purchase::kOneYear) && !asks(Purchase::kThreeYears);
  flags.years = flags.term_years == "1" || (flags.term_years.empty() && only_one_year) ? 1 : market::kPlanYears;
  if (!flags.discount) return flags;
  const bool three = asks(Purchase::kThreeYears) || flags.term_years == "3";
  std::string& price = three ? flags.three_years : flags.one_year;
  if (price.empty()) price = fmt::format("{}%", 100 * *flags.discount);
  return flags;
}

Result<std::vector<Future>> futures_of(const CommitFlags& flags) {
  std::vector<Future> futures;
  for (const std::string& text : flags.futures) {
    RIGHTSIZE_TRY(Future future, parse_future(text));
    futures.push_back(std::move(future));
  }
  if (futures.empty()) futures = default_futures();
  if (std::ranges::all_of(futures, [](const Future& f) { return f.probability == 0; }))
    return fail(bad_input("--future: at least one weight must be greater than 0"));
  for (Future& future : futures) {
    for (int year = 1; year < market::kPlanYears; ++year) future.demand[year] *= std::pow(1 + flags.growth, year);
  }
  return futures;
}

Result<std::vector<CommitPlan>> candidates(const CommitFlags& flags, const market::PriceBook& book,
                                           const catalog::Gpu* gpu) {
  std::vector<CommitPlan> plans;
  // If the user gives both on-demand and term prices, there is no provider's price to compare.
  const bool own = flags.on_demand && !(flags.one_year.empty() && flags.three_years.empty());
  if (gpu != nullptr && !own) {
    RIGHTSIZE_TRY(std::vector<std::string> providers,
                  catalog::match_providers(flags.provider, catalog::known_providers(book.catalog())));
    RIGHTSIZE_TRY(const std::vector<std::string> regions,
                  catalog::match_regions(flags.region, catalog::known_regions(book.catalog())));
    RIGHTSIZE_TRY(std::vector<Purchase> purchases, catalog::read_purchases(flags.purchase));
    if (!purchases.empty()) purchases.push_back(Purchase::kOnDemand);  // the baseline for commitments
    if (providers.empty()) {
      for (const market::Offer& offer : book.offers({.gpus = {gpu->name}}))
        providers.push_back(offer.machine->provider);
      std::ranges::sort(providers);
      providers.erase(std::unique(providers.begin(), providers.end()), providers.end());
    }
    for (const std::string& provider : providers) {
      std::vector<CommitPlan> here = prices_at(book, *gpu, provider, regions, purchases, flags);
      std::move(here.begin(), here.end(), std::back_inserter(plans));
    }
  } else {
    plans.emplace_back().provider = kOwnPrices;
  }
  for (CommitPlan& plan : plans) {
    if (flags.on_demand) plan.prices.on_demand = *flags.on_demand, plan.may_lead = true;
    if (flags.spot) plan.prices.spot = flags.spot;
    if (!flags.one_year.empty()) {
      RIGHTSIZE_TRY(plan.one_year, own_payments("--one-year", flags.one_year, plan.prices.on_demand));
    }
    if (!flags.three_years.empty()) {
      RIGHTSIZE_TRY(plan.three_years, own_payments("--three-years", flags.three_years, plan.prices.on_demand));
    }
    if (flags.years == 1) plan.three_years.clear();
    plan.years = flags.years;
    const auto monthly = [&](const std::vector<Payment>& ways, int years) {
      return ways.empty()
                 ? std::optional<double>()
                 : market::paid_monthly(market::cheapest_payment(ways, years, flags.interest), years, flags.interest);
    };
    plan.prices.one_year = monthly(plan.one_year, 1);
    plan.prices.three_years = monthly(plan.three_years, market::kPlanYears);
  }
  std::erase_if(plans, [](const CommitPlan& plan) { return plan.prices.on_demand <= 0; });
  return plans;
}

void add_commit_flags(FlagSet& command, CommitFlags& flags) {
  command.add("usage", flags.usage)->argument("file");
  command.add("base", flags.base);
  command.add("hours-per-day", flags.hours_per_day)->meaning("hours per day in which the GPUs of --base are in use");
  command.add("busy-share", flags.busy_share)
      ->called("utilization")
      ->meaning("share of the time in which the GPUs of --base are in use");
  command.add("gpu", flags.gpu)->meaning("the GPU, for its prices");
  command.add("provider", flags.provider);
  command.add("region", flags.region);
  command.add("purchase", flags.purchase)->meaning("terms to consider in addition to on-demand: spot, 1y, 3y");
  command.add("on-demand", flags.on_demand);
  command.add("spot", flags.spot);
  command.add("one-year", flags.one_year);
  command.add("three-years", flags.three_years);
  // "30%", or "1y=30%,3y=50%".
  command.add_unchecked("discount", [&flags](const std::string& text) -> Result<> {
    if (text.find('=') == std::string::npos) {
      RIGHTSIZE_TRY(const settings::Value value, settings::read(settings::get("discount"), text));
      flags.discount = value.number;
      return {};
    }
    for (const std::string_view part : split_list(text, ',')) {
      const std::size_t equals = part.find('=');
      const std::string_view term = trim(part.substr(0, equals));
      const bool one = term.starts_with('1');
      if (equals == std::string_view::npos || (!one && !term.starts_with('3')))
        return fail(bad_input(fmt::format("--discount '{}': the terms are 1y and 3y", text))
                        .with_hint("for example --discount 1y=30%,3y=50%"));
      RIGHTSIZE_TRY(const settings::Value value,
                    settings::read(settings::get("discount"), trim(part.substr(equals + 1))));
      (one ? flags.one_year : flags.three_years) = fmt::format("{}%", 100 * value.number);
    }
    return {};
  });
  command.add("years", flags.term_years)->or_words("1 with --purchase 1y, else 3");
  command.add("interest", flags.interest);
  command.add("spot-share", flags.spot_share);
  command.add("growth", flags.growth);
  command.add("future", flags.futures)->single_words();
  command.add("increment", flags.step);
  command.add("ladder", flags.ladder);
  command.add("community", flags.community);
  add_catalog_flag(command, flags.catalog);
}

}  // namespace rightsize::app
