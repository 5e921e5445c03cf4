// An offer: a machine of the catalogue in a region on some terms, with its price. price_book.h finds offers.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/units.h"
#include "catalog/catalog.h"

namespace rightsize::market {

// The provider of machines that the user owns, and the source of the user's own prices.
inline constexpr const char* kOwn = "own";

struct Offer {
  const catalog::Gpu* gpu = nullptr;
  const catalog::Machine* machine = nullptr;
  const catalog::Price* price = nullptr;

  UsdPerMachineSecond rate() const { return price->machine_price; }
  UsdPerGpuSecond rate_per_gpu() const { return rate() / gpus_per_machine(machine->gpus); }
  bool is_own() const;  // at the user's own price
  // Whether price and date are confirmed. Unconfirmed offers are listed, but never come first and are not evidence for
  // other prices.
  bool is_confirmed() const;
};

// "aws p5.48xlarge (8 GPUs), us-east-1 (use1-az4), spot, 2026-08-22"; with the zone if the price applies to only one.
std::string describe(const Offer& offer);

// Which offers to consider; an empty list means all. Names are those of the catalogue.
struct OfferFilter {
  std::vector<std::string> providers = {};
  std::vector<std::string> regions = {};  // as catalog::match_regions finds them
  std::vector<catalog::Purchase> purchases = {};
  std::vector<std::string> gpus = {};
  std::vector<std::string> instances = {};
  std::vector<std::string> excluded = {};  // names of providers, GPUs and instance types
  Bytes min_memory{};                      // of a GPU
  std::optional<double> max_price = {};    // listed, USD per GPU-hour
  int machine_gpus = 0;                    // only machines with this number of GPUs; 0: any
  int least_gpus = 1;                      // only machines with at least this number of GPUs
  bool retired = false;                    // include machines that are no longer sold
  bool community = false;                  // include peers and resellers: RunPod's community cloud, Vast, Shadeform

  bool lets_through(const Offer& offer) const;
};

// Every offer of the catalogue, of retired machines too, ordered by GPU, provider, instance, region, zone and purchase:
// the order of the catalogue's rows does not matter. A machine without a price is not an offer, because no plan may use
// a price without a source.
std::vector<Offer> list_offers(const catalog::Catalog& catalog);
void sort_offers(std::vector<Offer>& offers);

}  // namespace rightsize::market
