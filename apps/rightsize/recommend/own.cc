#include "rightsize/recommend/own.h"

#include <algorithm>

#include <fmt/format.h>

#include "rightsize/recommend/words.h"

namespace rightsize::app {

std::string own_sentence(const plan::Request& request, const plan::Recommendation& found) {
  if (found.plans.empty() || request.own.empty()) return {};
  const plan::Plan& first = found.plans.front();
  const char* each = request.work.kind == plan::WorkKind::kServing ? "/month" : "";
  const auto is_own = [](const plan::Plan& p) { return p.offer.machine->provider == market::kOwn; };
  const auto shown = std::find_if(found.plans.begin(), found.plans.end(), is_own);
  if (shown == found.plans.end() && !found.unused_own) return {};
  const plan::Plan* mine = shown != found.plans.end() ? &*shown
                           : found.unused_own->plan   ? &*found.unused_own->plan
                                                      : nullptr;
  if (mine != nullptr) {
    constexpr double kAll = 0.999;  // of the cost: the machines are paid for
    const Usd electricity = mine->electricity.value_or(mine->cost);
    const bool paid = electricity > mine->cost * kAll, leads = shown == found.plans.begin();
    if (leads)
      return paid ? std::string()
                  : fmt::format("If these machines are idle, only their electricity is new: {}{}.",
                                short_usd(electricity), each);
    const std::string cost = fmt::format("{}{}, {}", short_usd(mine->cost), each, compare(mine->cost / first.cost));
    if (paid) return fmt::format("Your own {} would cost {}.", describe_machines(*mine), cost);
    return fmt::format("{}{}, if idle: {}{} of electricity, {}; with their purchase price {}.",
                       electricity < first.cost ? "Use " : "", describe_machines(*mine), short_usd(electricity), each,
                       compare(electricity / first.cost), cost);
  }
  const plan::UnusedOwn& own = *found.unused_own;
  const NeedAndHave lack = describe_shortfall(own.lack);
  std::string text = fmt::format("Your own machines ({}) do not meet your limits: they need {}{}", own.machines,
                                 lack.need, lack.have.empty() ? "" : fmt::format(" ({})", lack.have));
  if (own.change)
    text +=
        fmt::format(". With {} ({}) they do, for {}{}, {}", describe_change(own.change->kind).what, own.change->flags,
                    short_usd(own.change->plan.cost), each, compare(own.change->plan.cost / first.cost));
  return text + ".";
}

}  // namespace rightsize::app
