// rightsize prices compare: the same GPU across clouds and terms, with what differs beside the price.
#include <algorithm>
#include <map>

#include <fmt/format.h>

#include "base/csv.h"
#include "base/embedded.h"
#include "base/format.h"
#include "base/parse_units.h"
#include "rightsize/prices/prices.h"

namespace rightsize::app {
namespace {

using catalog::Purchase;
using market::Offer;
using report::Align;
using report::Json;

// What a gigabyte out to the internet costs, by provider: data/egress.csv.
std::map<std::string, double> egress_prices() {
  std::map<std::string, double> prices;
  const Checked<Csv> csv = Csv::parse("data/egress.csv", std::string(embedded_file("egress.csv")));
  if (!csv) return prices;
  for (const CsvRow& row : csv->rows()) {
    if (const Result<double> usd = parse_number(csv->cell(row, "usd_per_gb"))) {
      prices[std::string(csv->cell(row, "provider"))] = *usd;
    }
  }
  return prices;
}

// One provider's way to have a GPU: the same number of GPUs, link and network.
struct Way {
  std::string provider;
  const catalog::Gpu* gpu = nullptr;
  int gpus = 0;
  const catalog::Machine* machine = nullptr;                        // of the cheapest on-demand offer, else of any
  std::map<Purchase, std::pair<Offer, market::PriceOutlook>> best;  // by what it will likely cost
};

double per_gpu(const market::PriceOutlook& outlook, const Offer& offer,
               UsdPerMachineSecond market::PriceOutlook::*value) {
  return in_usd_per_machine_hour(outlook.*value) / offer.machine->gpus;
}

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
    if (found != way.best.end() && rank(found->second.first, found->second.second) <= rank(offer, outlook)) continue;
    way.best.insert_or_assign(offer.price->purchase, std::pair(offer, outlook));
    if (offer.price->purchase == Purchase::kOnDemand) way.machine = offer.machine;
  }
  std::vector<Way> list;
  for (auto& [key, way] : ways) list.push_back(std::move(way));
  const auto price = [](const Way& way) {
    double least = INFINITY;
    for (const auto& [purchase, best] : way.best) {
      if (purchase == Purchase::kOnDemand) least = per_gpu(best.second, best.first, &market::PriceOutlook::likely);
    }
    return least;
  };
  std::stable_sort(list.begin(), list.end(), [&](const Way& a, const Way& b) { return price(a) < price(b); });
  return list;
}

report::Cell price_cell(const Way& way, Purchase purchase) {
  const auto found = way.best.find(purchase);
  if (found == way.best.end()) return report::unknown_cell();
  const auto& [offer, outlook] = found->second;
  const double likely = per_gpu(outlook, offer, &market::PriceOutlook::likely);
  const double low = per_gpu(outlook, offer, &market::PriceOutlook::low);
  const double high = per_gpu(outlook, offer, &market::PriceOutlook::high);
  const bool wide = high > 1.02 * low;
  return report::number_cell(fmt::format("{}{}{}", format_usd_per_hour(likely), outlook.may_lead() ? "" : " ?",
                                         wide ? fmt::format(" ({}-{})", format_number(low), format_number(high)) : ""),
                             likely);
}

Json price_json(const Way& way, Purchase purchase) {
  const auto found = way.best.find(purchase);
  if (found == way.best.end()) return Json(nullptr);
  const auto& [offer, outlook] = found->second;
  return {{"instance", offer.machine->instance},
          {"region", offer.price->region},
          {"zone", offer.price->zone.empty() ? Json(nullptr) : Json(offer.price->zone)},
          {"listed_usd_per_gpu_hour", per_gpu(outlook, offer, &market::PriceOutlook::listed)},
          {"low", per_gpu(outlook, offer, &market::PriceOutlook::low)},
          {"likely", per_gpu(outlook, offer, &market::PriceOutlook::likely)},
          {"high", per_gpu(outlook, offer, &market::PriceOutlook::high)},
          {"may_lead", outlook.may_lead()},
          {"age_days", outlook.age ? report::json_number(in_days(*outlook.age)) : Json(nullptr)}};
}

}  // namespace

Checked<Outcome> compare_prices(const PricesFlags& flags) {
  if (flags.gpu.empty()) return fail(bad_input("'prices compare' needs --gpu, for example --gpu h100-sxm"));
  RIGHTSIZE_TRY(const catalog::Catalog catalog, open_catalog(flags.catalog, flags.store));
  RIGHTSIZE_TRY(const market::PriceBook book, open_prices(catalog, flags.price));
  RIGHTSIZE_TRY(const market::OfferFilter filter, read_filter(flags, catalog));
  std::vector<Way> ways = ways_of(book, filter);
  if (flags.top > 0 && ways.size() > static_cast<std::size_t>(flags.top))
    ways.resize(static_cast<std::size_t>(flags.top));
  const std::map<std::string, double> egress = egress_prices();
  Outcome outcome;
  outcome.report.title = "The same GPU across clouds";
  outcome.report.document = {{"schema", "rightsize/prices-compare/1"}, {"ways", Json::array()}};
  if (ways.empty()) {
    outcome.report.blocks.emplace_back(report::Paragraph{"No price in the catalogue matches these filters."});
    outcome.exit_code = kNoFeasibleAnswer;
    return outcome;
  }
  report::Table table;
  table.columns = {{"GPU", "gpu", Align::kLeft},          {"provider", "provider", Align::kLeft},
                   {"GPUs", "gpus", Align::kRight},       {"on-demand", "on_demand", Align::kRight},
                   {"spot", "spot", Align::kRight},       {"1y", "one_year", Align::kRight},
                   {"3y", "three_years", Align::kRight},  {"link", "link", Align::kLeft, 0, true},
                   {"network", "network", Align::kRight}, {"egress $/GB", "egress_usd_per_gb", Align::kRight, 0, true}};
  table.most_shown = 40;
  for (const Way& way : ways) {
    const auto out = egress.find(way.provider);
    const std::optional<BytesPerSecond> network = way.machine->network;
    table.rows.push_back(
        {report::text_cell(way.gpu->name), report::text_cell(way.provider + (way.machine->community ? " (peers)" : "")),
         report::number_cell(std::to_string(way.gpus), way.gpus), price_cell(way, Purchase::kOnDemand),
         price_cell(way, Purchase::kSpot), price_cell(way, Purchase::kOneYear), price_cell(way, Purchase::kThreeYears),
         report::text_cell(way.machine->interconnect.empty() ? "?" : way.machine->interconnect),
         network ? report::number_cell(fmt::format("{:g} Gbit/s", in_gbit_per_s(*network)), in_gbit_per_s(*network))
                 : report::unknown_cell(),
         out == egress.end() ? report::unknown_cell()
                             : report::number_cell(fmt::format("{:g}", out->second), out->second)});
    outcome.report.document["ways"].push_back(
        {{"gpu", way.gpu->name},
         {"provider", way.provider},
         {"gpus", way.gpus},
         {"on_demand", price_json(way, Purchase::kOnDemand)},
         {"spot", price_json(way, Purchase::kSpot)},
         {"one_year", price_json(way, Purchase::kOneYear)},
         {"three_years", price_json(way, Purchase::kThreeYears)},
         {"interconnect", way.machine->interconnect},
         {"network_bytes_per_second", report::json_number(network, in_bytes_per_s)},
         {"egress_usd_per_gb", out == egress.end() ? Json(nullptr) : Json(out->second)}});
  }
  outcome.report.blocks.emplace_back(std::move(table));
  outcome.report.blocks.emplace_back(report::Paragraph{
      "$/GPU-h as it will likely be over the next day, low-high in parentheses; '?' marks prices that no source "
      "confirms, launch floors and prices over a year old. Cheapest region or zone of each provider."});
  return outcome;
}

}  // namespace rightsize::app
