// Power and carbon as users write them.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/units.h"

namespace rightsize::market {

// "500", "500W" or "20kW"; a number alone is in watts. Errors call the setting `name`.
Result<Watts> read_power(std::string_view name, std::string_view text);

// Carbon dioxide per kWh of electricity.
struct Carbon {
  double grams_per_kwh = 0;
  std::string where = {}, source = {}, date = {};  // for a region's mean; empty: given by the user
};

// Power usage effectiveness of a provider's data centers: total power divided by the power of the machines.
double pue_of(std::string_view provider);

// Power of CPUs, memory, fans and network cards per GPU: about 1.5 kW in a machine with eight.
inline constexpr Watts kHostPower = watts(1500.0 / 8);

// A value for every hour of a day from CSV with the columns hour (0 to 23, in order) and any other one. Fails with
// every wrong row.
Checked<std::vector<double>> parse_hours(const std::string& file, std::string text);
// A number, which is the same in every hour, or the name of such a file. Errors call the setting `name`.
Checked<std::vector<double>> read_hours(std::string_view name, const std::string& text);

// The user's choice: one figure, or that of each plan's region.
struct CarbonChoice {
  std::optional<Carbon> everywhere = {};  // empty: by region

  // Empty if no figure for the region is on file.
  std::optional<Carbon> in(std::string_view region) const;
};
// "380", a place of data/carbon.csv, or "region".
Result<CarbonChoice> read_carbon(std::string_view text);

}  // namespace rightsize::market
