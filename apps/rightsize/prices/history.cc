// rightsize prices history, diff, forget: the stored prices.
#include <algorithm>
#include <functional>

#include <fmt/format.h>

#include "base/text.h"
#include "catalog/words.h"
#include "feeds/price_store.h"
#include "rightsize/prices/prices.h"

namespace rightsize::app {
namespace {

using report::Fields;
using report::kTableOnly;

Result<feeds::PriceFilter> filter_of(const PricesFlags& flags, const catalog::Catalog& catalog) {
  feeds::PriceFilter filter;
  filter.providers = words_of(flags.provider);
  filter.instances = words_of(flags.instance);
  filter.regions = words_of(flags.region);
  filter.zones = words_of(flags.zone);
  for (std::string_view name : split_list(flags.gpu, ',')) {
    RIGHTSIZE_TRY(const std::vector<const catalog::Gpu*> gpus, catalog.match_gpus(name));
    for (const catalog::Machine& machine : catalog.machines) {
      if (std::ranges::any_of(gpus, [&](const catalog::Gpu* gpu) { return gpu->name == machine.gpu; }))
        filter.instances.push_back(machine.instance);
    }
  }
  RIGHTSIZE_TRY(filter.purchases, catalog::read_purchases(flags.purchase));
  filter.from = flags.from, filter.until = flags.to;
  return filter;
}

Result<feeds::PriceStore> open_store(const PricesFlags& flags, store::Access access = store::Access::kRead) {
  return feeds::PriceStore::open(feeds::PriceStore::url(flags.store), access);
}

const Fields<feeds::PricePoint> kStoredOfferFields = {
    {"provider", "provider", "who sells it", &feeds::PricePoint::provider},
    {"instance", "instance", "instance type", &feeds::PricePoint::instance},
    {"region", "region", "its region", &feeds::PricePoint::region,
     [](const feeds::PricePoint& p) { return place_of(p.region, p.zone); }},
    {"zone", "zone; null: the whole region", [](const feeds::PricePoint& p) { return text_or_null(p.zone); }},
    {"purchase", "terms", "terms of purchase", &feeds::PricePoint::purchase},
};

const Fields<feeds::PricePoint> kPointFields = {
    {"date", "the day", &feeds::PricePoint::date},
    {"usd_per_hour", "price of the machine", &feeds::PricePoint::usd_per_hour},
};

// One offer over time.
struct OfferHistory {
  std::vector<feeds::PricePoint> points;
  double low = 0, high = 0;

  const feeds::PricePoint& last() const { return points.back(); }
};

const Fields<OfferHistory> kOfferHistoryFields = {
    {kStoredOfferFields, &OfferHistory::last},
    {"prices", "the price of each day it was read", kPointFields, &OfferHistory::points},
    {"from", "from", "first day", [](const OfferHistory& l) { return l.points.front().date; }, kTableOnly},
    {"to", "to", "last day", [](const OfferHistory& l) { return l.last().date; }, kTableOnly},
    {"days", "days", "days with a price", [](const OfferHistory& l) { return l.points.size(); }, kTableOnly},
    {"first_usd_per_hour", "first $/h", "", [](const OfferHistory& l) { return l.points.front().usd_per_hour; },
     usd_rate, kTableOnly},
    {"low_usd_per_hour", "low", "", &OfferHistory::low, usd_rate, kTableOnly},
    {"high_usd_per_hour", "high", "", &OfferHistory::high, usd_rate, kTableOnly},
    {"last_usd_per_hour", "last $/h", "", [](const OfferHistory& l) { return l.last().usd_per_hour; }, usd_rate,
     kTableOnly},
};

const Fields<std::vector<OfferHistory>> kHistoryFields = {
    {"offers", "one entry per offer", kOfferHistoryFields, std::identity()}};
const report::Document<std::vector<OfferHistory>> kHistoryDocument("prices-history", "Prices over time",
                                                                   kHistoryFields);

std::vector<OfferHistory> lines_of(const std::vector<feeds::PricePoint>& points) {
  std::vector<OfferHistory> lines;
  for (const feeds::PricePoint& point : points) {
    if (lines.empty() || lines.back().last().key() != point.key())
      lines.push_back({{}, point.usd_per_hour, point.usd_per_hour});
    OfferHistory& line = lines.back();
    line.points.push_back(point);
    line.low = std::min(line.low, point.usd_per_hour);
    line.high = std::max(line.high, point.usd_per_hour);
  }
  return lines;
}

// What the catalogue knows, each price on the day it was read.
Result<std::vector<feeds::PricePoint>> dated_prices(const PricesFlags& typed, const catalog::Catalog& catalog) {
  const PricesFlags flags = with_known_names(sorted_out(typed, catalog), catalog);
  RIGHTSIZE_TRY(const market::OfferFilter filter, read_filter(flags, catalog));
  const market::PriceBook book(catalog);
  std::vector<feeds::PricePoint> points;
  for (const market::Offer& offer : book.offers(filter)) {
    const catalog::Price& price = *offer.price;
    const std::optional<Date> date = price.provenance.date;
    if (!date || (flags.from && *date < *flags.from) || (flags.to && *date > *flags.to)) continue;
    feeds::PricePoint& point = points.emplace_back();
    point.provider = price.provider, point.instance = price.instance, point.region = price.region;
    point.zone = price.zone, point.purchase = price.purchase, point.date = *date;
    point.usd_per_hour = in_usd_per_machine_hour(offer.rate());
  }
  return points;
}

report::LineChart chart_of(const std::vector<OfferHistory>& lines) {
  report::LineChart chart{.title = "$/h per machine", .x_label = "day", .y_label = "$/h"};
  for (const OfferHistory& line : lines) {
    if (chart.series.size() == 6 || line.points.size() < 2) continue;
    const feeds::PricePoint& offer = line.last();
    report::LineChart::Series& series = chart.series.emplace_back();
    series.label = fmt::format("{} {} {} {}", offer.provider, offer.instance, place_of(offer.region, offer.zone),
                               name_of(offer.purchase));
    for (const feeds::PricePoint& point : line.points)
      series.points.push_back({static_cast<double>(point.date.day), point.usd_per_hour, format_date(point.date)});
  }
  return chart;
}

const Fields<feeds::PriceChange> kChangeFields = {
    {kStoredOfferFields, &feeds::PriceChange::offer},
    {"before_usd_per_hour", "before $/h", "price on the first day; null: new", &feeds::PriceChange::before, usd_rate},
    {"after_usd_per_hour", "after $/h", "price on the last day", &feeds::PriceChange::after, usd_rate},
    {"change", "change", "relative change", &feeds::PriceChange::ratio,
     [](const feeds::PriceChange& c) { return c.ratio() ? fmt::format("{:+.1f} %", 100 * *c.ratio()) : "new"; },
     kTableOnly},
};

struct Changes {
  Date from, to;
  std::vector<feeds::PriceChange> changes;
};
const Fields<Changes> kChangesFields = {
    {"from", "the first day", &Changes::from},
    {"to", "the last day", &Changes::to},
    {"changes", "prices that differ, the largest change first", kChangeFields, &Changes::changes},
};
const report::Document<Changes> kChangesDocument("prices-diff", "Prices that changed between two days", kChangesFields);

const Fields<std::int64_t> kForgottenFields = {{"forgotten", "prices removed from the history", std::identity()}};
const report::Document<std::int64_t> kForgottenDocument("prices-forget", "Prices removed from the history",
                                                        kForgottenFields);

}  // namespace

Checked<Outcome> price_history(const PricesFlags& flags) {
  RIGHTSIZE_TRY(const catalog::Catalog catalog, open_catalog(flags.catalog, flags.store));
  RIGHTSIZE_TRY(const feeds::PriceFilter filter, filter_of(flags, catalog));
  RIGHTSIZE_TRY(feeds::PriceStore store, open_store(flags));
  RIGHTSIZE_TRY(std::vector<feeds::PricePoint> points, store.history(filter));
  const bool stored = !points.empty();
  // The store begins with its first import; the catalogue without it has older prices.
  RIGHTSIZE_TRY(const std::string overlay, catalog::overlay_directory(flags.catalog));
  RIGHTSIZE_TRY(const catalog::Catalog listed, catalog::load_catalog(overlay));
  const Result<std::vector<feeds::PricePoint>> dated = dated_prices(flags, listed);
  if (!dated && !stored) return fail(dated.error());
  if (dated) points.insert(points.end(), dated->begin(), dated->end());
  const auto day_of = [](const feeds::PricePoint& p) { return std::pair(p.key(), p.date); };
  std::ranges::stable_sort(points, {}, day_of);
  const auto same_day = [&](const auto& a, const auto& b) { return day_of(a) == day_of(b); };
  points.erase(std::unique(points.begin(), points.end(), same_day), points.end());
  std::vector<OfferHistory> offers = lines_of(points);
  std::stable_partition(offers.begin(), offers.end(), [](const OfferHistory& line) { return line.points.size() > 1; });
  Outcome outcome{{.title = "Price history", .document = kHistoryDocument.of(offers)}};
  if (offers.empty()) {
    return nothing_found(std::move(outcome),
                         "Neither the price store nor the catalogue has such a price. 'rightsize prices import' and "
                         "'prices update' add prices.");
  }
  const auto changed = std::ranges::count_if(offers, [](const OfferHistory& line) { return line.low != line.high; });
  const std::string count = fmt::format("{} {}", offers.size(), offers.size() == 1 ? "offer" : "offers");
  outcome.report.say(
      stored ? fmt::format("{} with prices in the store or the catalogue; {} changed.", count, changed)
             : fmt::format("The price store has no such price yet: {} of the catalogue, each with the price of the "
                           "day it was read. 'rightsize prices update' stores today's prices, and the next update "
                           "shows what changed.",
                           count));
  outcome.report.show(
      "",
      report::table_of(kOfferHistoryFields, offers,
                       {"provider", "instance", "region", "purchase", "from", "to", "days", "first_usd_per_hour",
                        "low_usd_per_hour", "high_usd_per_hour", "last_usd_per_hour"}),
      40);
  if (report::LineChart chart = chart_of(offers); !chart.series.empty())
    outcome.report.pictures.emplace_back(std::move(chart));
  return outcome;
}

Checked<Outcome> price_diff(const PricesFlags& flags) {
  RIGHTSIZE_TRY(const catalog::Catalog catalog, open_catalog(flags.catalog, flags.store));
  RIGHTSIZE_TRY(const feeds::PriceFilter filter, filter_of(flags, catalog));
  RIGHTSIZE_TRY(feeds::PriceStore store, open_store(flags));
  Changes result;
  result.to = filter.until.value_or(today());
  result.from = filter.from.value_or(Date{result.to.day - 30});
  if (result.from >= result.to) return fail(bad_input("--from must be before --to"));
  RIGHTSIZE_TRY(result.changes, store.diff(filter, result.from, result.to));
  std::ranges::stable_sort(result.changes, std::greater{},
                           [](const feeds::PriceChange& c) { return std::abs(c.ratio().value_or(1e9)); });
  const auto count = [&](const auto& is) { return std::ranges::count_if(result.changes, is); };
  Outcome outcome{{.title = "Price changes", .document = kChangesDocument.of(result)}};
  outcome.report.say(fmt::format("From {} to {}: {} rose, {} fell, {} new.", format_date(result.from),
                                 format_date(result.to), count([](const auto& c) { return c.ratio() > 0; }),
                                 count([](const auto& c) { return c.ratio() && *c.ratio() < 0; }),
                                 count([](const auto& c) { return !c.ratio(); })));
  outcome.report.show("",
                      report::table_of(kChangeFields, result.changes,
                                       {"provider", "instance", "region", "purchase", "before_usd_per_hour",
                                        "after_usd_per_hour", "change"}),
                      40);
  return outcome;
}

Checked<Outcome> forget_prices(const PricesFlags& flags) {
  if (!flags.before) return fail(bad_input("'prices forget' needs --before 2026-01-01"));
  // A missing store is not created: there is nothing to forget.
  RIGHTSIZE_TRY(const bool exists, store::exists(feeds::PriceStore::url(flags.store)));
  RIGHTSIZE_TRY(feeds::PriceStore store, open_store(flags, exists ? store::Access::kWrite : store::Access::kRead));
  RIGHTSIZE_TRY(const std::int64_t forgotten, store.forget_before(*flags.before));
  Outcome outcome{{.title = "Forget", .document = kForgottenDocument.of(forgotten)}};
  outcome.report.say(fmt::format("{} prices from before {} removed.", forgotten, format_date(*flags.before)));
  return outcome;
}

}  // namespace rightsize::app
