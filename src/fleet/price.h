// What an hour of each GPU of a fleet costs: the price book's answer for the machine and terms its labels name; else,
// for the GPU, the user's own price or the cheapest on-demand offer of the catalogue, which is an assumption and marked
// so. A GPU nobody can price is counted in hours only.
//
// Also what a GPU could be exchanged for, and what a commitment for it costs: real offers or the user's own prices
// only.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/usage_units.h"
#include "catalog/catalog.h"
#include "market/price_book.h"
#include "telemetry/sample.h"

namespace rightsize::fleet {

enum class PriceBasis { kGiven, kMachine, kAssumed, kUnknown };
std::string_view name_of(PriceBasis basis);  // "given", "machine", "assumed", "unknown"

struct GpuPrice {
  const catalog::Gpu* gpu = nullptr;  // nothing: the catalogue does not know the name
  const catalog::Machine* machine = nullptr;
  std::optional<UsdPerGpuSecond> rate;  // of a whole GPU
  double share = 1;                     // of it: less than 1 for a MIG instance
  PriceBasis basis = PriceBasis::kUnknown;
  catalog::Purchase purchase = catalog::Purchase::kOnDemand;
  std::string source;            // as the price book says it: "own: --price h200-sxm", "aws p5.48xlarge (8 GPUs), ..."
  std::string provider, region;  // whose price it is; empty: the user's own, or not known

  // Of so long with this device.
  std::optional<Usd> cost(Seconds time) const;
  // The time of a whole GPU it stands for.
  GpuTime gpu_time(Seconds time) const { return gpus(share) * time; }
};

// Where alternatives may be bought; empty: wherever the GPU in question is, or anywhere when that is not known.
struct Market {
  std::vector<std::string> providers = {}, regions = {};
};

// What a GPU can be exchanged for, or committed to.
struct Alternative {
  const catalog::Gpu* gpu = nullptr;
  UsdPerGpuSecond rate;
  std::string source;                         // as the price book says it
  const catalog::Machine* machine = nullptr;  // nothing: the user's own
  bool moves_provider = false;                // another provider than the one it is at, or nobody knows where it is
};

// The market's price book (market::PriceBook), asked by devices.
class DevicePrices {
 public:
  // The catalogue must outlive it.
  DevicePrices(const catalog::Catalog& catalog, market::OwnPrices own, Market market = {});

  // By the device's name and labels.
  GpuPrice price(const telemetry::Device& device) const;

  // GPUs of the same vendor that cost less an hour, the cheapest way to get each: at the user's own price, else at the
  // market's providers and regions, else at the provider the GPU is at. Where that is not known, any provider that
  // sells the GPU in question, too, and asks less for the other: a difference between GPUs, not between providers.
  // Peer-hosted machines are left out.
  std::vector<Alternative> cheaper_than(const GpuPrice& now) const;

  // A year's commitment for this GPU: the offer of its own provider for the same machine, or, where the user pays a
  // price of their own, of the provider they name (Market). Never a discount of one applied to the price of another.
  std::optional<Alternative> commitment_for(const GpuPrice& now) const;

  const market::PriceBook& prices() const { return book_; }
  const catalog::Catalog& catalog() const { return book_.catalog(); }

 private:
  bool in_market(const market::Offer& offer) const;
  std::optional<Alternative> cheapest(const catalog::Gpu& gpu, const GpuPrice& now) const;
  bool is_cheaper_kind(const catalog::Gpu& other, const catalog::Gpu& now, const std::string& provider) const;

  market::PriceBook book_;
  Market market_;
  std::vector<market::Offer> on_demand_, committed_;  // list prices of machines that are sold, none peer-hosted
};

// What of a whole GPU a MIG instance is: the larger of its compute and its memory share, as the catalogue has them,
// else as its name says ("3g.40gb": 3 of 7). 1 for a device that is no instance.
double mig_share(const telemetry::Device& device, const catalog::Gpu* gpu, const catalog::Catalog& catalog);

// The instance type a device's labels name, under any of the names exporters and clouds use; empty when none.
std::string machine_label(const telemetry::Device& device);

}  // namespace rightsize::fleet
