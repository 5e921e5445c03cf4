#include "market/offers.h"

#include <algorithm>
#include <map>
#include <tuple>
#include <unordered_map>

#include <fmt/format.h>

namespace rightsize::market {
namespace {

template <class T>
bool is_among(const std::vector<T>& wanted, const T& value) {
  return wanted.empty() || std::find(wanted.begin(), wanted.end(), value) != wanted.end();
}

bool is_named(const std::vector<std::string>& names, const Offer& offer) {
  return std::ranges::any_of(names, [&](const std::string& name) {
    return name == offer.machine->gpu || name == offer.price->provider || name == offer.machine->instance;
  });
}

auto within_machine(const Offer& offer) {
  return std::tie(offer.price->region, offer.price->zone, offer.price->purchase);
}

auto order(const Offer& offer) {
  return std::tuple_cat(std::tie(offer.gpu->name, offer.machine->provider, offer.machine->instance),
                        within_machine(offer));
}

}  // namespace

bool Offer::is_own() const {
  const std::vector<std::string>& sources = price->provenance.sources;
  return !sources.empty() && sources.front() == kOwn;
}

bool Offer::is_confirmed() const {
  return std::ranges::none_of(price->provenance.unverified,
                              [](const std::string& what) { return what == "price" || what == "date"; });
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
         (machine_gpus == 0 || offer.machine->gpus == machine_gpus) && offer.machine->gpus >= least_gpus &&
         is_among(purchases, offer.price->purchase) && is_among(gpus, offer.machine->gpu) &&
         is_among(providers, offer.price->provider) && offer.gpu->memory >= min_memory &&
         (!max_price || in_usd_per_gpu_hour(offer.rate_per_gpu()) <= *max_price) &&
         is_among(instances, offer.machine->instance) && !is_named(excluded, offer) &&
         (offer.is_own() || is_among(regions, offer.price->region));
}

// Machines in their order first: comparing two offers then seldom compares names.
std::vector<Offer> list_offers(const catalog::Catalog& catalog) {
  std::unordered_map<std::string_view, const catalog::Gpu*> gpus;
  for (const catalog::Gpu& gpu : catalog.gpus) gpus[gpu.name] = &gpu;
  std::vector<const catalog::Machine*> machines;
  for (const catalog::Machine& machine : catalog.machines) machines.push_back(&machine);
  std::sort(machines.begin(), machines.end(), [](const catalog::Machine* a, const catalog::Machine* b) {
    return std::tie(a->gpu, a->provider, a->instance) < std::tie(b->gpu, b->provider, b->instance);
  });
  std::map<std::pair<std::string_view, std::string_view>, std::size_t> places;
  for (std::size_t i = 0; i < machines.size(); ++i) places[{machines[i]->provider, machines[i]->instance}] = i;
  std::vector<std::vector<Offer>> by_machine(machines.size());
  auto machine = places.end();
  for (const catalog::Price& price : catalog.prices) {
    const std::pair<std::string_view, std::string_view> name(price.provider, price.instance);
    if (machine == places.end() || machine->first != name)
      machine = places.find(name);  // rows of one machine are adjacent
    if (machine == places.end()) continue;
    const catalog::Machine* of = machines[machine->second];
    by_machine[machine->second].push_back({gpus.at(of->gpu), of, &price});
  }
  std::vector<Offer> found;
  found.reserve(catalog.prices.size());
  for (std::vector<Offer>& offers : by_machine) {
    sort_offers(offers);
    found.insert(found.end(), offers.begin(), offers.end());
  }
  return found;
}

void sort_offers(std::vector<Offer>& offers) {
  std::sort(offers.begin(), offers.end(), [](const Offer& a, const Offer& b) {
    return a.machine == b.machine ? within_machine(a) < within_machine(b) : order(a) < order(b);
  });
}

}  // namespace rightsize::market
