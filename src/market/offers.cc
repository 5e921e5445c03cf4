#include "market/offers.h"

#include <algorithm>
#include <map>
#include <tuple>

namespace rightsize::market {
namespace {

template <class T>
bool lets_through(const std::vector<T>& wanted, const T& value) {
  return wanted.empty() || std::find(wanted.begin(), wanted.end(), value) != wanted.end();
}

bool lets_through(const OfferFilter& filter, const catalog::Price& price) {
  return lets_through(filter.providers, price.provider) && lets_through(filter.purchases, price.purchase) &&
         (price.region == "any" || lets_through(filter.regions, price.region));
}

bool lets_through(const OfferFilter& filter, const catalog::Machine& machine) {
  return lets_through(filter.gpus, machine.gpu) && (filter.retired || !machine.retired);
}

auto order(const Offer& offer) {
  return std::tie(offer.gpu->name, offer.machine->provider, offer.machine->instance, offer.price->region,
                  offer.price->purchase);
}

}  // namespace

std::vector<Offer> offers(const catalog::Catalog& catalog, const OfferFilter& filter) {
  std::map<std::string_view, const catalog::Gpu*> gpus;
  for (const catalog::Gpu& gpu : catalog.gpus) gpus[gpu.name] = &gpu;
  std::map<std::pair<std::string_view, std::string_view>, const catalog::Machine*> machines;
  for (const catalog::Machine& machine : catalog.machines) {
    if (lets_through(filter, machine)) machines[{machine.provider, machine.instance}] = &machine;
  }
  std::vector<Offer> found;
  for (const catalog::Price& price : catalog.prices) {
    const auto machine = machines.find({price.provider, price.instance});
    if (machine == machines.end() || !lets_through(filter, price)) continue;
    found.push_back({gpus.at(machine->second->gpu), machine->second, &price});
  }
  std::sort(found.begin(), found.end(), [](const Offer& a, const Offer& b) { return order(a) < order(b); });
  return found;
}

std::optional<Offer> cheapest_gpu(const std::vector<Offer>& offers, std::string_view gpu) {
  std::optional<Offer> best;
  for (const Offer& offer : offers) {
    if (offer.gpu->name != gpu) continue;
    const auto rank = [](const Offer& o) { return std::pair(in_usd_per_gpu_hour(o.rate_per_gpu()), o.machine->gpus); };
    if (!best || rank(offer) < rank(*best)) best = offer;
  }
  return best;
}

}  // namespace rightsize::market
