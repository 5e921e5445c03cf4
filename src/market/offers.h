// What can be bought: every machine of the catalogue in every region on every terms, and what that costs.
//
//   auto buyable = offers(catalog, {.purchases = {Purchase::kOnDemand}});
//   auto best = cheapest_gpu(buyable, "l40s");        // the offer with the lowest price of one GPU
//
// A machine without a price is not an offer: no plan may rest on a price nobody can name the source of.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/units.h"
#include "catalog/catalog.h"

namespace rightsize::market {

struct Offer {
  const catalog::Gpu* gpu = nullptr;
  const catalog::Machine* machine = nullptr;
  const catalog::Price* price = nullptr;

  UsdPerSecond rate() const { return price->machine_price; }
  UsdPerGpuSecond rate_per_gpu() const { return price->machine_price / gpus(machine->gpus); }
};

// Which offers to look at; an empty list means all. Names are the catalogue's own.
struct OfferFilter {
  std::vector<std::string> providers = {};
  std::vector<std::string> regions = {};  // a price for "any" region answers every region
  std::vector<catalog::Purchase> purchases = {};
  std::vector<std::string> gpus = {};
  bool retired = false;  // also machines that can no longer be had
};

// Every offer the filter lets through, ordered by GPU, provider, instance, region and purchase: the order of the
// catalogue's rows does not matter. Offers point into the catalogue, which must outlive them.
std::vector<Offer> offers(const catalog::Catalog& catalog, const OfferFilter& filter);

// The offer whose share for one GPU of this kind is lowest; ties go to the smaller machine, then to the order above.
std::optional<Offer> cheapest_gpu(const std::vector<Offer>& offers, std::string_view gpu);

}  // namespace rightsize::market
