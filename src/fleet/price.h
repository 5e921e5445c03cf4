// What an hour of each GPU costs, and how we know.
//
// In this order: what the user says (--price h200-sxm=5 for a GPU, --price p5.48xlarge=55 for a machine, *=2 for
// everything else); the machine its labels name, on the terms they name; the cheapest on-demand offer of the catalogue
// for that GPU, which is an assumption and marked so. A GPU nobody can price is counted in hours only.
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
  std::string source;  // "--price h200-sxm", "aws p5.48xlarge us-east-1 on-demand, 2026-08-22"

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

class PriceBook {
 public:
  // The catalogue must outlive the book.
  PriceBook(const catalog::Catalog& catalog, GivenPrices given);

  GpuPrice price(const telemetry::Device& device) const;

  const std::vector<market::Offer>& on_demand() const { return on_demand_; }
  const catalog::Catalog& catalog() const { return *catalog_; }

 private:
  bool price_given(GpuPrice& price, const telemetry::Device& device) const;
  bool price_machine(GpuPrice& price, const telemetry::Device& device) const;
  bool price_assumed(GpuPrice& price) const;

  const catalog::Catalog* catalog_;
  GivenPrices given_;
  std::vector<market::Offer> on_demand_;
};

// What of a whole GPU a MIG instance is: the larger of its compute and its memory share, as the catalogue has them,
// else as its name says ("3g.40gb": 3 of 7). 1 for a device that is no instance.
double mig_share(const telemetry::Device& device, const catalog::Gpu* gpu, const catalog::Catalog& catalog);

// The instance type a device's labels name, under any of the names exporters and clouds use; empty when none.
std::string machine_label(const telemetry::Device& device);

}  // namespace rightsize::fleet
