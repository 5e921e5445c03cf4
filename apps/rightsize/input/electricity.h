// What electricity costs and emits, for commands that report the energy of GPUs.
#pragma once

#include <optional>
#include <string>

#include "base/usage_units.h"
#include "market/energy.h"
#include "rightsize/command.h"

namespace rightsize::app {

struct ElectricityFlags {
  std::optional<Usd> kwh_price;
  std::string carbon;
  std::optional<double> pue;
};

struct Electricity {
  std::optional<Usd> kwh_price = {};
  std::optional<market::Carbon> carbon = {};
  double pue = 1;  // 1: GPUs alone

  bool asked() const { return kwh_price || carbon || pue > 1; }
  double kwh(Joules gpus) const { return in_joules(gpus) / 3.6e6 * pue; }
  // With the price, and with the carbon intensity.
  std::optional<Usd> cost(Joules gpus) const;
  std::optional<double> co2_kg(Joules gpus) const;
  // "; $1.20 at $0.12 per kWh; 3.8 kg of CO2"; empty if neither is known.
  std::string words(Joules gpus) const;
};

// --kwh-price, --carbon and --pue of energy that is `what`: "measured", "estimated".
void add_electricity_flags(FlagSet& command, ElectricityFlags& flags, const std::string& what);
Result<Electricity> read_electricity(const ElectricityFlags& flags);

}  // namespace rightsize::app
