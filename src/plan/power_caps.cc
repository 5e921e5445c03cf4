#include "plan/power_caps.h"

#include <algorithm>

namespace rightsize::plan {
namespace {

double energy_of(const PricedOption& c) { return in_watts(c.power) * c.hours(); }

bool dominated(const Request& request, const std::vector<PricedOption>& front, const PricedOption& c, double slack) {
  return std::any_of(front.begin(), front.end(), [&](const PricedOption& other) {
    return other.ranked_wait(request) <= c.ranked_wait(request) * slack && energy_of(other) <= energy_of(c) * slack;
  });
}

}  // namespace

void cap_classes(const Request& request, std::vector<MachineClass>& classes) {
  if (request.power_cap) {
    for (MachineClass& machines : classes) machines.speed.power.cap = *request.power_cap;
  }
  if (!request.best_power_cap) return;
  const std::vector<MachineClass> free = classes;
  for (int percent = 90; percent >= 50; percent -= 10) {
    for (MachineClass machines : free) {
      if (!machines.speed.power.known()) continue;
      machines.speed.power.cap = machines.speed.power.limit * (percent / 100.0);
      classes.push_back(std::move(machines));
    }
  }
}

bool same_speed(const MachineClass& a, const MachineClass& b) {
  return a.gpu == b.gpu && a.speed.power.cap == b.speed.power.cap;
}

std::vector<PricedOption> trade_off(const Request& request, std::vector<PricedOption> candidates, std::size_t most) {
  const auto may_lead = [](const PricedOption& c) { return c.price->may_lead(); };
  const bool any = std::any_of(candidates.begin(), candidates.end(), may_lead);
  std::erase_if(candidates, [&](const PricedOption& c) { return !(c.power > Watts{}) || (any && !may_lead(c)); });
  std::sort(candidates.begin(), candidates.end(), [&](const PricedOption& a, const PricedOption& b) {
    const double first = a.ranked_cost(request), second = b.ranked_cost(request);
    return first != second ? first < second : is_better(request, a, b);
  });
  std::vector<PricedOption> front;
  for (double slack : {1.0, 1.02, 1.05, 1.1, 1.2, 1.5, 2.0}) {
    front.clear();
    for (const PricedOption& c : candidates) {
      if (!dominated(request, front, c, slack)) front.push_back(c);
    }
    if (front.size() <= most) break;
  }
  if (front.size() > most) front.resize(most);
  return front;
}

}  // namespace rightsize::plan
