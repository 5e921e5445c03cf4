// rightsize prices: where a GPU is cheapest, by whatever it is bought for, and how old that price is.
#include <algorithm>
#include <cmath>
#include <map>
#include <memory>
#include <set>
#include <utility>

#include <fmt/format.h>

#include "base/format.h"
#include "base/parse_units.h"
#include "base/suggest.h"
#include "base/text.h"
#include "catalog/gpu_words.h"
#include "catalog/places.h"
#include "catalog/purchase_terms.h"
#include "rightsize/prices/prices.h"

namespace rightsize::app {
namespace {

using catalog::Gpu;
using catalog::Price;
using report::Align;
using report::Cell;
using report::Json;

// An offer by whatever it is bought for. Dollars are per hour.
struct Row : market::Offer {
  double per_hour = 0;
  double per_gpu = 0;
  double per_tflop = NAN;  // of the fastest dense 16-bit format
  double per_gbs = 0;      // of memory bandwidth
  double per_gib = 0;      // of memory
  double age_days = NAN;
  market::PriceOutlook outlook = {};  // over the next hour
};

Row make_row(const market::Offer& offer, const market::PriceBook& book, Date now) {
  Row row{offer};
  row.outlook = book.outlook(offer, hours(1));
  row.per_hour = in_usd_per_machine_hour(offer.rate());
  row.per_gpu = in_usd_per_gpu_hour(offer.rate_per_gpu());
  if (auto rate = offer.gpu->half_rate()) row.per_tflop = row.per_gpu / in_tflop_per_s(*rate);
  row.per_gbs = row.per_gpu / in_gb_per_s(offer.gpu->bandwidth);
  row.per_gib = row.per_gpu / in_gib(offer.gpu->memory);
  if (offer.price->provenance.date) row.age_days = now - *offer.price->provenance.date;
  return row;
}

struct SortKey {
  const char* name;
  double Row::*value;  // smaller comes first; unknown last
};
constexpr SortKey kSortKeys[] = {
    {"usd-per-gpu-hour", &Row::per_gpu}, {"usd-per-hour", &Row::per_hour},    {"usd-per-tflop-hour", &Row::per_tflop},
    {"usd-per-gbs-hour", &Row::per_gbs}, {"usd-per-gib-hour", &Row::per_gib}, {"age", &Row::age_days},
};

Result<const SortKey*> find_sort_key(const std::string& name) {
  std::vector<std::string> names;
  const std::string wanted = name == "price" || name == "cost" || name == "usd" ? "usd-per-gpu-hour" : name;
  for (const SortKey& key : kSortKeys) {
    if (key.name == wanted) return &key;
    names.emplace_back(key.name);
  }
  return fail(bad_input(fmt::format("cannot sort by '{}'", name))
                  .with_hint(did_you_mean(name, names))
                  .with_hint(fmt::format("keys are {}", fmt::join(names, ", "))));
}

// Prices in doubt come behind all others, as in every recommendation. Deterministic whatever the order of the
// catalogue: ties go by name.
bool sorts_before(const Row& a, const Row& b, double Row::*key) {
  if (a.outlook.may_lead() != b.outlook.may_lead()) return a.outlook.may_lead();
  double x = a.*key, y = b.*key;
  if (std::isnan(x) != std::isnan(y)) return std::isnan(y);
  if (x != y && !std::isnan(x)) return x < y;
  auto identity = [](const Row& o) {
    return std::tie(o.price->provider, o.price->instance, o.price->region, o.price->zone, o.price->purchase);
  };
  return identity(a) < identity(b);
}

std::set<std::string> all_of(const catalog::Catalog& catalog, std::string Price::*field) {
  std::set<std::string> names;
  const std::string* last = nullptr;  // rows of one follow each other
  for (const Price& price : catalog.prices) {
    if (last == nullptr || *last != price.*field) names.insert(price.*field);
    last = &(price.*field);
  }
  return names;
}

Result<std::vector<Row>> select(const PricesFlags& flags, const market::PriceBook& book) {
  RIGHTSIZE_TRY(const market::OfferFilter filter, read_filter(flags, book.catalog()));
  Bytes least;
  if (!flags.min_memory.empty()) {
    RIGHTSIZE_TRY(least, parse_bytes(flags.min_memory));
  }
  std::set<std::string> instances;
  for (std::string_view word : split_list(flags.instance, ',')) instances.insert(to_lower(word));
  std::vector<Row> rows;
  for (const market::Offer& offer : book.offers(filter)) {
    const bool named = instances.empty() || instances.contains(to_lower(offer.machine->instance));
    if (named && offer.gpu->memory >= least) rows.push_back(make_row(offer, book, today()));
  }
  return rows;
}

// Of offers already in order, the first of each group.
Result<> keep_best(std::vector<Row>& offers, const std::string& per) {
  static const std::vector<std::string> kGroups{"gpu", "provider", "instance", "region"};
  if (per.empty()) return {};
  if (std::find(kGroups.begin(), kGroups.end(), per) == kGroups.end()) {
    return fail(bad_input(fmt::format("--best-per takes {}, not '{}'", fmt::join(kGroups, ", "), per))
                    .with_hint(did_you_mean(per, kGroups)));
  }
  std::set<std::string> seen;
  std::erase_if(offers, [&](const Row& offer) {
    const std::string& group = per == "gpu"        ? offer.gpu->name
                               : per == "provider" ? offer.price->provider
                               : per == "region"   ? offer.price->region
                                                   : offer.price->instance;
    return !seen.insert(group).second;
  });
  return {};
}

Cell dollars_cell(double value) {
  return std::isnan(value) ? report::unknown_cell() : report::number_cell(format_usd_per_hour(value), value);
}

Cell small_dollars_cell(double value) {
  return std::isnan(value) ? report::unknown_cell() : report::number_cell("$" + format_number(value), value);
}

// The zone says its region by itself; where it has no name of its own the region stands.
std::string place_of(const Price& price) { return price.zone.empty() ? price.region : price.region + " " + price.zone; }

// '?' where the price is no ground to stand on: no source confirms it, a floor, over a year old.
Cell marked(Cell cell, const Row& row) {
  if (!row.outlook.may_lead()) cell.shown += " ?";
  return cell;
}

std::vector<Cell> cells_of(const Row& o) {
  return {report::text_cell(o.price->provider),
          report::text_cell(o.price->instance),
          report::number_cell(std::to_string(o.machine->gpus), o.machine->gpus),
          report::text_cell(o.gpu->name),
          report::text_cell(place_of(*o.price)),
          report::text_cell(catalog::name_of(o.price->purchase)),
          marked(dollars_cell(o.per_hour), o),
          dollars_cell(o.per_gpu),
          small_dollars_cell(o.per_tflop),
          small_dollars_cell(o.per_gbs),
          small_dollars_cell(o.per_gib),
          std::isnan(o.age_days) ? report::unknown_cell()
                                 : report::number_cell(fmt::format("{:.0f} d", o.age_days), o.age_days)};
}

// The offers, with the catalogue and the prices they point into.
struct Listed {
  std::shared_ptr<const catalog::Catalog> catalog;
  std::shared_ptr<const market::PriceBook> book;
  std::vector<Row> rows;
};

report::Table table_of(const std::shared_ptr<const Listed>& offers, int top) {
  report::Table table;
  table.columns = {{"provider", "provider", Align::kLeft},
                   {"instance", "instance", Align::kLeft},
                   {"GPUs", "gpus", Align::kRight},
                   {"GPU", "gpu", Align::kLeft},
                   {"region", "region", Align::kLeft},
                   {"terms", "purchase", Align::kLeft},
                   {"$/h", "usd_per_hour", Align::kRight},
                   {"$/GPU-h", "usd_per_gpu_hour", Align::kRight},
                   {"$/TFLOP-h", "usd_per_tflop_hour", Align::kRight, 0, true},
                   {"$/GB/s-h", "usd_per_gbs_hour", Align::kRight, 0, true},
                   {"$/GiB-h", "usd_per_gib_hour", Align::kRight, 0, true},
                   {"age", "age_days", Align::kRight}};
  const std::vector<Row>& rows = offers->rows;
  table.most_shown = top < 0 ? 40 : static_cast<std::size_t>(top);
  const std::size_t first = table.most_shown == 0 ? rows.size() : std::min(rows.size(), table.most_shown);
  for (std::size_t i = 0; i < first; ++i) table.rows.push_back(cells_of(rows[i]));
  table.later_rows = rows.size() - first;
  table.later_row = [offers, first](std::size_t i) { return cells_of(offers->rows[first + i]); };
  return table;
}

Json json_of(const Row& o) {
  const catalog::Provenance& from = o.price->provenance;
  return {{"provider", o.price->provider},
          {"instance", o.price->instance},
          {"gpu", o.gpu->name},
          {"gpus", o.machine->gpus},
          {"region", o.price->region},
          {"zone", o.price->zone.empty() ? Json(nullptr) : Json(o.price->zone)},
          {"purchase", catalog::name_of(o.price->purchase)},
          {"usd_per_hour", o.per_hour},
          {"usd_per_gpu_hour", o.per_gpu},
          {"expected_usd_per_hour", Json{{"low", in_usd_per_machine_hour(o.outlook.low)},
                                         {"likely", in_usd_per_machine_hour(o.outlook.likely)},
                                         {"high", in_usd_per_machine_hour(o.outlook.high)}}},
          {"community", o.machine->community},
          {"launch_floor", o.outlook.floor},
          {"outdated", o.outlook.outdated},
          {"usd_per_tflop_hour", report::json_number(o.per_tflop)},
          {"usd_per_gbs_hour", o.per_gbs},
          {"usd_per_gib_hour", o.per_gib},
          {"vcpus", report::json_number(o.machine->vcpus)},
          {"memory_bytes", report::json_number(o.machine->memory, in_bytes)},
          {"local_ssd_bytes", report::json_number(o.machine->local_ssd, in_bytes)},
          {"interconnect", o.machine->interconnect},
          {"network_bytes_per_second", report::json_number(o.machine->network, in_bytes_per_s)},
          {"fabric", o.machine->fabric},
          {"source", from.sources.empty() ? from.file : fmt::format("{}", fmt::join(from.sources, ", "))},
          {"date", from.date ? Json(format_date(*from.date)) : Json(nullptr)},
          {"age_days", report::json_number(o.age_days)},
          {"unverified", !from.unverified.empty()},
          {"note", from.note},
          {"file", from.file},
          {"line", from.line}};
}

// How old each provider's prices are, newest and oldest.
struct Age {
  double newest = INFINITY, oldest = 0;
  int prices = 0;
};

std::map<std::string, Age> ages(const std::vector<Row>& offers) {
  std::map<std::string, Age> by_provider;
  for (const Row& o : offers) {
    Age& age = by_provider[o.price->provider];
    ++age.prices;
    if (std::isnan(o.age_days)) continue;
    age.newest = std::min(age.newest, o.age_days);
    age.oldest = std::max(age.oldest, o.age_days);
  }
  return by_provider;
}

constexpr double kStaleDays = 180;

std::string days_of(const Age& age) {
  if (std::isinf(age.newest)) return "undated";
  if (age.newest == age.oldest) return fmt::format("{:.0f} days", age.oldest);
  return fmt::format("{:.0f}-{:.0f} days", age.newest, age.oldest);
}

// Every provider's age where they are few, else the span and who is stale; and what to do about it.
std::string age_sentence(const std::map<std::string, Age>& by_provider) {
  std::vector<std::string> parts, stale;
  Age all;
  for (const auto& [provider, age] : by_provider) {
    parts.push_back(provider + " " + days_of(age) + (age.newest > kStaleDays ? " (stale)" : ""));
    if (age.newest > kStaleDays) stale.push_back(provider);
    all.newest = std::min(all.newest, age.newest);
    all.oldest = std::max(all.oldest, age.oldest);
  }
  constexpr std::size_t kFew = 8;
  std::string text = fmt::format("Age of the prices: {}.", fmt::join(parts, ", "));
  if (parts.size() > kFew) {
    text = fmt::format("Age of the prices: {}{}.", days_of(all),
                       stale.empty() ? "" : fmt::format("; over half a year: {}", fmt::join(stale, ", ")));
  }
  const bool old = all.oldest > 30;
  return text + (old ? " 'rightsize prices update' fetches fresh ones, 'prices import' reads files." : "");
}

// Prices that came from the user's own files, so that nobody mistakes them for ours.
std::string overlay_sentence(const std::vector<Row>& offers) {
  std::set<std::string> files, flags;
  for (const Row& o : offers) {
    const catalog::Provenance& from = o.price->provenance;
    if (o.is_own()) flags.insert(from.note);
    if (!o.is_own() && !from.file.starts_with("data/")) files.insert(from.file);
  }
  std::string text;
  if (!files.empty()) text = fmt::format("Some prices come from your own files: {}.", fmt::join(files, ", "));
  if (!flags.empty())
    text += fmt::format("{}Some prices are yours: {}.", text.empty() ? "" : " ", fmt::join(flags, ", "));
  return text;
}

// Offers of peers that only --community would show.
std::size_t peers_left_out(const PricesFlags& flags, const market::PriceBook& book) {
  if (flags.community) return 0;
  PricesFlags all = flags;
  all.community = true;
  const Result<market::OfferFilter> filter = read_filter(all, book.catalog());
  if (!filter) return 0;
  return static_cast<std::size_t>(std::ranges::count_if(book.offers(), [&](const market::Offer& offer) {
    return offer.machine->community && filter->lets_through(offer);
  }));
}

// What a reader should know before acting on a price: ", 85 days old; likely $3.10/GPU-h now".
std::string freshness(const Row& row) {
  constexpr double kRecentDays = 30, kWorthSaying = 0.02;
  std::string text;
  if (row.age_days > kRecentDays) text = fmt::format(", {} days old", row.age_days);
  const double likely = row.outlook.likely / row.outlook.listed;
  if (std::abs(likely - 1) > kWorthSaying)
    text += fmt::format("; likely {}/GPU-h now", format_usd_per_hour(row.per_gpu * likely));
  return text;
}

// "Cheapest per GPU: $2.89/GPU-h, h100-pcie, runpod 1x_H100-PCIe_SECURE, any region, on-demand."
std::string cheapest_sentence(const std::vector<Row>& offers) {
  const Row& least = *std::min_element(offers.begin(), offers.end(), [](const Row& a, const Row& b) {
    return std::pair(!a.outlook.may_lead(), a.per_gpu) < std::pair(!b.outlook.may_lead(), b.per_gpu);
  });
  return fmt::format("Cheapest per GPU: {}/GPU-h, {}, {} {}, {}, {}{}.", format_usd_per_hour(least.per_gpu),
                     least.gpu->name, least.price->provider, least.price->instance,
                     least.price->region == "any" ? "any region" : place_of(*least.price),
                     catalog::name_of(least.price->purchase), freshness(least));
}

Outcome make_outcome(const std::shared_ptr<const Listed>& listed, const PricesFlags& flags, std::size_t left_out) {
  const std::vector<Row>& offers = listed->rows;
  Outcome outcome;
  outcome.report.title = "Prices";
  Json& document = outcome.report.document;
  document = {{"schema", "rightsize/prices/1"}, {"prices", Json::array()}, {"providers", Json::array()}};
  const std::map<std::string, Age> by_provider = ages(offers);
  for (const auto& [provider, age] : by_provider) {
    document["providers"].push_back(
        {{"provider", provider},
         {"prices", age.prices},
         {"newest_age_days", report::json_number(age.newest)},
         {"oldest_age_days", report::json_number(std::isinf(age.newest) ? NAN : age.oldest)}});
  }
  if (offers.empty()) {
    outcome.report.blocks.emplace_back(report::Paragraph{"No price in the catalogue matches these filters."});
    outcome.exit_code = kNoFeasibleAnswer;
    return outcome;
  }
  outcome.report.blocks.emplace_back(report::Paragraph{cheapest_sentence(offers)});
  outcome.report.blocks.emplace_back(table_of(listed, flags.top));
  std::string notes = age_sentence(by_provider) +
                      " $/TFLOP-h counts dense bf16 (fp16 where there is no bf16) peaks, $/GB/s-h memory bandwidth, "
                      "$/GiB-h GPU memory.";
  if (std::any_of(offers.begin(), offers.end(), [](const Row& row) { return !row.outlook.may_lead(); })) {
    notes +=
        "\n'?' marks prices that no source confirms, launch floors of spot, and prices over a year old; they come "
        "last.";
  }
  if (left_out > 0) {
    notes += fmt::format("\n{} of marketplaces left out; --community shows them.",
                         left_out == 1 ? "1 offer" : fmt::format("{} offers", left_out));
  }
  if (std::string own = overlay_sentence(offers); !own.empty()) notes += "\n" + own;
  outcome.report.blocks.emplace_back(report::Paragraph{std::move(notes)});
  return outcome;
}

}  // namespace

Result<market::OfferFilter> read_filter(const PricesFlags& flags, const catalog::Catalog& catalog) {
  market::OfferFilter filter;
  filter.retired = flags.retired;
  filter.community = flags.community;
  for (std::string_view word : split_list(flags.gpu, ',')) {
    const catalog::CountedGpu wanted = catalog::split_gpu_count(word);
    RIGHTSIZE_TRY(std::vector<const Gpu*> matched, catalog.match_gpus(wanted.name));
    for (const Gpu* gpu : matched) filter.gpus.push_back(gpu->name);
    filter.machine_gpus = wanted.count.value_or(filter.machine_gpus);
  }
  if (!flags.provider.empty()) {
    RIGHTSIZE_TRY(filter.providers, catalog::match_providers(flags.provider, all_of(catalog, &Price::provider)));
  }
  if (!flags.region.empty()) {
    RIGHTSIZE_TRY(filter.regions, catalog::match_regions(flags.region, all_of(catalog, &Price::region)));
  }
  for (std::string_view word : split_list(flags.purchase, ',')) {
    RIGHTSIZE_TRY(const catalog::Purchase purchase, catalog::read_purchase(word));
    filter.purchases.push_back(purchase);
  }
  return filter;
}

namespace {

// Machines by the beginning of their names: p4d, a2-ultragpu, ND96asr_v4 of Standard_ND96asr_v4.
std::set<std::string> machines_called(std::string_view word, const catalog::Catalog& catalog) {
  constexpr std::string_view kAzure = "standard_";
  std::set<std::string> found;
  const bool named = word.size() > 1 && word.find_first_of("abcdefghijklmnopqrstuvwxyz") != std::string_view::npos;
  if (!named) return found;
  for (const catalog::Machine& machine : catalog.machines) {
    const std::string name = to_lower(machine.instance);
    const std::string_view rest = name.starts_with(kAzure) ? std::string_view(name).substr(kAzure.size()) : name;
    if (name.starts_with(word) || rest.starts_with(word)) found.insert(name);
  }
  return found;
}

// `prices aws p5.48xlarge h100 spot`: of what was written without a flag, what names a provider, a machine, terms or a
// region.
PricesFlags sorted_out(PricesFlags flags, const catalog::Catalog& catalog) {
  const std::string words = std::exchange(flags.gpu, {});
  const auto add = [](std::string& list, std::string_view word) {
    list += (list.empty() ? "" : ",") + std::string(word);
  };
  for (std::string_view word : split_list(words, ',')) {
    if (catalog.match_gpus(catalog::split_gpu_count(word).name)) {
      add(flags.gpu, word);  // some machines are called as their GPU is
    } else if (catalog::match_providers(word, all_of(catalog, &Price::provider))) {
      add(flags.provider, word);
    } else if (catalog::read_purchase(word)) {
      add(flags.purchase, word);
    } else if (const auto machines = machines_called(to_lower(word), catalog); !machines.empty()) {
      for (const std::string& machine : machines) add(flags.instance, machine);
    } else {
      add(catalog::match_regions(word, all_of(catalog, &Price::region)) ? flags.region : flags.gpu, word);
    }
  }
  return flags;
}

}  // namespace

Checked<Outcome> list_prices(const PricesFlags& typed) {
  RIGHTSIZE_TRY(catalog::Catalog opened, open_catalog(typed.catalog, typed.store));
  const auto catalog = std::make_shared<const catalog::Catalog>(std::move(opened));
  const PricesFlags flags = sorted_out(typed, *catalog);
  RIGHTSIZE_TRY(market::PriceBook opened_book, open_prices(*catalog, flags.price));
  const auto kept_book = std::make_shared<const market::PriceBook>(std::move(opened_book));
  const market::PriceBook& book = *kept_book;
  Result<const SortKey*> key = find_sort_key(flags.sort);
  if (!key) return fail(key.error());
  Result<std::vector<Row>> offers = select(flags, book);
  if (!offers) return fail(offers.error());
  std::sort(offers->begin(), offers->end(),
            [&](const Row& a, const Row& b) { return sorts_before(a, b, (*key)->value); });
  if (Result<> kept = keep_best(*offers, flags.best_per); !kept) return fail(kept.error());
  if (flags.top > 0 && offers->size() > static_cast<std::size_t>(flags.top)) {
    offers->resize(static_cast<std::size_t>(flags.top));
  }
  const auto listed = std::make_shared<const Listed>(Listed{catalog, kept_book, *std::move(offers)});
  Outcome outcome = make_outcome(listed, flags, peers_left_out(flags, book));
  outcome.report.long_lists = [listed](Json& document) {
    for (const Row& row : listed->rows) document["prices"].push_back(json_of(row));
  };
  return outcome;
}

}  // namespace rightsize::app
