// rightsize prices compare: the same GPU across providers and terms, with network and egress.
#include <algorithm>
#include <functional>
#include <map>

#include <fmt/format.h>

#include "base/csv.h"
#include "base/embedded.h"
#include "base/parse_units.h"
#include "catalog/words.h"
#include "rightsize/prices/prices.h"

namespace rightsize::app {
namespace {

using catalog::Purchase;
using market::Offer;
using report::Fields;
using report::kTableOnly;
using report::renamed;
using report::spare;

// Price of a gigabyte to the internet, by provider.
std::map<std::string, double> egress_prices() {
  std::map<std::string, double> prices;
  const Checked<Csv> csv = Csv::parse("data/egress.csv", std::string(embedded_file("egress.csv")));
  if (!csv) return prices;
  for (const CsvRow& row : csv->rows()) {
    if (const Result<double> usd = parse_number(csv->cell(row, "usd_per_gb")))
      prices[std::string(csv->cell(row, "provider"))] = *usd;
  }
  return prices;
}

// The cheapest offer on some terms, by its likely price.
struct TermPrice {
  Offer offer;
  market::PriceOutlook outlook;

  // Dollars per GPU-hour.
  double usd(UsdPerMachineSecond market::PriceOutlook::*value) const {
    return in_usd_per_machine_hour(outlook.*value) / offer.machine->gpus;
  }
  double likely() const { return usd(&market::PriceOutlook::likely); }
};

// One provider's machines with the same GPU and the same number of GPUs.
struct Way {
  std::string provider;
  const catalog::Gpu* gpu = nullptr;
  int gpus = 0;
  const catalog::Machine* machine = nullptr;  // of the cheapest on-demand offer, or else of any offer
  std::map<Purchase, TermPrice> best = {};
  std::optional<double> egress = {};  // dollars per GB

  const TermPrice* on(Purchase purchase) const {
    const auto found = best.find(purchase);
    return found == best.end() ? nullptr : &found->second;
  }
};

std::vector<Way> ways_of(const market::PriceBook& book, const market::OfferFilter& filter) {
  std::map<std::tuple<std::string, std::string, int>, Way> ways;
  for (const Offer& offer : book.offers(filter)) {
    Way& way = ways[{offer.gpu->name, offer.machine->provider, offer.machine->gpus}];
    way.provider = offer.machine->provider;
    way.gpu = offer.gpu;
    way.gpus = offer.machine->gpus;
    if (way.machine == nullptr) way.machine = offer.machine;
    const market::PriceOutlook outlook = book.outlook(offer, days(1));
    const auto rank = [](const Offer& o, const market::PriceOutlook& p) {
      return std::pair(!p.may_lead(), p.likely / gpus_per_machine(o.machine->gpus));
    };
    const auto found = way.best.find(offer.price->purchase);
    if (found != way.best.end() && rank(found->second.offer, found->second.outlook) <= rank(offer, outlook)) continue;
    way.best.insert_or_assign(offer.price->purchase, TermPrice{offer, outlook});
    if (offer.price->purchase == Purchase::kOnDemand) way.machine = offer.machine;
  }
  const std::map<std::string, double> egress = egress_prices();
  std::vector<Way> list;
  for (auto& [key, way] : ways) {
    if (const auto out = egress.find(way.provider); out != egress.end()) way.egress = out->second;
    list.push_back(std::move(way));
  }
  std::ranges::stable_sort(list, {}, [](const Way& way) {
    const TermPrice* price = way.on(Purchase::kOnDemand);
    return price == nullptr ? std::pair(2, 0.0) : std::pair(price->outlook.may_lead() ? 0 : 1, price->likely());
  });
  return list;
}

std::string price_words(const TermPrice& price) {
  const double low = price.usd(&market::PriceOutlook::low), high = price.usd(&market::PriceOutlook::high);
  const bool wide = high > 1.02 * low;
  return fmt::format(
      "{}{}{}", format_usd_per_hour(price.likely()), price.outlook.in_doubt() ? " ?" : "",
      wide ? fmt::format(" ({}-{})", format_usd_per_hour(low).substr(1), format_usd_per_hour(high).substr(1)) : "");
}

const Fields<TermPrice> kTermFields = {
    {"instance", "instance type", [](const TermPrice& p) { return p.offer.machine->instance; }},
    {"region", "its region", [](const TermPrice& p) { return p.offer.price->region; }},
    {"zone", "zone; null: the whole region", [](const TermPrice& p) { return text_or_null(p.offer.price->zone); }},
    {"listed_usd_per_gpu_hour", "listed price",
     [](const TermPrice& p) { return p.usd(&market::PriceOutlook::listed); }},
    {"low", "10th percentile over the next day", [](const TermPrice& p) { return p.usd(&market::PriceOutlook::low); }},
    {"likely", "most likely price, $/GPU-h", &TermPrice::likely},
    {"high", "90th percentile", [](const TermPrice& p) { return p.usd(&market::PriceOutlook::high); }},
    {"may_lead", "recent or confirmed by a second source, not in doubt, and not a launch floor",
     [](const TermPrice& p) { return p.outlook.may_lead(); }},
    {"age_days", "age of the listed price", [](const TermPrice& p) { return p.outlook.age; }},
    {"price_sources", "independent sources that agree within 25 %",
     [](const TermPrice& p) { return p.outlook.sources; }},
};

template <Purchase kPurchase>
const TermPrice* price_on(const Way& way) {
  return way.on(kPurchase);
}
template <Purchase kPurchase>
std::optional<double> likely_on(const Way& way) {
  const TermPrice* price = way.on(kPurchase);
  return price == nullptr ? std::nullopt : std::optional(price->likely());
}
template <Purchase kPurchase>
std::string price_cell(const Way& way) {
  return way.on(kPurchase) == nullptr ? "-" : price_words(*way.on(kPurchase));
}

const Fields<Way> kWayFields = {
    {"gpu", "GPU", "the GPU", [](const Way& w) { return w.gpu->name; }},
    {"provider", "provider", "who sells it", &Way::provider,
     [](const Way& w) { return w.provider + (w.machine->community ? " (peers)" : ""); }},
    {"gpus", "GPUs", "GPUs of one machine", &Way::gpus},
    {"on_demand", "on demand", kTermFields, price_on<Purchase::kOnDemand>},
    {"spot", "on spot", kTermFields, price_on<Purchase::kSpot>},
    {"one_year", "for one year", kTermFields, price_on<Purchase::kOneYear>},
    {"three_years", "for three years", kTermFields, price_on<Purchase::kThreeYears>},
    {"interconnect", "link", "link between its GPUs", [](const Way& w) { return w.machine->interconnect; }},
    {"network_bytes_per_second", "network bandwidth", [](const Way& w) { return w.machine->network; }},
    {"egress_usd_per_gb", "egress $/GB", "a gigabyte to the internet", &Way::egress},
    {"on_demand_usd", "on-demand", "$/GPU-h", likely_on<Purchase::kOnDemand>, price_cell<Purchase::kOnDemand>,
     kTableOnly},
    {"spot_usd", "spot", "$/GPU-h", likely_on<Purchase::kSpot>, price_cell<Purchase::kSpot>, kTableOnly},
    {"one_year_usd", "1y", "$/GPU-h", likely_on<Purchase::kOneYear>, price_cell<Purchase::kOneYear>, kTableOnly},
    {"three_years_usd", "3y", "$/GPU-h", likely_on<Purchase::kThreeYears>, price_cell<Purchase::kThreeYears>,
     kTableOnly},
    {"network", "network", "Gbit/s",
     [](const Way& w) { return w.machine->network ? std::optional(in_gbit_per_s(*w.machine->network)) : std::nullopt; },
     [](double gbit) { return fmt::format("{:g} Gbit/s", gbit); }, kTableOnly},
};

const Fields<std::vector<Way>> kCompareFields = {
    {"ways", "offers of each provider and machine size, the cheapest on demand first", kWayFields, std::identity()},
};
const report::Document<std::vector<Way>> kCompareDocument("prices-compare", "GPUs across providers", kCompareFields);

// The cheapest of these on some terms; null if none offers those terms.
const Way* cheapest_on(Purchase purchase, const std::vector<const Way*>& ways) {
  const Way* best = nullptr;
  const auto rank = [&](const Way& way) {
    const TermPrice& price = *way.on(purchase);
    return std::pair(!price.outlook.may_lead(), price.likely());
  };
  for (const Way* way : ways) {
    if (way->on(purchase) != nullptr && (best == nullptr || rank(*way) < rank(*best))) best = way;
  }
  return best;
}

// "h100-sxm: on demand $2.37/GPU-h from gcp (a3-highgpu-8g, us-central1; 24 days old, 2 sources); on spot ..."
std::string cheapest_of_gpu(const std::vector<const Way*>& ways) {
  std::vector<std::string> parts;
  for (const auto& [purchase, words] : {std::pair{Purchase::kOnDemand, "on demand"},
                                        {Purchase::kSpot, "on spot"},
                                        {Purchase::kOneYear, "for one year"},
                                        {Purchase::kThreeYears, "for three years"}}) {
    const Way* best = cheapest_on(purchase, ways);
    if (best == nullptr) continue;
    const TermPrice& price = *best->on(purchase);
    std::string about = price.offer.machine->instance;
    if (price.offer.price->region != "any") about += ", " + price.offer.price->region;
    if (price.outlook.age)
      about +=
          fmt::format("; {:.0f} days old, {}", in_days(*price.outlook.age),
                      price.outlook.sources == 1 ? "single source" : fmt::format("{} sources", price.outlook.sources));
    parts.push_back(fmt::format("{} {}/GPU-h from {} ({})", words, price_words(price), best->provider, about));
  }
  return fmt::format("{}: {}.", ways.front()->gpu->name, fmt::join(parts, "; "));
}

// One line for each GPU: different GPUs are not alternatives to each other.
std::string cheapest_ways(const std::vector<Way>& ways) {
  std::vector<std::vector<const Way*>> gpus;
  for (const Way& way : ways) {
    const auto same = std::ranges::find_if(gpus, [&](const auto& group) { return group.front()->gpu == way.gpu; });
    (same == gpus.end() ? gpus.emplace_back() : *same).push_back(&way);
  }
  if (gpus.size() == 1) return "Cheapest now, per " + cheapest_of_gpu(gpus.front());
  std::string text = "Cheapest now, per GPU:";
  for (const auto& group : gpus) text += "\n" + cheapest_of_gpu(group);
  return text;
}

// "8xh100,16xa100": all GPUs of each number, in whole machines, the cheapest number first.
std::string cheapest_numbers(const std::vector<Way>& ways, const std::string& asked, const catalog::Catalog& catalog) {
  std::vector<std::pair<double, std::string>> costs;
  for (const std::string& word : words_of(asked)) {
    const catalog::CountedGpu named = catalog::split_gpu_count(word);
    const Result<std::vector<const catalog::Gpu*>> gpus = catalog::gpus_meant(named.name, catalog);
    if (!named.count || !gpus) return {};
    std::optional<std::pair<double, std::string>> best;
    for (const Way& way : ways) {
      const TermPrice* price = way.on(Purchase::kOnDemand);
      if (price == nullptr || !price->outlook.may_lead() || std::ranges::find(*gpus, way.gpu) == gpus->end()) continue;
      const int machines = (*named.count + way.gpus - 1) / way.gpus;
      const double usd = price->likely() * way.gpus * machines;
      if (best && usd >= best->first) continue;
      best = {usd, fmt::format("{} x {} {}/h, {}/month ({}, {} x {})", *named.count, way.gpu->name,
                               format_usd_per_hour(usd), format_usd(rightsize::usd(usd * in_hours(kMonth))),
                               way.provider, machines, price->offer.machine->instance)};
    }
    if (!best) return {};
    costs.push_back(*best);
  }
  if (costs.size() < 2) return {};
  std::ranges::sort(costs);
  std::vector<std::string> parts;
  for (const auto& [usd, words] : costs) parts.push_back(words);
  return fmt::format("On demand, per hour: {}. The first costs {:.0f} % less than the next.", fmt::join(parts, "; "),
                     100 * (1 - costs.front().first / costs[1].first));
}

}  // namespace

Checked<Outcome> compare_prices(const PricesFlags& flags) {
  if (flags.gpu.empty()) return fail(bad_input("'prices compare' needs --gpu, for example --gpu h100-sxm"));
  RIGHTSIZE_TRY(const catalog::Catalog catalog, open_catalog(flags.catalog, flags.store));
  RIGHTSIZE_TRY(const market::PriceBook book, open_prices(catalog, flags.price));
  RIGHTSIZE_TRY(const market::OfferFilter filter, read_filter(with_known_names(flags, catalog), catalog));
  std::vector<Way> ways = ways_of(book, filter);
  const std::string conclusion = ways.empty() ? "" : cheapest_ways(ways);
  const std::string numbers = cheapest_numbers(ways, flags.gpu, catalog);
  keep_top(ways, flags.top);
  Outcome outcome{{.title = "GPUs across providers", .document = kCompareDocument.of(ways)}};
  report::Report& report = outcome.report;
  if (ways.empty()) return nothing_found(std::move(outcome), "No price on file matches these filters.");
  report.say(numbers);
  report.say(conclusion);
  report.show(
      "",
      report::table_of(kWayFields, ways,
                       {"gpu", "provider", "gpus", renamed("on_demand_usd", "on_demand"), renamed("spot_usd", "spot"),
                        renamed("one_year_usd", "one_year"), renamed("three_years_usd", "three_years"),
                        spare(renamed("interconnect", "link")), "network", spare("egress_usd_per_gb")}),
      40);
  report.say(
      "$/GPU-h expected over the next day (80 % range), in the cheapest region or zone of each provider. '?': an "
      "on-demand or spot price that is unconfirmed: over 60 days old with one source, contradicted, or a spot price "
      "that has not changed since the launch of the GPU; ask the provider first.");
  return outcome;
}

}  // namespace rightsize::app
