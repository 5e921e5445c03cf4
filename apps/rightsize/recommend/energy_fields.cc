#include "rightsize/recommend/energy_fields.h"

#include <fmt/format.h>

#include "base/format.h"

namespace rightsize::app {

const report::Fields<plan::Plan>& energy_fields() {
  using plan::Plan;
  static const report::Fields<Plan> kFields = {
      {"power_watts", "power", "mean power of all GPUs and hosts", &Plan::power, format_power},
      {"gpu_power_watts", "of it, each GPU that works", &Plan::gpu_power},
      {"energy_kwh", "energy", "energy of GPUs and hosts over the hours; a service: a month",
       [](const Plan& p) { return p.energy_kwh(); }, [](double kwh) { return format_number(kwh) + " kWh"; }},
      {"co2_kg?", "CO2", "its carbon dioxide, with --carbon",
       [](const Plan& p) {
         return p.carbon ? std::optional(p.energy_kwh() * p.carbon->grams_per_kwh / 1e3) : std::nullopt;
       },
       [](double kg) { return format_number(kg) + " kg"; }},
      {"carbon_grams_per_kwh?", "carbon intensity of the electricity",
       [](const Plan& p) { return p.carbon ? std::optional(p.carbon->grams_per_kwh) : std::nullopt; }},
      {"carbon_source?", "where that figure is from",
       [](const Plan& p) {
         return p.carbon && !p.carbon->source.empty()
                    ? fmt::format("{}, {}, {}", p.carbon->where, p.carbon->source, p.carbon->date)
                    : std::string();
       }},
  };
  return kFields;
}

}  // namespace rightsize::app
