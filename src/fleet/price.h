// The hourly cost of each GPU of a fleet: the price of the machine and terms in its labels; otherwise the user's own
// price for the GPU, or the cheapest on-demand offer (of the provider in its labels), which is marked as an assumption.
// GPUs without a price are counted in hours only.
//
// Also finds replacements and commitments for a GPU, from real offers and the user's own prices only.
#pragma once

#include <array>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
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
  const catalog::Gpu* gpu = nullptr;  // null: not in the catalogue
  const catalog::Machine* machine = nullptr;
  std::optional<UsdPerGpuSecond> rate;  // of a whole GPU
  double share = 1;                     // of a whole GPU: less than 1 for a MIG instance
  PriceBasis basis = PriceBasis::kUnknown;
  catalog::Purchase purchase = catalog::Purchase::kOnDemand;
  std::string source;            // "own: --price h200-sxm", "aws p5.48xlarge (8 GPUs), ..."
  std::string provider, region;  // of the offer; empty: the user's own price, or not known
  std::string home;              // the GPU's own provider, by its machine or labels; empty: unknown

  std::optional<Usd> cost(Seconds time) const;  // of using this device
  // In terms of a whole GPU.
  GpuTime gpu_time(Seconds time) const { return gpus(share) * time; }
};

// A replacement for a GPU, or a commitment for it.
struct Replacement {
  const catalog::Gpu* gpu = nullptr;
  UsdPerGpuSecond rate;
  std::string source;                         // "aws g6.xlarge, us-east-1, on-demand"
  const catalog::Machine* machine = nullptr;  // null: the user's own price
  bool moves_provider = false;                // neither the GPU's provider nor one that the user named
};

// The offers for one kind of GPU in place of another.
struct KindOffers {
  struct Offer {
    Replacement what;
    // The price relative to that of today's GPU at the same provider. Only set if today's price is the user's own and
    // the provider is unknown.
    std::optional<double> ratio;
    bool in_doubt = false;  // the price is old and unconfirmed
  };
  const catalog::Gpu* gpu = nullptr;
  std::vector<Offer> offers;  // the cheapest first; those in doubt last

  // The cheapest offer for a GPU of this speed. If the user gave a price without a provider, only providers count at
  // which the work would cost less than on today's GPU: the saving must come from the GPU, not from the provider.
  std::optional<Replacement> cheapest(double speed) const;
};

// The price book for devices.
class DevicePrices {
 public:
  // The catalogue must outlive this object. `filter`: providers and regions where alternatives may be bought; empty: at
  // the GPU's own provider, or anywhere if that is unknown.
  DevicePrices(const catalog::Catalog& catalog, market::OwnPrices own, market::OfferFilter filter = {});

  // Looks up the price by the device's name and labels.
  GpuPrice price(const telemetry::Device& device) const;

  // Every other kind of GPU with an offer: the user's own price, else offers of the allowed providers and regions, else
  // of the GPU's provider. If that is unknown: all providers, because today's price is also the lowest of all; if
  // today's price is the user's own, providers that sell both GPUs. Excludes peer-hosted machines, and machines with
  // more GPUs than `together`, the number of GPUs that would move: the others would be paid for without use.
  std::vector<KindOffers> offers_instead_of(const GpuPrice& now, std::size_t together) const;

  // A one-year commitment for this GPU: the offer of its provider for the same machine or, if the price is the user's
  // own, of a provider they allow. Never the discount of one provider applied to the price of another.
  std::optional<Replacement> commitment_for(const GpuPrice& now) const;

  const market::PriceBook& prices() const { return book_; }
  const catalog::Catalog& catalog() const { return book_.catalog(); }

 private:
  GpuPrice find_price(const telemetry::Device& device, const std::string& machine, const std::string& region,
                      catalog::Purchase wanted, const std::string& home) const;

  // Prices by the name and labels of a device.
  struct Known {
    std::mutex mutex;
    std::map<std::array<std::string, 6>, GpuPrice> prices;
  };

  std::shared_ptr<Known> known_ = std::make_shared<Known>();
  market::OwnPrices own_;
  market::PriceBook book_;
  market::OfferFilter filter_;
  std::vector<market::Offer> on_demand_, committed_;  // list prices of machines on sale, none peer-hosted
  std::set<std::string> providers_;                   // with list prices
  std::vector<bool> in_doubt_;                        // of on_demand_: old and unconfirmed
  std::unordered_map<std::string, const catalog::Machine*> machines_;  // by instance type in lower case
};

}  // namespace rightsize::fleet
