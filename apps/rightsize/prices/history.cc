// rightsize prices history, diff, forget: what the price store remembers.
#include <algorithm>
#include <map>

#include <fmt/format.h>

#include "base/format.h"
#include "base/text.h"
#include "catalog/purchase_terms.h"
#include "feeds/price_store.h"
#include "rightsize/prices/prices.h"

namespace rightsize::app {
namespace {

using report::Align;
using report::Json;

std::vector<std::string> words_of(const std::string& list) {
  std::vector<std::string> words;
  for (std::string_view word : split_list(list, ',')) words.emplace_back(word);
  return words;
}

Result<feeds::PriceFilter> filter_of(const PricesFlags& flags, const catalog::Catalog& catalog) {
  feeds::PriceFilter filter;
  filter.providers = words_of(flags.provider);
  filter.instances = words_of(flags.instance);
  filter.regions = words_of(flags.region);
  filter.zones = words_of(flags.zone);
  for (std::string_view name : split_list(flags.gpu, ',')) {
    RIGHTSIZE_TRY(const std::vector<const catalog::Gpu*> gpus, catalog.match_gpus(name));
    for (const catalog::Machine& machine : catalog.machines) {
      if (std::any_of(gpus.begin(), gpus.end(), [&](const catalog::Gpu* gpu) { return gpu->name == machine.gpu; })) {
        filter.instances.push_back(machine.instance);
      }
    }
  }
  for (const std::string& word : words_of(flags.purchase)) {
    RIGHTSIZE_TRY(const catalog::Purchase purchase, catalog::read_purchase(word));
    filter.purchases.push_back(purchase);
  }
  if (!flags.from.empty()) {
    RIGHTSIZE_TRY(filter.from, parse_date(flags.from));
  }
  if (!flags.to.empty()) {
    RIGHTSIZE_TRY(filter.until, parse_date(flags.to));
  }
  return filter;
}

Result<feeds::PriceStore> open_store(const PricesFlags& flags) {
  return feeds::PriceStore::open(feeds::PriceStore::url(flags.store));
}

std::string place_of(const feeds::PricePoint& point) {
  return point.zone.empty() ? point.region : point.region + " " + point.zone;
}

std::string label_of(const feeds::PricePoint& point) {
  return fmt::format("{} {} {} {}", point.provider, point.instance, place_of(point), name_of(point.purchase));
}

Json json_of(const feeds::PricePoint& point) {
  return {{"provider", point.provider},
          {"instance", point.instance},
          {"region", point.region},
          {"zone", point.zone.empty() ? Json(nullptr) : Json(point.zone)},
          {"purchase", name_of(point.purchase)}};
}

// One offer over time.
struct Line {
  feeds::PricePoint last;
  Json points = Json::array();
  report::LineChart::Series series;
  double first = 0, low = 0, high = 0;
  int days = 0;
  Date begin;
};

std::vector<Line> lines_of(const std::vector<feeds::PricePoint>& points) {
  std::vector<Line> lines;
  for (const feeds::PricePoint& point : points) {
    if (lines.empty() || label_of(lines.back().last) != label_of(point)) {
      Line& line = lines.emplace_back();
      line.begin = point.date;
      line.first = line.low = line.high = point.usd_per_hour;
      line.series.label = label_of(point);
    }
    Line& line = lines.back();
    line.last = point;
    ++line.days;
    line.low = std::min(line.low, point.usd_per_hour);
    line.high = std::max(line.high, point.usd_per_hour);
    line.points.push_back({{"date", format_date(point.date)}, {"usd_per_hour", point.usd_per_hour}});
    line.series.points.push_back({static_cast<double>(point.date.day), point.usd_per_hour, format_date(point.date)});
  }
  return lines;
}

report::Cell dollars(double value) { return report::number_cell(format_usd_per_hour(value), value); }

}  // namespace

Checked<Outcome> price_history(const PricesFlags& flags) {
  RIGHTSIZE_TRY(const catalog::Catalog catalog, open_catalog(flags.catalog, flags.store));
  RIGHTSIZE_TRY(const feeds::PriceFilter filter, filter_of(flags, catalog));
  RIGHTSIZE_TRY(feeds::PriceStore store, open_store(flags));
  RIGHTSIZE_TRY(const std::vector<feeds::PricePoint> points, store.history(filter));
  Outcome outcome;
  outcome.report.title = "Price history";
  outcome.report.document = {{"schema", "rightsize/prices-history/1"}, {"offers", Json::array()}};
  const std::vector<Line> lines = lines_of(points);
  if (lines.empty()) {
    outcome.report.blocks.emplace_back(report::Paragraph{
        "No price in the store matches. 'rightsize prices import' and 'prices update' put prices there."});
    outcome.exit_code = kNoFeasibleAnswer;
    return outcome;
  }
  report::Table table;
  table.columns = {{"provider", "provider", Align::kLeft},
                   {"instance", "instance", Align::kLeft},
                   {"region", "region", Align::kLeft},
                   {"terms", "purchase", Align::kLeft},
                   {"from", "from", Align::kLeft},
                   {"to", "to", Align::kLeft},
                   {"days", "days", Align::kRight},
                   {"first $/h", "first_usd_per_hour", Align::kRight},
                   {"low", "low_usd_per_hour", Align::kRight},
                   {"high", "high_usd_per_hour", Align::kRight},
                   {"last $/h", "last_usd_per_hour", Align::kRight}};
  table.most_shown = 40;
  report::LineChart chart;
  chart.title = "$/h per machine";
  chart.x_label = "day";
  chart.y_label = "$/h";
  for (const Line& line : lines) {
    table.rows.push_back({report::text_cell(line.last.provider), report::text_cell(line.last.instance),
                          report::text_cell(place_of(line.last)), report::text_cell(name_of(line.last.purchase)),
                          report::text_cell(format_date(line.begin)), report::text_cell(format_date(line.last.date)),
                          report::number_cell(std::to_string(line.days), line.days), dollars(line.first),
                          dollars(line.low), dollars(line.high), dollars(line.last.usd_per_hour)});
    Json offer = json_of(line.last);
    offer["prices"] = line.points;
    outcome.report.document["offers"].push_back(offer);
    if (chart.series.size() < 6 && line.days > 1) chart.series.push_back(line.series);
  }
  outcome.report.blocks.emplace_back(std::move(table));
  if (!chart.series.empty()) outcome.report.pictures.emplace_back(std::move(chart));
  return outcome;
}

Checked<Outcome> price_diff(const PricesFlags& flags) {
  RIGHTSIZE_TRY(const catalog::Catalog catalog, open_catalog(flags.catalog, flags.store));
  RIGHTSIZE_TRY(const feeds::PriceFilter filter, filter_of(flags, catalog));
  RIGHTSIZE_TRY(feeds::PriceStore store, open_store(flags));
  const Date after = filter.until.value_or(today()), before = filter.from.value_or(Date{after.day - 30});
  if (before >= after) return fail(bad_input("--from must be before --to"));
  RIGHTSIZE_TRY(std::vector<feeds::PriceChange> changes, store.diff(filter, before, after));
  const auto size = [](const feeds::PriceChange& c) { return c.before ? std::abs(*c.after / *c.before - 1) : 1e9; };
  std::stable_sort(changes.begin(), changes.end(), [&](const auto& a, const auto& b) { return size(a) > size(b); });
  Outcome outcome;
  outcome.report.title = "Price changes";
  outcome.report.document = {{"schema", "rightsize/prices-diff/1"},
                             {"from", format_date(before)},
                             {"to", format_date(after)},
                             {"changes", Json::array()}};
  report::Table table;
  table.columns = {{"provider", "provider", Align::kLeft},
                   {"instance", "instance", Align::kLeft},
                   {"region", "region", Align::kLeft},
                   {"terms", "purchase", Align::kLeft},
                   {"before $/h", "before_usd_per_hour", Align::kRight},
                   {"after $/h", "after_usd_per_hour", Align::kRight},
                   {"change", "change", Align::kRight}};
  table.most_shown = 40;
  int risen = 0, fallen = 0;
  for (const feeds::PriceChange& change : changes) {
    const double ratio = change.before ? *change.after / *change.before - 1 : 0;
    risen += change.before && ratio > 0;
    fallen += change.before && ratio < 0;
    table.rows.push_back(
        {report::text_cell(change.offer.provider), report::text_cell(change.offer.instance),
         report::text_cell(place_of(change.offer)), report::text_cell(name_of(change.offer.purchase)),
         change.before ? dollars(*change.before) : report::unknown_cell(), dollars(*change.after),
         change.before ? report::number_cell(fmt::format("{:+.1f} %", 100 * ratio), ratio) : report::text_cell("new")});
    Json entry = json_of(change.offer);
    entry["before_usd_per_hour"] = report::json_number(change.before);
    entry["after_usd_per_hour"] = report::json_number(change.after);
    outcome.report.document["changes"].push_back(entry);
  }
  outcome.report.blocks.emplace_back(
      report::Paragraph{fmt::format("From {} to {}: {} rose, {} fell, {} new.", format_date(before), format_date(after),
                                    risen, fallen, static_cast<int>(changes.size()) - risen - fallen)});
  if (!table.rows.empty()) outcome.report.blocks.emplace_back(std::move(table));
  return outcome;
}

Checked<Outcome> forget_prices(const PricesFlags& flags) {
  if (flags.before.empty()) return fail(bad_input("'prices forget' needs --before 2026-01-01"));
  RIGHTSIZE_TRY(const Date before, parse_date(flags.before));
  RIGHTSIZE_TRY(feeds::PriceStore store, open_store(flags));
  RIGHTSIZE_TRY(const std::int64_t count, store.forget_before(before));
  Outcome outcome;
  outcome.report.title = "Forget";
  outcome.report.document = {{"schema", "rightsize/prices-forget/1"}, {"forgotten", static_cast<double>(count)}};
  outcome.report.blocks.emplace_back(
      report::Paragraph{fmt::format("{} prices of days before {} forgotten.", count, format_date(before))});
  return outcome;
}

}  // namespace rightsize::app
