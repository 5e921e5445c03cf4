// Machines that the user owns, with an hourly cost that makes them comparable with rented ones.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "base/units.h"
#include "catalog/catalog.h"

namespace rightsize::market {

// Bought once, written off over years, supplied with power.
struct OwnHardware {
  std::string gpu;
  int gpus = 8;       // of one machine
  int machines = 1;   // how many the user has
  Usd price;          // of one machine
  double years = 4;   // until it is worth nothing
  double busy = 0.7;  // share of those years in use
  double usd_per_kwh = 0.12;
  double power_usage_effectiveness = 1.3;  // cooling and distribution
};

// The price divided by the hours in use, plus electricity at this power of GPUs and host, with cooling and
// distribution.
UsdPerMachineSecond hourly_cost(const OwnHardware& own, Watts machine);

// Its instance type in the catalogue; the provider is kOwn.
std::string own_instance(const OwnHardware& own);

// Adds the machines to the catalogue, with their price at full power (the GPUs' TDP and kHostPower, energy.h). Fails if
// the catalogue does not have the TDP.
Result<> add_own_hardware(catalog::Catalog& catalog, const std::vector<OwnHardware>& machines);

}  // namespace rightsize::market
