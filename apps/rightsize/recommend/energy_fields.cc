#include "rightsize/recommend/energy_fields.h"

#include <algorithm>

#include <fmt/format.h>

#include "base/format.h"
#include "rightsize/recommend/words.h"

namespace rightsize::app {

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

}  // namespace rightsize::app
