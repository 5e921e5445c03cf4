// What an hour of each GPU of a fleet costs: the price book's answer for the machine and terms its labels name; else,
// for the GPU, the user's own price or the cheapest on-demand offer of the catalogue, which is an assumption and marked
// so. A GPU nobody can price is counted in hours only.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/units.h"
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
  std::string source;  // as the price book says it: "own: --price h200-sxm", "aws p5.48xlarge (8 GPUs), ..."

  // Dollars for so many observed seconds of this device.
  std::optional<Usd> cost(double observed_seconds) const;
};

// The market's price book, asked by devices.
class PriceBook {
 public:
  // The catalogue must outlive the book.
  PriceBook(const catalog::Catalog& catalog, market::OwnPrices own)
      : book_(catalog, std::move(own)), on_demand_(book_.offers({.purchases = {catalog::Purchase::kOnDemand}})) {}

  // By the device's name and labels.
  GpuPrice price(const telemetry::Device& device) const;

  const std::vector<market::Offer>& on_demand() const { return on_demand_; }
  const market::PriceBook& prices() const { return book_; }
  const catalog::Catalog& catalog() const { return book_.catalog(); }

 private:
  market::PriceBook book_;
  std::vector<market::Offer> on_demand_;
};

// What of a whole GPU a MIG instance is: the larger of its compute and its memory share, as the catalogue has them,
// else as its name says ("3g.40gb": 3 of 7). 1 for a device that is no instance.
double mig_share(const telemetry::Device& device, const catalog::Gpu* gpu, const catalog::Catalog& catalog);

// The instance type a device's labels name, under any of the names exporters and clouds use; empty when none.
std::string machine_label(const telemetry::Device& device);

}  // namespace rightsize::fleet
