// What an hour of each GPU costs, and how we know.
//
// In this order: what the user says (--price h200-sxm=5 for a GPU, --price p5.48xlarge=55 for a machine, *=2 for
// everything else); the machine its labels name, on the terms they name; the cheapest on-demand offer of the catalogue
// for that GPU, which is an assumption and marked so. A GPU nobody can price is counted in hours only.
//
// Also what it could be exchanged for, and what a commitment for it costs: real offers or the user's own prices only.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/units.h"
#include "catalog/catalog.h"
#include "market/offers.h"
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
  std::string source;            // "--price h200-sxm", "aws p5.48xlarge us-east-1 on-demand, 2026-08-22"
  std::string provider, region;  // whose price it is; empty: the user's own, or not known

  // Dollars for so many observed seconds of this device.
  std::optional<Usd> cost(double observed_seconds) const;
};

// The user's own prices. Keys as typed.
struct GivenPrices {
  std::map<std::string, double> gpus;      // catalogue name -> dollars a GPU-hour
  std::map<std::string, double> machines;  // lower-case instance type -> dollars a machine-hour
  std::optional<double> rest;              // "*"
};

// "h200-sxm=5", "a100=2.1USD/h" (a family prices all its members), "p5.48xlarge=55", "*=2". Unknown names get a
// suggestion; every mistake is reported.
Checked<GivenPrices> parse_prices(const std::vector<std::string>& flags, const catalog::Catalog& catalog);

// Where alternatives may be bought; empty: wherever the GPU in question is, or anywhere when that is not known.
struct Market {
  std::vector<std::string> providers = {}, regions = {};
};

// What a GPU can be exchanged for, or committed to.
struct Alternative {
  const catalog::Gpu* gpu = nullptr;
  UsdPerGpuSecond rate;
  std::string source;                         // "--price l4", "aws g6.xlarge us-east-1 on-demand, 2026-08-22"
  const catalog::Machine* machine = nullptr;  // nothing: the user's own
  bool moves_provider = false;                // another provider than the one it is at, or nobody knows where it is
};

class PriceBook {
 public:
  // The catalogue must outlive the book.
  PriceBook(const catalog::Catalog& catalog, GivenPrices given, Market market = {});

  GpuPrice price(const telemetry::Device& device) const;

  // GPUs of the same vendor that cost less an hour, the cheapest way to get each: at the user's own price, else at the
  // market's providers and regions, else at the provider the GPU is at. Where that is not known, any provider that
  // sells the GPU in question, too, and asks less for the other: a difference between GPUs, not between providers.
  // Peer-hosted machines are left out.
  std::vector<Alternative> cheaper_than(const GpuPrice& now) const;

  // A year's commitment for this GPU: the offer of its own provider for the same machine, or, where the user pays a
  // price of their own, of the provider they name (Market). Never a discount of one applied to the price of another.
  std::optional<Alternative> commitment_for(const GpuPrice& now) const;

  const catalog::Catalog& catalog() const { return *catalog_; }

 private:
  bool price_given(GpuPrice& price, const telemetry::Device& device) const;
  bool price_machine(GpuPrice& price, const telemetry::Device& device) const;
  bool price_assumed(GpuPrice& price) const;
  std::optional<double> own_price(const catalog::Gpu& gpu) const;
  std::optional<double> family_price(const std::string& name) const;
  bool in_market(const market::Offer& offer) const;
  bool is_cheaper_kind(const catalog::Gpu& other, const catalog::Gpu& now, const std::string& provider) const;
  std::optional<Alternative> cheapest(const catalog::Gpu& gpu, const GpuPrice& now) const;

  const catalog::Catalog* catalog_;
  GivenPrices given_;
  Market market_;
  std::vector<market::Offer> on_demand_, committed_;
};

// What of a whole GPU a MIG instance is: the larger of its compute and its memory share, as the catalogue has them,
// else as its name says ("3g.40gb": 3 of 7). 1 for a device that is no instance.
double mig_share(const telemetry::Device& device, const catalog::Gpu* gpu, const catalog::Catalog& catalog);

// The instance type a device's labels name, under any of the names exporters and clouds use; empty when none.
std::string machine_label(const telemetry::Device& device);

}  // namespace rightsize::fleet
