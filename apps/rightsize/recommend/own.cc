#include "rightsize/recommend/own.h"

#include <fmt/format.h>

#include "rightsize/recommend/words.h"

namespace rightsize::app {

std::string own_sentence(const plan::Request& request, const plan::Recommendation& found) {
  if (!found.unused_own || found.plans.empty()) return {};
  const plan::UnusedOwn& own = *found.unused_own;
  const plan::Plan& first = found.plans.front();
  const char* each = request.work.kind == plan::WorkKind::kServing ? "/month" : "";
  if (own.plan)
    return fmt::format("Your own machines ({}) would cost {}{}, {}.", own.machines, short_usd(own.plan->cost), each,
                       compare(own.plan->cost / first.cost));
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
