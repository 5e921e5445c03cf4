// Machines of one's own: what they cost by the hour, so that they compete with what can be rented.
#pragma once

#include <optional>
#include <string>

#include "base/result.h"
#include "base/units.h"
#include "catalog/catalog.h"

namespace rightsize::market {

// Machines of one's own: bought once, written off over years, fed with power.
struct OwnHardware {
  std::string gpu;
  int gpus = 8;       // of one machine
  int machines = 1;   // at most so many
  Usd price;          // of one machine
  double years = 4;   // until it is worth nothing
  double busy = 0.7;  // share of those years it works
  double usd_per_kwh = 0.12;
  double power_usage_effectiveness = 1.3;  // cooling and distribution on top
  Watts host_power = watts(1500);          // CPUs, memory, fans, network cards of one machine
};

// Price over the hours it works, plus power at the GPUs' design power. Nothing where the catalogue does not know it.
std::optional<UsdPerMachineSecond> hourly_cost(const OwnHardware& own, const catalog::Gpu& gpu);

// The instance type under which it stands in the catalogue; its provider is kOwn.
std::string own_instance(const OwnHardware& own);

// Adds the machine and its price to the catalogue, so that it competes with what can be bought.
Result<> add_own_hardware(catalog::Catalog& catalog, const OwnHardware& own);

}  // namespace rightsize::market
