#include "rightsize/input/electricity.h"

#include <fmt/format.h>

#include "base/format.h"

namespace rightsize::app {

std::optional<Usd> Electricity::cost(Joules gpus) const {
  return kwh_price ? std::optional(*kwh_price * kwh(gpus)) : std::nullopt;
}

std::optional<double> Electricity::co2_kg(Joules gpus) const {
  return carbon ? std::optional(carbon->grams_per_kwh * kwh(gpus) / 1e3) : std::nullopt;
}

std::string Electricity::words(Joules gpus) const {
  std::string text;
  if (const auto usd = cost(gpus)) text += fmt::format("; {} at {} per kWh", format_usd(*usd), format_usd(*kwh_price));
  if (const auto kg = co2_kg(gpus)) text += fmt::format("; {} kg of CO2", format_number(*kg));
  return text;
}

void add_electricity_flags(FlagSet& command, ElectricityFlags& flags, const std::string& what) {
  command.add("kwh-price", flags.kwh_price)->meaning(fmt::format("price of the {} energy, USD per kWh", what));
  command.add("carbon", flags.carbon)
      ->meaning(fmt::format("carbon dioxide of the {} energy: grams per kWh, or a place", what));
  command.add("pue", flags.pue)->meaning("power usage effectiveness of the data center")->or_words("1: GPUs alone");
}

Result<Electricity> read_electricity(const ElectricityFlags& flags) {
  Electricity read{flags.kwh_price, std::nullopt, flags.pue.value_or(1)};
  if (flags.carbon.empty()) return read;
  RIGHTSIZE_TRY(const market::CarbonChoice choice, market::read_carbon(flags.carbon));
  if (!choice.everywhere)
    return fail(bad_input("--carbon region needs a plan's region").with_hint("write grams per kWh, or a place"));
  read.carbon = choice.everywhere;
  return read;
}

}  // namespace rightsize::app
