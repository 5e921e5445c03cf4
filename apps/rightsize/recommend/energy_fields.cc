#include "rightsize/recommend/energy_fields.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "base/format.h"
#include "rightsize/recommend/words.h"

namespace rightsize::app {

namespace {

const report::Fields<plan::CapChoice> kCapFields = {
    {"cap_watts", "power cap of each GPU", &plan::CapChoice::cap},
    {"time_factor?", "time of the work on the same machines, relative to that without a cap; a service: TPOT",
     &plan::CapChoice::time},
    {"energy_factor?", "energy of the work", &plan::CapChoice::energy},
};

}  // namespace

const report::Fields<plan::Plan>& energy_fields() {
  using plan::Plan;
  static const report::Fields<Plan> kFields = {
      {"power_watts", "power", "mean power of all GPUs and hosts", &Plan::power, format_power},
      {"gpu_power_watts", "of it, each GPU that works", &Plan::gpu_power},
      {"pue", "power usage effectiveness of the data center", &Plan::pue},
      {"power_cap?", "with --power-cap; with best: the cap with the least energy, absent if no cap saves any",
       kCapFields, &Plan::cap},
      {"energy_kwh", "energy", "energy of GPUs, hosts and cooling (pue) over the hours; a service: a month",
       [](const Plan& p) { return p.energy_kwh(); }, [](double kwh) { return format_number(kwh) + " kWh"; }},
      {"co2_kg?", "CO2", "its carbon dioxide, with --carbon", [](const Plan& p) { return p.co2_kg(); },
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

const report::Fields<plan::Plan>& trade_off_fields() {
  using plan::Plan;
  static const report::Fields<Plan> kFields = {
      {"gpus_shown", "GPUs", "number and kind",
       [](const Plan& p) { return fmt::format("{} {}", p.gpus, p.offer.gpu->name); }, report::kTableOnly},
      {"gpu", "GPU by its catalogue name", [](const Plan& p) { return p.offer.gpu->name; }},
      {"gpus", "GPUs that work", &Plan::gpus},
      {"provider", "provider", "provider of the machines", [](const Plan& p) { return p.offer.machine->provider; }},
      {"instance", "machine", "machine type", [](const Plan& p) { return p.offer.machine->instance; }},
      {"instances", "machines", &Plan::machines},
      {"purchase", "terms", "on-demand, spot, 1y, 3y or own", [](const Plan& p) { return plan::terms_name(p.offer); }},
      {"cap_watts?", "cap", "power cap of each GPU",
       [](const Plan& p) { return p.cap ? std::optional(p.cap->cap) : std::nullopt; }},
      {"wait_seconds", "time", "until the work is done; a service: latency of a request",
       [](const Plan& p) { return p.latency > Seconds{} ? p.latency : p.elapsed(); }, format_duration},
      {"usd_total", "total", "cost of the whole job; a service: of a month", &Plan::cost, format_usd},
      {"energy_kwh", "energy", "energy of GPUs, hosts and cooling over the hours; a service: a month",
       [](const Plan& p) { return p.energy_kwh(); }, [](double kwh) { return format_number(kwh) + " kWh"; }},
  };
  return kFields;
}

std::string energy_verdict(const plan::Recommendation& found) {
  const plan::Plan& first = found.plans.front();
  const auto next = std::find_if(found.plans.begin(), found.plans.end(), [&](const plan::Plan& plan) {
    return plan.offer.gpu != first.offer.gpu && plan.power > Watts{};
  });
  if (!(first.power > Watts{})) return {};
  std::string text = fmt::format("Least energy: {} kWh", format_number(first.energy_kwh()));
  if (next != found.plans.end())
    text += fmt::format("; the next GPU, {}, uses {} ({} kWh) and costs {}", next->offer.gpu->name,
                        compare(next->energy_kwh() / first.energy_kwh()), format_number(next->energy_kwh()),
                        compare(next->cost / first.cost));
  return text + ".";
}

std::string energy_sentence(const plan::Request& request, const plan::Plan& plan) {
  if (!(plan.power > Watts{})) return {};
  std::string text = fmt::format("Power: {} for GPUs and hosts, {} kWh with cooling (PUE {})", format_power(plan.power),
                                 format_number(plan.energy_kwh()), format_number(plan.pue));
  if (plan.carbon)
    text += fmt::format(", {} kg of CO2", format_number(*plan.co2_kg()));
  else if (request.carbon)
    text += fmt::format(", CO2 unknown: no figure for {}", plan.offer.price->region == "any"
                                                               ? "a region that the provider does not name"
                                                               : plan.offer.price->region);
  text += ".";
  if (!plan.cap) return text;
  text += fmt::format(" Cap each GPU at {}", format_power(plan.cap->cap));
  const auto change = [](double factor) {
    return fmt::format("{} {}", format_percent(Ratio::fraction(std::abs(factor - 1))), factor < 1 ? "less" : "more");
  };
  if (plan.cap->time && plan.cap->energy)
    text +=
        fmt::format(": {} energy and {} time than without a cap", change(*plan.cap->energy), change(*plan.cap->time));
  return text + ".";
}

}  // namespace rightsize::app
