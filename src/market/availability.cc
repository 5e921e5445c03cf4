#include "market/availability.h"

#include <set>
#include <utility>

#include "catalog/words.h"

namespace rightsize::market {
Availability availability(const PriceBook& book, const Offer& offer) {
  Availability known;
  std::set<std::string> regions;
  for (const Offer& other : book.offers({.providers = {offer.machine->provider},
                            .purchases = {offer.price->purchase},
                            .gpus = {offer.gpu->name},
                            .community = offer.machine->community})) {
    if (other.machine == offer.machine && other.price->region != catalog::kAnyRegion)
      regions.insert(other.price->region);
  }
  for (const catalog::GpuRegion& row : book.catalog().gpu_regions) {
    if (row.provider == offer.machine->provider && row.gpu == offer.gpu->name) regions.insert(row.region);
  }
  known.regions.assign(regions.begin(), regions.end());
  if (const catalog::ProviderFacts* facts = book.catalog().find_provider(offer.machine->provider)) {
    known.billing = facts->minimum_rental;
    // The capacity notes apply to on-demand and reserved machines.
    if (offer.price->purchase != catalog::Purchase::kSpot) known.capacity = facts->capacity;
    known.sources = facts->provenance.sources;
    known.date = facts->provenance.date;
  }
  return known;
}

std::optional<Offer> fallback(const PriceBook& book, const Offer& offer, const OfferFilter& filter) {
  OfferFilter anywhere = filter;
  anywhere.gpus.clear();
  anywhere.providers.clear();
  anywhere.purchases = {offer.price->purchase};
  using Rank = std::pair<bool, UsdPerGpuSecond>;
  std::optional<Offer> best;
  Rank least;
  for (const Offer& other : book.offers(anywhere)) {
    const bool same_gpu = other.gpu == offer.gpu, same_provider = other.machine->provider == offer.machine->provider;
    if ((same_gpu && same_provider) || other.price->available || other.gpu->memory < offer.gpu->memory) continue;
    if (!book.outlook(other, Seconds{}).may_lead()) continue;
    const Rank rank(!same_gpu, other.rate_per_gpu());
    if (best && least <= rank) continue;
    best = other;
    least = rank;
  }
  return best;
}

}  // namespace rightsize::market
