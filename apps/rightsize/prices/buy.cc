// rightsize prices buy: machines to buy against renting the same GPUs, and when the purchase pays off.
#include <algorithm>
#include <functional>
#include <optional>

#include <fmt/format.h>

#include "base/parse_units.h"
#include "catalog/words.h"
#include "market/energy.h"
#include "market/read_own.h"
#include "rightsize/prices/prices.h"

namespace rightsize::app {
namespace {

using catalog::Purchase;

struct Rent {
  market::Offer offer;
  Usd monthly;  // of all machines; on demand, for the share of the time with work
  Seconds least;

  Usd over(Seconds time) const { return monthly * (std::max(time, least) / kMonth); }
};
struct Bought {
  Usd price, electricity;  // of all machines; per month

  Usd over(Seconds time) const { return price + electricity * (time / kMonth); }
  // Months after which renting has cost more; empty: never, or the price is not known.
  std::optional<double> pays_off(const Rent& rent) const {
    return rent.monthly > electricity && price > usd(0) ? std::optional(price / (rent.monthly - electricity))
                                                        : std::nullopt;
  }
};

struct BuyRow {
  Rent rent;
  Bought bought;
  Seconds time;
};
const report::Fields<BuyRow> kBuyFields = {
    {kOfferFields, [](const BuyRow& r) -> const market::Offer& { return r.rent.offer; }},
    {"terms", "terms", "terms of the rent",
     [](const BuyRow& r) { return catalog::name_of(r.rent.offer.price->purchase); }},
    {"rent_usd_per_month", "rent/month", "rent of all GPUs, per month", [](const BuyRow& r) { return r.rent.monthly; },
     [](Usd usd) { return format_usd(usd); }},
    {"rent_usd", "rent", "rent over the time; a commitment is due for its term",
     [](const BuyRow& r) { return r.rent.over(r.time); }, [](Usd usd) { return format_usd(usd); }},
    {"buy_usd", "bought", "purchase and electricity over the time",
     [](const BuyRow& r) { return r.bought.over(r.time); }, [](Usd usd) { return format_usd(usd); }},
    {"break_even_months", "pays off after", "months of use until buying costs less; null: never",
     [](const BuyRow& r) { return r.bought.pays_off(r.rent); },
     [](double months) { return fmt::format("{:.1f} months", months); }},
};
const report::Fields<std::vector<BuyRow>> kAnswerFields = {
    {"rents", "the cheapest offer of each terms", kBuyFields, std::identity()},
};
const report::Document<std::vector<BuyRow>> kBuyDocument("prices-buy", "Machines to buy against rented ones",
                                                         kAnswerFields);

// The cheapest offer of each terms for this many GPUs, confirmed ones first; spot machines may be taken away.
std::vector<Rent> rents_of(const market::PriceBook& book, const market::OfferFilter& wanted, int gpus, double busy) {
  std::vector<Rent> rents;
  for (const Purchase terms : {Purchase::kOnDemand, Purchase::kOneYear, Purchase::kThreeYears}) {
    market::OfferFilter filter = wanted;
    filter.purchases = {terms};
    std::optional<Rent> best;
    bool confirmed = false;  // the best
    for (const market::Offer& offer : book.offers(filter)) {
      const bool sound = book.outlook(offer, hours(1)).may_lead();
      const int count = (gpus + offer.machine->gpus - 1) / offer.machine->gpus;
      const Usd monthly = offer.rate() * machines(count) * kMonth * (terms == Purchase::kOnDemand ? busy : 1);
      const double years = terms == Purchase::kOneYear ? 1 : terms == Purchase::kThreeYears ? 3 : 0;
      if (best && std::pair(!sound, monthly) >= std::pair(!confirmed, best->monthly)) continue;
      best = {offer, monthly, kYear * years}, confirmed = sound;
    }
    if (best) rents.push_back(*best);
  }
  return rents;
}

// A rented machine is paid for while it works: the share of the time above which buying costs less.
std::string break_even_use(const BuyRow* on_demand, double busy) {
  if (on_demand == nullptr) return {};
  const double share = on_demand->bought.over(on_demand->time) / on_demand->rent.over(on_demand->time) * busy;
  return share < 1 ? fmt::format(" Against on-demand machines, buying costs less above {:.0f} % use.", 100 * share)
                   : std::string();
}

std::string conclusion(const std::vector<BuyRow>& rows, const market::OwnHardware& own, double busy) {
  const BuyRow& row = *std::ranges::min_element(rows, {}, [](const BuyRow& r) { return r.rent.over(r.time); });
  const Usd rent = row.rent.over(row.time), bought = row.bought.over(row.time);
  const std::string use = busy < 1 ? fmt::format(" at {:.0f} % use", 100 * busy) : "";
  const std::string time = format_duration(row.time) + use;
  const std::string what = fmt::format("{} x {}", own.machines, market::own_instance(own));
  const std::string rented =
      fmt::format("{} ({} {}, {})", format_usd(rent), row.rent.offer.machine->provider,
                  row.rent.offer.machine->instance, catalog::name_of(row.rent.offer.price->purchase));
  const auto is_on_demand = [](const BuyRow& r) { return r.rent.offer.price->purchase == Purchase::kOnDemand; };
  const auto found = std::ranges::find_if(rows, is_on_demand);
  const BuyRow* on_demand = found == rows.end() ? nullptr : &*found;
  if (own.price == usd(0)) {
    const Usd most = (rent - row.bought.electricity * (row.time / kMonth)) / own.machines;
    const Usd half = most - rent / 2 / own.machines;
    return most > usd(0) ? fmt::format("Buy {} if a machine costs less than {}: renting costs {} over {}.{}", what,
                                       format_usd(most), rented, time,
                                       on_demand == nullptr || busy < 1 || !(half > usd(0))
                                           ? ""
                                           : fmt::format(" At 50 % use, it must cost less than {}.", format_usd(half)))
                         : fmt::format("Rent: {} over {} is less than the electricity of {}.", rented, time, what);
  }
  const std::optional<double> months = row.bought.pays_off(row.rent);
  return fmt::format("{}: over {}, {} {} {} less than {}. Buying {} and its electricity costs {}; renting costs {}. {}",
                     bought < rent ? "Buy" : "Rent", time, bought < rent ? "buying" : "renting", "costs",
                     format_usd(bought < rent ? rent - bought : bought - rent), bought < rent ? "renting" : "buying",
                     own.machines == 1 ? "one " + market::own_instance(own) : what, format_usd(bought), rented,
                     months ? fmt::format("The purchase pays off after {:.1f} months{}.", *months,
                                          busy < 1 ? use : " of continuous use")
                            : "The purchase never pays off: electricity alone costs more than the rent.") +
         break_even_use(on_demand, busy);
}

// A provider may rent out only larger machines than needed, whose other GPUs have other work or none.
std::string unused_sentence(const std::vector<BuyRow>& rows, int gpus) {
  const BuyRow& row = *std::ranges::min_element(rows, {}, [](const BuyRow& r) { return r.rent.over(r.time); });
  const catalog::Machine& machine = *row.rent.offer.machine;
  const int rented = (gpus + machine.gpus - 1) / machine.gpus * machine.gpus;
  if (rented == gpus) return {};
  Rent share = row.rent;
  share.monthly = row.rent.monthly * (1.0 * gpus / rented);
  const std::optional<double> months = row.bought.pays_off(share);
  return fmt::format(" {} of {} rented GPUs {} needed; if the others have work too, {}.", gpus, rented,
                     gpus == 1 ? "is" : "are",
                     months ? fmt::format("the purchase pays off after {:.1f} months", *months)
                            : std::string("the purchase never pays off"));
}

// A price alone belongs to the machine named with it, or to one with eight GPUs of --gpu.
std::string machine_to_buy(const PricesFlags& flags) {
  const std::vector<std::string> parts = words_of(flags.on_prem);
  const auto price = std::ranges::find_if(parts, [](const std::string& part) { return parse_usd(part).has_value(); });
  if (price == parts.end() || parts.size() > 2 || (parts.size() == 1 && flags.gpu.empty())) return flags.on_prem;
  const std::string gpus = catalog::split_gpu_count(flags.gpu).count ? flags.gpu : "8x" + flags.gpu;
  const std::string machine = parts.size() == 1 ? gpus : parts[price == parts.begin() ? 1 : 0];
  return machine + "=" + *price;
}

}  // namespace

Checked<Outcome> buy_or_rent(const PricesFlags& flags) {
  RIGHTSIZE_TRY(const catalog::Catalog catalog, open_catalog(flags.catalog, flags.store));
  RIGHTSIZE_TRY(const market::PriceBook book, open_prices(catalog, flags.price));
  RIGHTSIZE_TRY(std::vector<market::OwnHardware> kinds, market::read_own_machines(machine_to_buy(flags), catalog));
  if (kinds.size() != 1)
    return fail(bad_input("'prices buy' needs one --on-prem").with_hint("for example --on-prem 8xh100-sxm=280000USD"));
  market::OwnHardware& own = kinds.front();
  const int needed = flags.gpus ? (*flags.gpus + own.gpus - 1) / own.gpus : 1;
  own.machines = flags.on_prem_machines.value_or(needed);
  if (flags.gpus && own.machines < needed)
    return fail(bad_input(fmt::format("{} GPUs need {} machines of {} GPUs, not {}", *flags.gpus, needed, own.gpus,
                                      own.machines))
                    .with_hint(fmt::format("use --on-prem-machines {}, or leave it out", needed)));
  RIGHTSIZE_TRY(const catalog::Gpu* gpu, catalog.find_gpu(own.gpu));
  if (!gpu->tdp) return fail(bad_input(fmt::format("the power of {} is not in the catalogue", gpu->name)));
  PricesFlags filtered = with_known_names(flags, catalog);
  if (filtered.gpu.empty()) filtered.gpu = own.gpu;
  RIGHTSIZE_TRY(const market::OfferFilter filter, read_filter(filtered, catalog));
  const Watts idle = gpu->idle_power.value_or(Watts{}), drawn = idle + (*gpu->tdp - idle) * flags.busy;
  const double kilowatts = in_watts(drawn + market::kHostPower) * own.gpus * own.machines * flags.pue / 1e3;
  const Bought bought{own.price * own.machines, usd(kilowatts * in_hours(kMonth) * flags.kwh_price)};
  std::vector<BuyRow> rows;
  for (const Rent& rent : rents_of(book, filter, flags.gpus.value_or(own.gpus * own.machines), flags.busy))
    rows.push_back({rent, bought, flags.hours.value_or(kYear * 4.0)});
  Outcome outcome{{.title = "Buy or rent", .document = kBuyDocument.of(rows)}};
  if (rows.empty()) return nothing_found(std::move(outcome), "No confirmed price on file to compare with.");
  outcome.report.say(conclusion(rows, own, flags.busy) +
                     unused_sentence(rows, flags.gpus.value_or(own.gpus * own.machines)));
  std::vector<report::ColumnOf> columns{"terms", "provider", "instance", "region", "rent_usd_per_month", "rent_usd"};
  if (own.price > usd(0)) columns.insert(columns.end(), {"buy_usd", "break_even_months"});
  outcome.report.blocks.emplace_back(report::table_of(kBuyFields, rows, columns));
  outcome.report.say(
      fmt::format("Bought machines draw {:.1f} kW {} with hosts and cooling (PUE {:g}), {}/month at ${:g} per kWh. "
                  "Staff, space, network and resale value are not included.",
                  kilowatts, flags.busy < 1 ? "on average" : "at full load", flags.pue, format_usd(bought.electricity),
                  flags.kwh_price));
  return outcome;
}

}  // namespace rightsize::app
