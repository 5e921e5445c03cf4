#include "market/offers.h"

#include <algorithm>
#include <map>
#include <tuple>

#include <fmt/format.h>

namespace rightsize::market {
namespace {

template <class T>
bool is_among(const std::vector<T>& wanted, const T& value) {
  return wanted.empty() || std::find(wanted.begin(), wanted.end(), value) != wanted.end();
}

auto order(const Offer& offer) {
  return std::tie(offer.gpu->name, offer.machine->provider, offer.machine->instance, offer.price->region,
                  offer.price->zone, offer.price->purchase);
}

}  // namespace

bool Offer::is_own() const {
  const std::vector<std::string>& sources = price->provenance.sources;
  return !sources.empty() && sources.front() == kOwn;
}

std::string describe(const Offer& offer) {
  const std::optional<Date>& date = offer.price->provenance.date;
  const std::string& zone = offer.price->zone;
  return fmt::format("{} {} ({} GPU{}), {}{}, {}{}", offer.machine->provider, offer.machine->instance,
                     offer.machine->gpus, offer.machine->gpus == 1 ? "" : "s", offer.price->region,
                     zone.empty() ? "" : " (" + zone + ")", catalog::name_of(offer.price->purchase),
                     date ? ", " + format_date(*date) : "");
}

bool OfferFilter::lets_through(const Offer& offer) const {
  return (retired || !offer.machine->retired) && (community || !offer.machine->community) &&
         (machine_gpus == 0 || offer.machine->gpus == machine_gpus) && is_among(purchases, offer.price->purchase) &&
         is_among(gpus, offer.machine->gpu) && is_among(providers, offer.price->provider) &&
         (offer.price->region == "any" || is_among(regions, offer.price->region));
}

std::vector<Offer> list_offers(const catalog::Catalog& catalog) {
  std::map<std::string_view, const catalog::Gpu*> gpus;
  for (const catalog::Gpu& gpu : catalog.gpus) gpus[gpu.name] = &gpu;
  std::map<std::pair<std::string_view, std::string_view>, const catalog::Machine*> machines;
  for (const catalog::Machine& machine : catalog.machines) machines[{machine.provider, machine.instance}] = &machine;
  std::vector<Offer> found;
  for (const catalog::Price& price : catalog.prices) {
    const auto machine = machines.find({price.provider, price.instance});
    if (machine == machines.end()) continue;
    found.push_back({gpus.at(machine->second->gpu), machine->second, &price});
  }
  sort_offers(found);
  return found;
}

void sort_offers(std::vector<Offer>& offers) {
  std::sort(offers.begin(), offers.end(), [](const Offer& a, const Offer& b) { return order(a) < order(b); });
}

}  // namespace rightsize::market
