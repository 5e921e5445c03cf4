// rightsize prices: where a GPU is cheapest, per hour, per TFLOP/s or per GiB, and how old that price is.
#include <algorithm>
#include <cmath>
#include <map>
#include <memory>
#include <set>
#include <span>
#include <utility>

#include <fmt/format.h>

#include "base/list_of.h"
#include "base/suggest.h"
#include "base/text.h"
#include "catalog/words.h"
#include "rightsize/input/named_gpu.h"
#include "rightsize/prices/prices.h"

namespace rightsize::app {
namespace {

using catalog::Price;
using report::Fields;
using report::spare;

// An offer with its prices per unit of compute, bandwidth and memory, in dollars per hour.
struct PricedOffer : market::Offer {
  double per_hour = 0;
  double per_gpu = 0;
  double per_tflop = NAN;  // of the fastest dense 16-bit format
  double per_gbs = 0;      // of memory bandwidth
  double per_gib = 0;      // of memory
  double age_days = NAN;
  double total = NAN;                                  // for --gpus and --hours
  std::optional<catalog::ExchangeRate> shown_in = {};  // of --currency
  market::PriceOutlook outlook = {};                   // over the next hour
};

PricedOffer make_row(const market::Offer& offer, const market::PriceBook& book, Date now) {
  PricedOffer row{offer};
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
  double PricedOffer::*value;  // smaller comes first; unknown last
};
constexpr SortKey kSortKeys[] = {
    {"usd-per-gpu-hour", &PricedOffer::per_gpu},     {"usd-per-hour", &PricedOffer::per_hour},
    {"usd-per-tflop-hour", &PricedOffer::per_tflop}, {"usd-per-gbs-hour", &PricedOffer::per_gbs},
    {"usd-per-gib-hour", &PricedOffer::per_gib},     {"age", &PricedOffer::age_days},
};

Result<const SortKey*> find_sort_key(const std::string& name) {
  std::vector<std::string> names;
  const std::string wanted = sort_key_meant(name);
  for (const SortKey& key : kSortKeys) {
    if (key.name == wanted || key.name == fmt::format("usd-per-{}-hour", wanted)) return &key;  // "tflop"
    names.emplace_back(key.name);
  }
  return fail(bad_input(fmt::format("cannot sort by '{}'", name))
                  .with_hint(did_you_mean(name, names))
                  .with_hint(fmt::format("sort by {}", fmt::join(names, ", "))));
}

// Doubtful prices come last, as in every recommendation; ties are broken by name, to make the order independent of the
// catalogue's.
bool sorts_before(const PricedOffer& a, const PricedOffer& b, double PricedOffer::*key) {
  if (a.outlook.may_lead() != b.outlook.may_lead()) return a.outlook.may_lead();
  double x = a.*key, y = b.*key;
  if (std::isnan(x) != std::isnan(y)) return std::isnan(y);
  if (x != y && !std::isnan(x)) return x < y;
  auto identity = [](const PricedOffer& o) {
    return std::tie(o.price->provider, o.price->instance, o.price->region, o.price->zone, o.price->purchase);
  };
  return identity(a) < identity(b);
}

Result<std::vector<PricedOffer>> select(const PricesFlags& flags, const market::PriceBook& book) {
  RIGHTSIZE_TRY(const market::OfferFilter filter, read_filter(flags, book.catalog()));
  return list_of(book.offers(filter), [&](const market::Offer& offer) { return make_row(offer, book, today()); });
}

// Keeps the first offer of each group; the offers are already sorted.
void keep_best(std::vector<PricedOffer>& offers, const std::string& per) {
  if (per.empty()) return;
  std::set<std::string> seen;
  std::erase_if(offers, [&](const PricedOffer& offer) {
    const std::string& group = per == "gpu"        ? offer.gpu->name
                               : per == "provider" ? offer.price->provider
                               : per == "region"   ? offer.price->region
                                                   : offer.price->instance;
    return !seen.insert(group).second;
  });
}

std::string small_dollars(double per_hour) { return std::isnan(per_hour) ? "-" : fmt::format("${:.3g}", per_hour); }
// '?' marks a doubtful price (PriceOutlook::in_doubt).
std::string marked_dollars(const PricedOffer& row) {
  const std::optional<catalog::Conversion>& from = row.price->converted;
  return usd_rate(row.per_hour) + (from ? fmt::format(" ({:.4g} {})", from->amount, from->rate.currency) : "") +
         (row.outlook.in_doubt() ? " ?" : "");
}
template <class Value>
auto from_conversion(Value catalog::ExchangeRate::*value) {
  return [value](const PricedOffer& o) {
    return o.price->converted ? std::optional(o.price->converted->rate.*value) : std::nullopt;
  };
}
std::optional<double> per_gpu_in_currency(const PricedOffer& o) {
  return o.shown_in ? std::optional(o.per_gpu / o.shown_in->usd) : std::nullopt;
}
std::string in_currency(double usd, const PricedOffer& o) {
  return fmt::format("{:.4g} {}", usd / o.shown_in->usd, o.shown_in->currency);
}
std::string age_in_days(double days) { return std::isnan(days) ? "-" : fmt::format("{:.0f} d", days); }

const Fields<PricedOffer> kPriceFields = {
    {kOfferFields, [](const PricedOffer& o) -> const market::Offer& { return o; }},
    {"purchase", "terms", "terms of purchase", [](const PricedOffer& o) { return o.price->purchase; }},
    {"usd_per_hour", "$/h", "listed price of the machine", &PricedOffer::per_hour, marked_dollars},
    {"usd_per_gpu_hour", "$/GPU-h", "listed price per GPU", &PricedOffer::per_gpu, usd_rate},
    {"expected_usd_per_hour", "expected price over the next hour", kOutlookFields, &PricedOffer::outlook},
    {"community", "peer-hosted or resold", [](const PricedOffer& o) { return o.machine->community; }},
    {"launch_floor", "a launch price of spot that is expected to rise",
     [](const PricedOffer& o) { return o.outlook.floor; }},
    {"outdated", "over a year old", [](const PricedOffer& o) { return o.outlook.outdated; }},
    {"price_sources", "sources", "independent sources that agree within 25 %; 1: single-source",
     [](const PricedOffer& o) { return o.outlook.sources; }},
    {"may_lead", "recent or confirmed by a second source, not in doubt, and not a launch floor",
     [](const PricedOffer& o) { return o.outlook.may_lead(); }},
    {"currency", "currency", "currency of the price list",
     [](const PricedOffer& o) {
       return o.price->converted ? o.price->converted->rate.currency : std::string(catalog::kDollars);
     }},
    {"listed_per_hour?", "price of the machine in that currency; absent: dollars",
     [](const PricedOffer& o) {
       return o.price->converted ? std::optional(o.price->converted->amount) : std::nullopt;
     }},
    {"exchange_rate?", "dollars for one unit of it", from_conversion(&catalog::ExchangeRate::usd)},
    {"exchange_rate_date?", "day of that rate", from_conversion(&catalog::ExchangeRate::date)},
    {"exchange_rate_source?", "where that rate was read", from_conversion(&catalog::ExchangeRate::source)},
    {"per_gpu_hour_in_currency?", "in currency", "listed price per GPU-hour in --currency", per_gpu_in_currency,
     [](const PricedOffer& o) { return o.shown_in ? in_currency(o.per_gpu, o) : std::string("-"); }},
    {"total_usd?", "total", "cost of --gpus for --hours; a commitment is due for its whole term",
     [](const PricedOffer& o) { return report::when(!std::isnan(o.total), o.total); },
     [](const PricedOffer& o) { return std::isnan(o.total) ? std::string("-") : format_usd(usd(o.total)); }},
    {"usd_per_tflop_hour", "$/TFLOP-h", "per TFLOP/s of dense bf16, fp16 without it", &PricedOffer::per_tflop,
     small_dollars},
    {"usd_per_gbs_hour", "$/GB/s-h", "per GB/s of memory bandwidth", &PricedOffer::per_gbs, small_dollars},
    {"usd_per_gib_hour", "$/GiB-h", "per GiB of GPU memory", &PricedOffer::per_gib, small_dollars},
    {"vcpus", "vCPUs", [](const PricedOffer& o) { return o.machine->vcpus; }},
    {"memory_bytes", "memory of the machine", [](const PricedOffer& o) { return o.machine->memory; }},
    {"local_ssd_bytes", "local SSD", [](const PricedOffer& o) { return o.machine->local_ssd; }},
    {"interconnect", "link between its GPUs", [](const PricedOffer& o) { return o.machine->interconnect; }},
    {"network_bytes_per_second", "network bandwidth", [](const PricedOffer& o) { return o.machine->network; }},
    {"fabric", "network fabric", [](const PricedOffer& o) { return o.machine->fabric; }},
    {"source", "where the price was read",
     [](const PricedOffer& o) {
       const catalog::Provenance& from = o.price->provenance;
       return from.sources.empty() ? from.file : fmt::format("{}", fmt::join(from.sources, ", "));
     }},
    {"date", "when it was read", [](const PricedOffer& o) { return o.price->provenance.date; }},
    {"age_days", "age", "days since then", &PricedOffer::age_days, age_in_days},
    {"unverified", "no readable source confirms it",
     [](const PricedOffer& o) { return !o.price->provenance.unverified.empty(); }},
    {"note", "remarks", [](const PricedOffer& o) { return o.price->provenance.note; }},
    {"file", "file with the price", [](const PricedOffer& o) { return o.price->provenance.file; }},
    {"line", "its line there", [](const PricedOffer& o) { return o.price->provenance.line; }},
};

// The column of the order is never left out.
std::vector<report::ColumnOf> price_columns(bool total, bool currency, std::string_view sort) {
  const auto maybe = [&](const char* name) {
    std::string key(name);
    std::ranges::replace(key, '_', '-');
    return key == sort ? report::ColumnOf(name) : spare(name);
  };
  std::vector<report::ColumnOf> columns(
      {"provider", "instance", "gpus", "gpu", "region", "purchase", "usd_per_hour", "usd_per_gpu_hour"});
  if (currency) columns.emplace_back("per_gpu_hour_in_currency");
  if (total) columns.emplace_back("total_usd");
  columns.insert(columns.end(), {maybe("usd_per_tflop_hour"), maybe("usd_per_gbs_hour"), maybe("usd_per_gib_hour"),
                                 "age_days", spare("price_sources"), spare("currency")});
  return columns;
}

// How old a provider's prices are.
struct Age {
  std::string provider = {};
  int prices = 0;
  double newest = NAN, oldest = NAN;

  void add(double days) {
    ++prices;
    newest = std::fmin(newest, days);
    oldest = std::fmax(oldest, days);
  }
};

const Fields<Age> kAgeFields = {
    {"provider", "the provider", &Age::provider},
    {"prices", "how many of its prices are listed", &Age::prices},
    {"newest_age_days", "days since the newest was read", &Age::newest},
    {"oldest_age_days", "days since the oldest was read", &Age::oldest},
};

// The offers, with the catalogue and the prices they point into.
struct Listed {
  std::shared_ptr<const catalog::Catalog> catalog;
  std::shared_ptr<const market::PriceBook> book;
  std::vector<PricedOffer> rows;
  std::vector<Age> ages = {};
};

const Fields<Listed> kListFields = {
    {"prices", "the prices, in the order of --sort", kPriceFields, &Listed::rows},
    {"providers", "how old each provider's prices are", kAgeFields, &Listed::ages},
};
const report::Document<Listed> kPricesDocument("prices", "Prices of GPU machines", kListFields);

std::vector<Age> ages_of(const std::vector<PricedOffer>& offers) {
  std::map<std::string, Age> by_provider;
  for (const PricedOffer& o : offers)
    by_provider.try_emplace(o.price->provider, Age{o.price->provider}).first->second.add(o.age_days);
  return list_of(by_provider, [](const auto& age) { return age.second; });
}

// Text shows only the first rows, so the other rows are built only for formats that show them.
report::Table table_of(const std::shared_ptr<const Listed>& offers, std::optional<int> top, const std::string& sort) {
  const std::vector<PricedOffer>& rows = offers->rows;
  const auto shown = static_cast<std::size_t>(top.value_or(40));
  const bool total = !rows.empty() && !std::isnan(rows.front().total);
  const bool currency = !rows.empty() && rows.front().shown_in;
  const std::size_t first = shown == 0 ? rows.size() : std::min(rows.size(), shown);
  report::Table table =
      report::table_of(kPriceFields, std::span(rows).first(first), price_columns(total, currency, sort));
  table.most_shown = shown;
  table.later_rows = rows.size() - first;
  table.later_row = [offers, first, total, currency, sort](std::size_t i) {
    return report::table_of(kPriceFields, std::span(offers->rows).subspan(first + i, 1),
                            price_columns(total, currency, sort))
        .rows.front();
  };
  return table;
}

constexpr double kStaleDays = 180;

std::string days_of(const Age& age) {
  if (std::isnan(age.newest)) return "undated";
  if (age.newest == age.oldest) return fmt::format("{:.0f} days", age.oldest);
  return fmt::format("{:.0f}-{:.0f} days", age.newest, age.oldest);
}

// The age of each provider's prices if there are few, otherwise the range and the stale ones; and how to update them.
std::string age_sentence(const std::vector<Age>& by_provider) {
  std::vector<std::string> parts, stale;
  Age all;
  for (const Age& age : by_provider) {
    const bool old = age.newest > kStaleDays;
    parts.push_back(age.provider + " " + days_of(age) + (old ? " (stale)" : ""));
    if (old) stale.push_back(age.provider);
    all.add(age.newest);
    all.add(age.oldest);
  }
  std::string text = fmt::format("Price age: {}.", fmt::join(parts, ", "));
  if (constexpr std::size_t kFew = 8; parts.size() > kFew)
    text = fmt::format("Price age: {}{}.", days_of(all),
                       stale.empty() ? "" : fmt::format("; over half a year: {}", fmt::join(stale, ", ")));
  return text + (all.oldest > 30 ? " 'rightsize prices update' fetches newer ones, 'prices import' reads files." : "");
}

// Prices from the user's own files, which must not be mistaken for ours.
std::string overlay_sentence(const std::vector<PricedOffer>& offers) {
  std::set<std::string> files, flags;
  for (const PricedOffer& o : offers) {
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

// "Converted from EUR at 1.162 (ecb-rates, 2026-08-26): seeweb."
std::string conversion_sentence(const std::vector<PricedOffer>& offers) {
  std::map<std::string, std::set<std::string>> by_rate;
  for (const PricedOffer& o : offers) {
    if (!o.price->converted) continue;
    const catalog::ExchangeRate& rate = o.price->converted->rate;
    by_rate[fmt::format("{} at {:.5g} ({}, {})", rate.currency, rate.usd, rate.source, format_date(rate.date))].insert(
        o.price->provider);
  }
  std::vector<std::string> parts;
  for (const auto& [rate, providers] : by_rate)
    parts.push_back(fmt::format("{}: {}", rate, fmt::join(providers, ", ")));
  return parts.empty() ? "" : fmt::format("Converted from {}.", fmt::join(parts, "; "));
}

// "EUR at 1.162 USD (ecb-rates, 2026-08-26)."
std::string shown_in_sentence(const std::vector<PricedOffer>& offers) {
  const std::optional<catalog::ExchangeRate>& rate = offers.front().shown_in;
  if (!rate) return {};
  return fmt::format("1 {} is {:.5g} USD ({}, {}).", rate->currency, rate->usd, rate->source, format_date(rate->date));
}

// "lambda, oci or runpod"
std::string either_of(const std::vector<std::string>& names) {
  std::string text;
  for (std::size_t i = 0; i < names.size(); ++i)
    text += (i == 0 ? "" : i + 1 < names.size() ? ", " : " or ") + names[i];
  return text;
}

// Names offers for any region from providers that do not confirm the GPU in the requested region.
std::string unplaced_sentence(const PricesFlags& flags, const market::PriceBook& book) {
  const Result<market::OfferFilter> filter = read_filter(flags, book.catalog());
  if (!filter) return {};
  std::set<std::string> providers;
  const std::vector<market::Offer> offers = book.unplaced(*filter);
  for (const market::Offer& offer : offers) providers.insert(offer.machine->provider);
  if (offers.empty()) return {};
  return fmt::format("{} not shown: no source confirms that {} has this GPU in {}.",
                     offers.size() == 1 ? "1 offer" : fmt::format("{} offers", offers.size()),
                     either_of({providers.begin(), providers.end()}), either_of(words_of(flags.region)));
}

// Peer-hosted offers that only --community shows.
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

std::string offer_words(const PricedOffer& row) {
  return fmt::format("{}, {} {}, {}, {}", row.gpu->name, row.price->provider, row.price->instance,
                     row.price->region == "any" ? "any region" : place_of(row.price->region, row.price->zone),
                     catalog::name_of(row.price->purchase));
}

std::string sources_words(const PricedOffer& row) {
  if (row.is_own() || std::isnan(row.age_days)) return {};
  return fmt::format(", {} old, {}", row.age_days == 1 ? "1 day" : fmt::format("{:.0f} days", row.age_days),
                     row.outlook.sources == 1 ? "single source" : fmt::format("{} sources", row.outlook.sources));
}

// ", EUR 2.49" of a price in dollars, with --currency.
std::string beside(double usd, const PricedOffer& row) {
  return row.shown_in ? fmt::format(" ({})", in_currency(usd, row)) : "";
}

// The likely price of a GPU today: an old price may have moved. Every sentence about an offer uses it.
double today_per_gpu(const PricedOffer& row) { return row.per_gpu * (row.outlook.likely / row.outlook.listed); }
bool has_moved(const PricedOffer& row) {
  return std::abs(today_per_gpu(row) / row.per_gpu - 1) > 0.02;  // worth mentioning
}
std::string price_words(const PricedOffer& row) {
  return has_moved(row) ? fmt::format("{}/GPU-h probably, {} (listed at {}{})", usd_rate(today_per_gpu(row)),
                                      offer_words(row), usd_rate(row.per_gpu), sources_words(row))
                        : fmt::format("{}/GPU-h, {}{}", usd_rate(row.per_gpu), offer_words(row), sources_words(row));
}

// The cheapest recent offers on each of the other terms, and on the same terms elsewhere: " On other terms:
// $3.20/GPU-h, ...". Spot is no substitute for terms that keep the machine. Empty if there is none.
std::string alternative(const PricesFlags& flags, const market::PriceBook& book, double most_days) {
  PricesFlags terms = flags, places = flags, above = flags;
  terms.purchase.clear(), places.provider.clear(), places.region.clear(), above.max_price.reset();
  std::string text;
  for (const auto& [other, words] :
       {std::pair(&terms, "On other terms"), std::pair(&places, "Elsewhere"), std::pair(&above, "Above the limit")}) {
    const Result<std::vector<PricedOffer>> rows = select(*other, book);
    if (!rows || (other == &above && !flags.max_price)) continue;
    std::map<catalog::Purchase, const PricedOffer*> cheapest;
    for (const PricedOffer& row : *rows) {
      if (row.age_days > most_days) continue;
      const auto rank = [](const PricedOffer& o) { return std::pair(!o.outlook.may_lead(), today_per_gpu(o)); };
      const PricedOffer*& best = cheapest[row.price->purchase];
      if (best == nullptr || rank(row) < rank(*best)) best = &row;
    }
    if (cheapest.size() > 1) cheapest.erase(catalog::Purchase::kSpot);
    if (cheapest.size() > 1) cheapest.erase(catalog::Purchase::kBlock);
    std::vector<std::string> parts;
    for (const auto& [term, row] : cheapest) parts.push_back(price_words(*row));
    if (!parts.empty()) text += fmt::format(" {}: {}.", words, fmt::join(parts, "; "));
  }
  return text;
}

// "Cheapest per GPU: $2.89/GPU-h, h100-pcie, runpod 1x_H100-PCIe_SECURE, any region, on-demand, 8 days old, 2 sources."
// An old price is replaced by its likely price today; the lowest price on file comes second, with its age.
std::string cheapest_sentence(const std::vector<PricedOffer>& offers, const PricesFlags& flags,
                              const market::PriceBook& book) {
  constexpr double kWorthSaying = 0.02;
  const auto today = today_per_gpu;
  const PricedOffer& best = *std::ranges::min_element(offers, {}, [&](const PricedOffer& row) {
    return std::pair(!row.outlook.may_lead(), std::isnan(today(row)) ? row.per_gpu : today(row));
  });
  const PricedOffer& lowest = *std::ranges::min_element(offers, {}, &PricedOffer::per_gpu);
  const double kTooOld = in_days(kYear);  // too old to estimate today's price
  if (best.age_days > kTooOld) {
    return fmt::format("No recent {}price on file matches; the last is {}/GPU-h{}, {}{}: do not rely on it.{}",
                       flags.purchase.empty() ? "" : flags.purchase + " ", usd_rate(best.per_gpu),
                       beside(best.per_gpu, best), offer_words(best), sources_words(best),
                       alternative(flags, book, kTooOld));
  }
  std::string text = has_moved(best) ? fmt::format("Estimated for today: {}/GPU-h{}, {}; last listed at {}{}.",
                                                   usd_rate(today(best)), beside(today(best), best), offer_words(best),
                                                   usd_rate(best.per_gpu), sources_words(best))
                                     : fmt::format("Cheapest per GPU: {}/GPU-h{}, {}{}.", usd_rate(best.per_gpu),
                                                   beside(best.per_gpu, best), offer_words(best), sources_words(best));
  if (&lowest != &best && lowest.per_gpu < (1 - kWorthSaying) * best.per_gpu && lowest.age_days <= kTooOld)
    text += fmt::format(" Lowest on record: {}/GPU-h, {}{}{}.", usd_rate(lowest.per_gpu), offer_words(lowest),
                        sources_words(lowest), lowest.outlook.may_lead() ? "" : " (check it with the provider)");
  return text;
}

// "You could pay 36 % less than $3.90/GPU-h: ... At azure you pay 44 % less than the list price: ..."
std::string paid_sentence(PricesFlags flags, const market::PriceBook& book) {
  const double paid = *flags.paid / (flags.machine_limit ? catalog::split_gpu_count(flags.gpu).count.value_or(1) : 1);
  if (flags.purchase.empty()) flags.purchase = "on-demand";
  const auto best_of = [&](const PricesFlags& asked) -> std::optional<PricedOffer> {
    const Result<std::vector<PricedOffer>> rows = select(asked, book);
    if (!rows || rows->empty()) return std::nullopt;
    return *std::ranges::min_element(
        *rows, {}, [](const PricedOffer& o) { return std::pair(!o.outlook.may_lead(), today_per_gpu(o)); });
  };
  const auto against = [&](const PricedOffer& row, std::string_view what) {
    const double less = 1 - paid / today_per_gpu(row);
    return fmt::format("{:.0f} % {} than {}: {}", 100 * std::abs(less), less < 0 ? "more" : "less", what,
                       price_words(row));
  };
  const std::optional<PricedOffer> here = best_of(flags);
  const std::string provider = std::exchange(flags.provider, {});
  flags.region.clear(), flags.instance.clear();
  if (here) flags.gpu = here->gpu->name;
  const std::optional<PricedOffer> best = best_of(flags);
  if (!best) return {};
  const std::string total =
      flags.hours
          ? fmt::format("{} GPUs for {} at {}/GPU-h: {}. ", flags.gpus.value_or(1), format_duration(*flags.hours),
                        usd_rate(paid), format_usd(usd(paid * flags.gpus.value_or(1) * in_hours(*flags.hours))))
          : std::string();
  std::string text = usd_rate(paid) + "/GPU-h is a good price, " + against(*best, "the cheapest on file");
  if (const double saved = 1 - today_per_gpu(*best) / paid; saved > 0.01)
    text =
        fmt::format("You could pay {:.0f} % less than {}/GPU-h: {}", 100 * saved, usd_rate(paid), price_words(*best));
  if (here && here->price != best->price && !provider.empty())
    text += fmt::format(". At {} you pay {}", provider, against(*here, "the list price"));
  return total + text + ".";
}

// Whole machines for the time they are paid for: a commitment is paid for its full term.
double total_cost(const PricedOffer& row, int gpus, Seconds time) {
  const catalog::Purchase terms = row.price->purchase;
  const Seconds least = terms == catalog::Purchase::kOneYear      ? kYear
                        : terms == catalog::Purchase::kThreeYears ? kYear * 3.0
                                                                  : Seconds{};
  const int machines = (gpus + row.machine->gpus - 1) / row.machine->gpus;
  return machines * row.per_hour * in_hours(std::max(time, least));
}

// The cost of --hours, or how long --budget lasts.
std::string total_of(const PricedOffer& row, const PricesFlags& flags) {
  const double paid = flags.budget.value_or(0) / row.total;  // hours
  return flags.budget ? fmt::format("{} h ({})", format_count(std::floor(paid)), format_duration(hours(paid)))
                      : format_usd(usd(row.total));
}

// "16 GPUs for 2,190 h: $87,000 on-demand (gcp a3-highgpu-8g), $30,000 spot (...)": the cheapest of each term.
std::string totals_sentence(const std::vector<PricedOffer>& offers, const PricesFlags& flags) {
  std::map<catalog::Purchase, const PricedOffer*> cheapest;
  for (const PricedOffer& row : offers) {
    const PricedOffer*& best = cheapest[row.price->purchase];
    const auto rank = [](const PricedOffer& o) { return std::pair(!o.outlook.may_lead(), o.total); };
    if (best == nullptr || rank(row) < rank(*best)) best = &row;
  }
  std::vector<std::string> parts;
  // With --best-per, the sides of a comparison.
  constexpr std::size_t kMostSides = 6;
  if (!flags.best_per.empty() && offers.size() > 1 && offers.size() <= kMostSides) {
    for (const PricedOffer& row : offers)
      parts.push_back(fmt::format("{} from {} ({}, {}, {})", total_of(row, flags), row.price->provider,
                                  row.price->instance, row.price->region, catalog::name_of(row.price->purchase)));
    cheapest.clear();
  }
  for (const auto& [terms, row] : cheapest) {
    const bool whole_term = row->total > 1.001 * row->per_hour * in_hours(*flags.hours) *
                                             std::ceil(1.0 * flags.gpus.value_or(1) / row->machine->gpus);
    // A term far longer than the time was not asked for and is not a way to pay for it.
    const bool far_longer = flags.purchase.empty() && cheapest.contains(catalog::Purchase::kOnDemand) &&
                            row->total > 3 * cheapest.at(catalog::Purchase::kOnDemand)->total;
    if (whole_term && (flags.budget || far_longer)) continue;
    parts.push_back(fmt::format("{} {} ({} {}{})", total_of(*row, flags), catalog::name_of(terms), row->price->provider,
                                row->price->instance, whole_term ? ", the whole term is due" : ""));
  }
  std::string missing;
  for (const catalog::Purchase terms :
       catalog::read_purchases(flags.purchase).value_or(std::vector<catalog::Purchase>{})) {
    if (!cheapest.contains(terms)) missing += fmt::format(" No {} price on file.", catalog::name_of(terms));
  }
  const auto of_machine = [](const PricedOffer& row) { return row.machine->gpus; };  // whole machines are paid for
  const int gpus = flags.gpus.value_or(of_machine(*std::ranges::min_element(offers, {}, of_machine)));
  const std::string them = gpus == 1 ? "1 GPU" : fmt::format("{} GPUs", gpus);
  const std::string costs = fmt::format("{}", fmt::join(parts, "; "));
  return flags.budget ? fmt::format("{} pays for {} for {}.{}", format_usd(usd(*flags.budget)), them, costs, missing)
                      : fmt::format("{} for {}: {}.{}", them, format_duration(*flags.hours), costs, missing);
}

// Offers on other terms, if there are none on these.
std::string nothing_sentence(const PricesFlags& flags, const market::PriceBook& book) {
  if (std::string unplaced = unplaced_sentence(flags, book); !unplaced.empty())
    return "No price on file matches these filters. " + unplaced + alternative(flags, book, INFINITY);
  return fmt::format("No {}{}price on file matches{}.{}{}", fmt::join(split_list(flags.purchase, ','), " or "),
                     flags.purchase.empty() ? "" : " ", flags.purchase.empty() ? " these filters" : "",
                     alternative(flags, book, INFINITY),
                     flags.purchase.empty() ? "" : " A price of your own: a row in prices/NAME.csv of --catalog.");
}

Outcome make_outcome(const std::shared_ptr<const Listed>& listed, const PricesFlags& flags) {
  const std::vector<PricedOffer>& offers = listed->rows;
  Outcome outcome{{.title = "Prices"}};
  outcome.report.long_lists = [listed](Json& document) { document = kPricesDocument.of(*listed); };
  if (offers.empty()) return nothing_found(std::move(outcome), nothing_sentence(flags, *listed->book));
  if (flags.paid) outcome.report.say(paid_sentence(flags, *listed->book));
  if (flags.hours) outcome.report.say(totals_sentence(offers, flags));
  outcome.report.say(cheapest_sentence(offers, flags, *listed->book));
  outcome.report.blocks.emplace_back(table_of(listed, flags.top, flags.sort));
  std::string notes =
      age_sentence(listed->ages) +
      " $/TFLOP-h is per dense bf16 (fp16 without bf16) peak, $/GB/s-h per memory bandwidth of the data sheet, $/GiB-h "
      "per GPU memory.";
  if (std::ranges::any_of(offers, [](const PricedOffer& row) { return row.outlook.in_doubt(); })) {
    notes +=
        "\n'?' marks unconfirmed prices: over 60 days old with one source, contradicted, or a spot price that has not "
        "changed since the launch of the GPU. "
        "They are listed after confirmed prices; check them with the provider before relying on them.";
  }
  for (const std::string& more : {conversion_sentence(offers), shown_in_sentence(offers),
                                  unplaced_sentence(flags, *listed->book), missing_sentence(flags, *listed->book)}) {
    if (!more.empty()) notes += "\n" + more;
  }
  if (const std::size_t left_out = peers_left_out(flags, *listed->book); left_out > 0)
    notes += fmt::format("\n{} on marketplaces not shown; add --community.",
                         left_out == 1 ? "1 offer" : fmt::format("{} offers", left_out));
  if (std::string own = overlay_sentence(offers); !own.empty()) notes += "\n" + own;
  outcome.report.say(std::move(notes));
  return outcome;
}

}  // namespace

Checked<Outcome> list_prices(const PricesFlags& typed) {
  RIGHTSIZE_TRY(catalog::Catalog opened, open_catalog(typed.catalog, typed.store));
  const auto catalog = std::make_shared<const catalog::Catalog>(std::move(opened));
  PricesFlags flags = with_known_names(sorted_out(typed, *catalog), *catalog);
  RIGHTSIZE_TRY(market::PriceBook opened_book, open_prices(*catalog, flags.price));
  const auto book = std::make_shared<const market::PriceBook>(std::move(opened_book));
  RIGHTSIZE_TRY(const SortKey* key, find_sort_key(flags.sort));
  flags.sort = key->name;
  if (flags.gpus && !flags.hours) {
    flags.machine_gpus = *flags.gpus;
    note(fmt::format("machines with {} GPU{}; --hours 730h adds their cost in a month", *flags.gpus,
                     *flags.gpus == 1 ? "" : "s"));
  }
  RIGHTSIZE_TRY(std::vector<PricedOffer> offers, select(flags, *book));
  if (flags.max_price) {
    const bool machine = flags.machine_limit && catalog::split_gpu_count(flags.gpu).count.value_or(1) > 1;
    note(fmt::format("at most {} per {}", usd_rate(*flags.max_price), machine ? "hour of a machine" : "GPU-hour"));
  }
  if (!flags.currency.empty()) {
    RIGHTSIZE_TRY(const catalog::ExchangeRate rate, catalog->exchange_rate(flags.currency, today()));
    for (PricedOffer& row : offers) row.shown_in = rate;
  }
  if (flags.hours) {
    for (PricedOffer& row : offers) row.total = total_cost(row, flags.gpus.value_or(1), *flags.hours);
  }
  std::ranges::sort(offers, [&](const PricedOffer& a, const PricedOffer& b) { return sorts_before(a, b, key->value); });
  keep_best(offers, flags.best_per);
  keep_top(offers, flags.top);
  std::vector<Age> ages = ages_of(offers);
  return make_outcome(std::make_shared<const Listed>(Listed{catalog, book, std::move(offers), std::move(ages)}), flags);
}

}  // namespace rightsize::app
