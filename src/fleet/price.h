// What an hour of each GPU of a fleet costs: the price of the machine and terms its labels name; otherwise the user's
// own price for the GPU, or the cheapest on-demand offer, which is marked as an assumption. GPUs without a price are
// counted in hours only.
//
// Also what could replace a GPU, and what a commitment costs: only real offers and the user's own prices.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/usage_units.h"
#include "catalog/catalog.h"
#include "diagnose/observer.h"
#include "market/price_book.h"
#include "telemetry/sample.h"

namespace rightsize::fleet {

using diagnose::mig_share;

enum class PriceBasis { kGiven, kMachine, kAssumed, kUnknown };
std::string_view name_of(PriceBasis basis);  // "given", "machine", "assumed", "unknown"

struct GpuPrice {
  const catalog::Gpu* gpu = nullptr;  // null: the catalogue does not have it
  const catalog::Machine* machine = nullptr;
  std::optional<UsdPerGpuSecond> rate;  // of a whole GPU
  double share = 1;                     // of a whole GPU: less than 1 for a MIG instance
  PriceBasis basis = PriceBasis::kUnknown;
  catalog::Purchase purchase = catalog::Purchase::kOnDemand;
  std::string source;            // "own: --price h200-sxm", "aws p5.48xlarge (8 GPUs), ..."
  std::string provider, region;  // of the offer; empty: the user's own price, or not known

  std::optional<Usd> cost(Seconds time) const;  // of using this device
  // In terms of a whole GPU.
  GpuTime gpu_time(Seconds time) const { return gpus(share) * time; }
};

// What can replace a GPU, or a commitment for it.
struct Replacement {
  const catalog::Gpu* gpu = nullptr;
  UsdPerGpuSecond rate;
  std::string source;                         // "aws g6.xlarge, us-east-1, on-demand"
  const catalog::Machine* machine = nullptr;  // null: the user's own price
  bool moves_provider = false;                // not at the GPU's provider, or that provider is unknown
};

// The offers for one kind of GPU in place of another.
struct KindOffers {
  struct Offer {
    Replacement what;
    // The price in relation to that of today's GPU at the same provider. Only set if today's price is the user's own
    // and its provider unknown.
    std::optional<double> ratio;
    bool in_doubt = false;  // the price is old and unconfirmed
  };
  const catalog::Gpu* gpu = nullptr;
  std::vector<Offer> offers;  // the cheapest first; those in doubt last

  // The cheapest offer for a GPU of this speed. If it is unknown where the user's own price is paid, of providers at
  // which the work would also cost less than on today's GPU: a difference between GPUs, not between providers.
  std::optional<Replacement> cheapest(double speed) const;
};

// The price book for devices.
class DevicePrices {
 public:
  // The catalogue must outlive it. `filter`: providers and regions where alternatives may be bought; empty: at the
  // GPU's own provider, or anywhere if that is unknown.
  DevicePrices(const catalog::Catalog& catalog, market::OwnPrices own, market::OfferFilter filter = {});

  // By the device's name and labels.
  GpuPrice price(const telemetry::Device& device) const;

  // Every other kind of GPU with an offer: the user's own price, else those of the allowed providers and regions, else
  // of the GPU's own provider. If that is unknown, of all providers, as today's price is the lowest of all; if today's
  // price is the user's own, of those that sell both. Without peer-hosted machines and without machines
  // that have more GPUs than `together`, the number of GPUs that would move: the others would be paid for nothing.
  std::vector<KindOffers> offers_instead_of(const GpuPrice& now, std::size_t together) const;

  // A one-year commitment for this GPU: the offer of its provider for the same machine or, if the price is the
  // user's own, of a provider they allow. Never the discount of one provider applied to the price of another.
  std::optional<Replacement> commitment_for(const GpuPrice& now) const;

  const market::PriceBook& prices() const { return book_; }
  const catalog::Catalog& catalog() const { return book_.catalog(); }

 private:
  market::OwnPrices own_;
  market::PriceBook book_;
  market::OfferFilter filter_;
  std::vector<market::Offer> on_demand_, committed_;  // list prices of machines on sale, none peer-hosted
  std::vector<bool> in_doubt_;                        // of on_demand_: old and unconfirmed
  std::unordered_map<std::string, const catalog::Machine*> machines_;  // by instance type in lower case
};

}  // namespace rightsize::fleet
