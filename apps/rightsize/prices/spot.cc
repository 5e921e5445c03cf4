// rightsize prices spot: the cost of work on interruptible machines by place, and when to switch to on-demand.
#include <algorithm>
#include <cmath>
#include <functional>
#include <map>

#include <fmt/format.h>

#include "base/cancel.h"
#include "base/format.h"
#include "feeds/price_store.h"
#include "market/interruptions.h"
#include "rightsize/input/named_gpu.h"
#include "rightsize/prices/prices.h"

namespace rightsize::app {
namespace {

using catalog::Purchase;
using report::Fields;
using report::kTableOnly;
using report::renamed;
using report::spare;

struct SpotRow {
  market::Offer offer;
  market::PriceOutlook outlook;
  int machines = 1;
  double rate = 0;             // interruptions per hour of one machine
  bool known = false;          // from the spot advisor or the user, not assumed
  market::SpotCost cost = {};  // of all machines

  // Machines of different sizes do different amounts of work, so they are compared per GPU.
  double gpus() const { return static_cast<double>(machines) * offer.machine->gpus; }
  Usd per_gpu() const { return cost.mean / gpus(); }
};

using Advice = std::map<std::tuple<std::string, std::string, std::string>, double>;  // provider, instance, region

// The midpoint of each band of the spot advisor, if it is in the store.
Result<Advice> read_advice(const PricesFlags& flags) {
  Advice advice;
  RIGHTSIZE_TRY(feeds::PriceStore store,
                feeds::PriceStore::open(feeds::PriceStore::url(flags.store), store::Access::kRead));
  RIGHTSIZE_TRY(const std::vector<feeds::InterruptionRow> rows, store.interruptions());
  for (const feeds::InterruptionRow& row : rows) {
    // ">20 %" has no upper end; twice the lower end is assumed.
    const double share = row.most >= 1 ? 2 * row.least : (row.least + row.most) / 2;
    advice[{row.provider, row.instance, row.region}] = market::interruptions_per_hour(share);
  }
  return advice;
}

const Fields<market::SpotCost> kCostFields = {
    {"low", "10th percentile", &market::SpotCost::low},
    {"mean", "mean", &market::SpotCost::mean},
    {"high", "90th percentile", &market::SpotCost::high},
};

// "$1,827 ($1,138-$2,551)", divided by a number of GPUs.
std::string cost_over(const SpotRow& row, double gpus) {
  return fmt::format("{} ({}-{})", format_usd(row.cost.mean / gpus), format_usd(row.cost.low / gpus),
                     format_usd(row.cost.high / gpus));
}
std::string cost_words(const SpotRow& row) { return cost_over(row, 1); }
std::string cost_per_gpu(const SpotRow& row) { return cost_over(row, row.gpus()); }

// "verda 2H100.80S.80V (2 GPUs) in FIN-02"
std::string machine_words(const SpotRow& row) {
  const int gpus = row.offer.machine->gpus;
  return fmt::format("{} {} ({} x {}) in {}", row.offer.machine->provider, row.offer.machine->instance, gpus,
                     row.offer.gpu->name, place_of(row.offer.price->region, row.offer.price->zone));
}

// ", 62 % less than on demand ($4,312)"
std::string against_on_demand(const SpotRow& row) {
  if (!row.cost.on_demand) return {};
  const double saved = 1 - row.cost.mean / *row.cost.on_demand;
  return fmt::format(", {:.0f} % {} than on demand ({})", 100 * std::fabs(saved), saved >= 0 ? "less" : "more",
                     format_usd(*row.cost.on_demand));
}

// " The price is 87 days old (single source); expect about 3 interruptions."
std::string price_age(const SpotRow& row) {
  if (!row.outlook.age) return {};
  return fmt::format(" The price is {:.0f} days old ({}); expect about {} interruption{}.", in_days(*row.outlook.age),
                     row.outlook.sources == 1 ? "single source" : fmt::format("{} sources", row.outlook.sources),
                     format_number(row.cost.time.interruptions), row.cost.time.interruptions == 1 ? "" : "s");
}

const Fields<SpotRow> kSpotFields = {
    {kOfferFields, &SpotRow::offer},
    {"listed_usd_per_hour", "listed price of a machine", [](const SpotRow& r) { return r.outlook.listed; }},
    {"usd_per_hour", "expected price of a machine", kOutlookFields, &SpotRow::outlook},
    {"interruptions_per_hour", "interruptions per hour of one machine", &SpotRow::rate},
    {"interruptions_known", "given or published, not assumed", &SpotRow::known},
    {"checkpoint_interval_seconds", "checkpoint every", "time between checkpoints",
     [](const SpotRow& r) { return r.cost.time.interval; }, [](Seconds s) { return format_duration(s); }},
    {"expected_seconds", "expected time to finish", [](const SpotRow& r) { return r.cost.time.total(); }},
    {"expected_interruptions", "expected interruptions", [](const SpotRow& r) { return r.cost.time.interruptions; }},
    {"usd", "cost of the work", kCostFields, &SpotRow::cost},
    {"usd_per_gpu", "per GPU", "expected cost of the work, per GPU; the offers are ranked by it", &SpotRow::per_gpu,
     cost_per_gpu},
    {"on_demand_usd", "on-demand", "cost on demand", [](const SpotRow& r) { return r.cost.on_demand; },
     [](Usd usd) { return format_usd(usd); }},
    {"chance_cheaper", "chance cheaper", "probability that spot costs less",
     [](const SpotRow& r) { return r.cost.chance_cheaper; }, [](double p) { return fmt::format("{:.0f} %", 100 * p); }},
    {"leave_above_usd_per_hour", "leave above", "spot price above which on demand is cheaper",
     [](const SpotRow& r) { return r.cost.leave_above; },
     [](UsdPerMachineSecond rate) { return format_usd_per_hour(rate); }},
    {"may_lead", "recent or confirmed by a second source, not in doubt, and not a launch floor",
     [](const SpotRow& r) { return r.outlook.may_lead(); }},
    {"likely_usd_per_hour", "$/h likely", "expected price", [](const SpotRow& r) { return r.outlook.likely; },
     [](const SpotRow& r) { return format_usd_per_hour(r.outlook.likely) + (r.outlook.in_doubt() ? " ?" : ""); },
     kTableOnly},
    {"hours", "hours", "expected time", [](const SpotRow& r) { return r.cost.time.total(); },
     [](Seconds s) { return fmt::format("{:.1f}", in_hours(s)); }, kTableOnly},
    {"on_demand_usd_per_gpu", "on-demand", "cost on demand, per GPU",
     [](const SpotRow& r) { return r.cost.on_demand ? std::optional(*r.cost.on_demand / r.gpus()) : std::nullopt; },
     [](Usd usd) { return format_usd(usd); }, kTableOnly},
    {"leave_above_usd_per_gpu_hour", "leave above $/GPU-h", "spot price of a GPU above which on demand is cheaper",
     [](const SpotRow& r) {
       return r.cost.leave_above ? std::optional(*r.cost.leave_above / r.offer.machine->gpus) : std::nullopt;
     },
     [](UsdPerMachineSecond rate) { return format_usd_per_hour(rate); }, kTableOnly},
    {"mean_usd", "cost", "expected cost", [](const SpotRow& r) { return r.cost.mean; }, cost_words, kTableOnly},
};

const Fields<std::vector<SpotRow>> kSpotAnswerFields = {
    {"offers", "the cheapest per GPU first", kSpotFields, std::identity()},
};
const report::Document<std::vector<SpotRow>> kSpotDocument("prices-spot", "What work costs on spot machines",
                                                           kSpotAnswerFields);

Result<std::vector<SpotRow>> rows_of(const PricesFlags& flags, const market::PriceBook& book) {
  RIGHTSIZE_TRY(market::OfferFilter filter, read_filter(with_known_names(flags, book.catalog()), book.catalog()));
  RIGHTSIZE_TRY(const Advice advice, read_advice(flags));
  filter.purchases = {Purchase::kSpot};
  market::JobAssumptions assumed;
  assumed.startup = assumed.restart = flags.restart;
  assumed.checkpoint_every = flags.checkpoint_every;
  std::vector<SpotRow> rows;
  for (const market::Offer& offer : book.offers(filter)) {
    if (cancelled()) break;
    const int machines = flags.gpus ? (*flags.gpus + offer.machine->gpus - 1) / offer.machine->gpus : flags.machines;
    SpotRow row{offer, book.outlook(offer, market::kJobOutlook), machines, assumed.spot_interruptions_per_hour};
    const auto advised = advice.find({offer.machine->provider, offer.machine->instance, offer.price->region});
    if (advised != advice.end()) row.rate = advised->second;
    row.rate = flags.interruptions.value_or(row.rate);
    row.known = flags.interruptions || advised != advice.end();
    market::JobAssumptions here = assumed;
    here.spot_interruptions_per_hour = row.rate;
    const market::InterruptibleJob job{*flags.hours, flags.save, Purchase::kSpot, machines,
                                       machines * offer.machine->gpus};
    std::optional<UsdPerMachineSecond> on_demand;
    if (const auto list = book.machine(*offer.machine, Purchase::kOnDemand, offer.price->region))
      on_demand = list->rate;
    const std::optional<market::SpotCost> cost = market::spot_cost(job, row.outlook, on_demand, here);
    if (!cost) continue;
    row.cost = *cost;
    rows.push_back(row);
  }
  std::ranges::stable_sort(rows, {}, [&](const SpotRow& row) {
    return std::pair(!row.outlook.may_lead(), flags.gpus ? row.cost.mean : row.per_gpu());
  });
  return rows;
}

// The best offer per GPU, and the machines with the lowest total cost if they differ.
std::string conclusion_of(const std::vector<SpotRow>& rows, Seconds hours, std::optional<int> gpus) {
  const SpotRow& best = rows.front();
  if (gpus) {
    return fmt::format("{} GPU{} on spot: {} for {:g} hours of work on {} x {}{}.{}", *gpus, *gpus == 1 ? "" : "s",
                       cost_words(best), in_hours(hours), best.machines, machine_words(best), against_on_demand(best),
                       price_age(best));
  }
  std::string text = fmt::format("Cheapest per GPU on spot: {}: {} per GPU for {:g} hours of work", machine_words(best),
                                 cost_per_gpu(best), in_hours(hours));
  if (best.gpus() > 1) text += fmt::format(", {} in total", format_usd(best.cost.mean));
  text += against_on_demand(best) + "." + price_age(best);
  const auto least = std::ranges::min_element(
      rows, {}, [](const SpotRow& row) { return std::pair(!row.outlook.may_lead(), row.cost.mean); });
  if (least->cost.mean < best.cost.mean)
    text += fmt::format(" The cheapest machine is {}: {}.", machine_words(*least), cost_words(*least));
  return text;
}

}  // namespace

Checked<Outcome> plan_on_spot(PricesFlags flags) {
  if (flags.gpu.empty() && flags.instance.empty())
    return fail(bad_input("'prices spot' needs --gpu").with_hint("for example --gpu h100-sxm --hours 100"));
  if (!flags.hours) {
    flags.hours = hours(100);
    note("assumed: 100 hours of work (--hours)");
  }
  RIGHTSIZE_TRY(const catalog::Catalog catalog, open_catalog(flags.catalog, flags.store));
  RIGHTSIZE_TRY(const market::PriceBook book, open_prices(catalog, flags.price));
  RIGHTSIZE_TRY(std::vector<SpotRow> rows, rows_of(flags, book));
  const std::string conclusion = rows.empty() ? "" : conclusion_of(rows, *flags.hours, flags.gpus);
  keep_top(rows, flags.top);
  Outcome outcome{{.title = "Spot", .document = kSpotDocument.of(rows)}};
  if (rows.empty())
    return nothing_found(std::move(outcome),
                         "No spot offer matches, or interruptions are too frequent to make progress.");
  outcome.report.say(conclusion);
  outcome.report.show("",
                      report::table_of(kSpotFields, rows,
                                       {"provider", "instance", "gpus", "gpu", renamed("region", "region", "where"),
                                        spare(renamed("likely_usd_per_hour", "usd_per_hour")), "usd_per_gpu",
                                        spare(renamed("checkpoint_interval_seconds", "checkpoint_interval")),
                                        spare("hours"), spare(renamed("mean_usd", "usd")), "on_demand_usd_per_gpu",
                                        spare("chance_cheaper"), "leave_above_usd_per_gpu_hour"}),
                      flags.top ? 0 : 15);
  const bool doubted = std::ranges::any_of(rows, [](const SpotRow& row) { return row.outlook.in_doubt(); });
  const bool assumed = std::ranges::any_of(rows, [](const SpotRow& row) { return !row.known; });
  outcome.report.say(fmt::format(
      "{:g} hours of work on {}, cheapest first, start-up included; cost is the mean with the 10th "
      "and 90th percentile; on-demand is per GPU, too. Switch to on-demand when the spot price exceeds the last "
      "column.{}{}",
      in_hours(*flags.hours),
      flags.gpus            ? fmt::format("{} GPUs", *flags.gpus)
      : flags.machines == 1 ? "1 machine"
                            : fmt::format("{} machines", flags.machines),
      doubted ? " '?': in doubt, over 60 days old without a second source, or a launch price." : "",
      assumed ? " Interruptions are assumed at 0.05/h where neither --interruptions nor the spot advisor gives a rate."
              : ""));
  return outcome;
}

}  // namespace rightsize::app
