// rightsize prices spot: what a job costs on machines that may be taken back, where, and when to leave.
#include <algorithm>
#include <filesystem>
#include <map>

#include <fmt/format.h>

#include "base/cancel.h"
#include "base/format.h"
#include "base/parse_units.h"
#include "feeds/price_store.h"
#include "market/interruptions.h"
#include "rightsize/prices/prices.h"

namespace rightsize::app {
namespace {

using catalog::Purchase;
using report::Align;
using report::Json;

struct Row {
  market::Offer offer;
  market::PriceOutlook outlook;
  double rate = 0;     // interruptions per hour of one machine
  bool known = false;  // from the spot advisor or the user, not assumed
  market::SpotCost cost;
};

using Advice = std::map<std::tuple<std::string, std::string, std::string>, double>;  // provider, instance, region

// The middle of each band of the spot advisor, where the store has it.
Result<Advice> read_advice(const PricesFlags& flags) {
  Advice advice;
  const std::string url = feeds::PriceStore::url(flags.store);
  std::error_code ignored;
  if (url.empty() || (!store::is_server(url) && !std::filesystem::exists(url, ignored))) return advice;
  RIGHTSIZE_TRY(feeds::PriceStore store, feeds::PriceStore::open(url));
  RIGHTSIZE_TRY(const std::vector<feeds::InterruptionRow> rows, store.interruptions());
  for (const feeds::InterruptionRow& row : rows) {
    // ">20 %" has no upper end: 40 % is twice its lower one.
    const double share = row.most >= 1 ? 2 * row.least : (row.least + row.most) / 2;
    advice[{row.provider, row.instance, row.region}] = market::interruptions_per_hour(share);
  }
  return advice;
}

Json json_of(const Row& row) {
  return {
      {"provider", row.offer.machine->provider},
      {"instance", row.offer.machine->instance},
      {"gpu", row.offer.gpu->name},
      {"gpus", row.offer.machine->gpus},
      {"region", row.offer.price->region},
      {"zone", row.offer.price->zone.empty() ? Json(nullptr) : Json(row.offer.price->zone)},
      {"listed_usd_per_hour", in_usd_per_machine_hour(row.outlook.listed)},
      {"usd_per_hour", Json{{"low", in_usd_per_machine_hour(row.outlook.low)},
                            {"likely", in_usd_per_machine_hour(row.outlook.likely)},
                            {"high", in_usd_per_machine_hour(row.outlook.high)}}},
      {"interruptions_per_hour", row.rate},
      {"interruptions_known", row.known},
      {"checkpoint_interval_seconds", in_seconds(row.cost.time.interval)},
      {"expected_seconds", in_seconds(row.cost.time.total())},
      {"expected_interruptions", row.cost.time.interruptions},
      {"usd", Json{{"low", in_usd(row.cost.low)}, {"mean", in_usd(row.cost.mean)}, {"high", in_usd(row.cost.high)}}},
      {"on_demand_usd", report::json_number(row.cost.on_demand, in_usd)},
      {"chance_cheaper", report::json_number(row.cost.chance_cheaper)},
      {"leave_above_usd_per_hour", report::json_number(row.cost.leave_above, in_usd_per_machine_hour)},
      {"may_lead", row.outlook.may_lead()}};
}

report::Table table_of(const std::vector<Row>& rows, std::size_t most) {
  report::Table table;
  table.columns = {{"provider", "provider", Align::kLeft},
                   {"instance", "instance", Align::kLeft},
                   {"where", "region", Align::kLeft},
                   {"$/h likely", "usd_per_hour", Align::kRight},
                   {"checkpoint every", "checkpoint_interval", Align::kRight, 0, true},
                   {"hours", "hours", Align::kRight, 0, true},
                   {"cost", "usd", Align::kRight},
                   {"on-demand", "on_demand_usd", Align::kRight},
                   {"chance cheaper", "chance_cheaper", Align::kRight, 0, true},
                   {"leave above", "leave_above_usd_per_hour", Align::kRight}};
  table.most_shown = most;
  for (const Row& row : rows) {
    const market::SpotCost& cost = row.cost;
    const catalog::Price& price = *row.offer.price;
    table.rows.push_back(
        {report::text_cell(row.offer.machine->provider), report::text_cell(row.offer.machine->instance),
         report::text_cell(price.zone.empty() ? price.region : price.region + " " + price.zone),
         report::number_cell(format_usd_per_hour(row.outlook.likely) + (row.outlook.may_lead() ? "" : " ?"),
                             in_usd_per_machine_hour(row.outlook.likely)),
         report::number_cell(format_duration(cost.time.interval), in_seconds(cost.time.interval)),
         report::number_cell(fmt::format("{:.1f}", in_hours(cost.time.total())), in_hours(cost.time.total())),
         report::number_cell(
             fmt::format("{} ({}-{})", format_usd(cost.mean), format_usd(cost.low), format_usd(cost.high)),
             in_usd(cost.mean)),
         cost.on_demand ? report::number_cell(format_usd(*cost.on_demand), in_usd(*cost.on_demand))
                        : report::unknown_cell(),
         cost.chance_cheaper
             ? report::number_cell(fmt::format("{:.0f} %", 100 * *cost.chance_cheaper), *cost.chance_cheaper)
             : report::unknown_cell(),
         cost.leave_above
             ? report::number_cell(format_usd_per_hour(*cost.leave_above), in_usd_per_machine_hour(*cost.leave_above))
             : report::unknown_cell()});
  }
  return table;
}

Result<std::vector<Row>> rows_of(const PricesFlags& flags, const market::PriceBook& book) {
  RIGHTSIZE_TRY(market::OfferFilter filter, read_filter(flags, book.catalog()));
  RIGHTSIZE_TRY(const Seconds save, parse_duration(flags.save));
  RIGHTSIZE_TRY(const Seconds restart, parse_duration(flags.restart));
  RIGHTSIZE_TRY(const Advice advice, read_advice(flags));
  filter.purchases = {Purchase::kSpot};
  market::JobAssumptions assumed;
  assumed.startup = assumed.restart = restart;
  std::vector<Row> rows;
  for (const market::Offer& offer : book.offers(filter)) {
    if (cancelled()) break;
    Row row{offer, book.outlook(offer, market::kJobOutlook), assumed.spot_interruptions_per_hour, false, {}};
    const auto advised = advice.find({offer.machine->provider, offer.machine->instance, offer.price->region});
    if (advised != advice.end()) row.rate = advised->second;
    row.rate = flags.interruptions.value_or(row.rate);
    row.known = flags.interruptions || advised != advice.end();
    market::JobAssumptions here = assumed;
    here.spot_interruptions_per_hour = row.rate;
    const market::InterruptibleJob job{hours(flags.hours), save, Purchase::kSpot, flags.machines,
                                       flags.machines * offer.machine->gpus};
    std::optional<UsdPerMachineSecond> on_demand;
    if (const auto list = book.machine(*offer.machine, Purchase::kOnDemand, offer.price->region))
      on_demand = list->rate;
    const std::optional<market::SpotCost> cost = market::spot_cost(job, row.outlook, on_demand, here);
    if (!cost) continue;
    row.cost = *cost;
    rows.push_back(row);
  }
  std::stable_sort(rows.begin(), rows.end(), [](const Row& a, const Row& b) {
    const auto rank = [](const Row& row) {
      return std::pair(!row.outlook.may_lead(), row.cost.mean / gpus(row.offer.machine->gpus));
    };
    return rank(a) < rank(b);
  });
  return rows;
}

}  // namespace

// One sentence: where the job is cheapest, and whether spot is worth it.
static std::string conclusion(const Row& best, int machines) {
  const market::SpotCost& cost = best.cost;
  std::string text = fmt::format("Cheapest on spot: {} x {} from {} in {}, {} ({} to {}) in {}", machines,
                                 best.offer.machine->instance, best.offer.machine->provider, best.offer.price->region,
                                 format_usd(cost.mean), format_usd(cost.low), format_usd(cost.high),
                                 format_duration(cost.time.total()));
  if (cost.time.interruptions >= 0.95)
    text += fmt::format(", with about {:.0f} interruption{}", cost.time.interruptions,
                        cost.time.interruptions < 1.5 ? "" : "s");
  if (cost.on_demand)
    text += fmt::format("; on demand {}, a {:.0f} % chance that spot costs less", format_usd(*cost.on_demand),
                        100 * *cost.chance_cheaper);
  return text + ".";
}

Checked<Outcome> plan_on_spot(const PricesFlags& flags) {
  constexpr double kMostHours = 1e6, kMostInterruptions = 100;
  if (flags.gpu.empty() || !(flags.hours > 0 && flags.hours <= kMostHours)) {
    return fail(bad_input("'prices spot' needs --gpu and --hours between 0 and 1,000,000")
                    .with_hint("for example --gpu h100-sxm --hours 100"));
  }
  if (flags.interruptions && !(*flags.interruptions >= 0 && *flags.interruptions <= kMostInterruptions))
    return fail(bad_input("--interruptions must be between 0 and 100 per hour"));
  RIGHTSIZE_TRY(const catalog::Catalog catalog, open_catalog(flags.catalog, flags.store));
  RIGHTSIZE_TRY(const market::PriceBook book, open_prices(catalog, flags.price));
  RIGHTSIZE_TRY(std::vector<Row> rows, rows_of(flags, book));
  if (flags.top > 0 && rows.size() > static_cast<std::size_t>(flags.top))
    rows.resize(static_cast<std::size_t>(flags.top));
  Outcome outcome;
  outcome.report.title = "Spot";
  outcome.report.document = {{"schema", "rightsize/prices-spot/1"}, {"offers", Json::array()}};
  if (rows.empty()) {
    outcome.report.blocks.emplace_back(
        report::Paragraph{"No spot offer matches, or interruptions come faster than work can be saved."});
    outcome.exit_code = kNoFeasibleAnswer;
    return outcome;
  }
  for (const Row& row : rows) outcome.report.document["offers"].push_back(json_of(row));
  outcome.report.blocks.emplace_back(report::Paragraph{conclusion(rows.front(), flags.machines)});
  outcome.report.blocks.emplace_back(table_of(rows, flags.top < 0 ? 15 : 0));
  const bool assumed = std::any_of(rows.begin(), rows.end(), [](const Row& row) { return !row.known; });
  outcome.report.blocks.emplace_back(report::Paragraph{fmt::format(
      "{:g} hours of work on {} machine{}, cheapest per GPU first, start-up included; cost is the mean with the 10th "
      "and "
      "90th percentile. Move to on demand when the spot price rises above the last column. '?': a price that may not "
      "lead (floor, unconfirmed, over a year old).{}",
      flags.hours, flags.machines, flags.machines == 1 ? "" : "s",
      assumed ? " Interruptions are assumed at 0.05/h where neither --interruptions nor the spot advisor gives a rate."
              : "")});
  return outcome;
}

}  // namespace rightsize::app
