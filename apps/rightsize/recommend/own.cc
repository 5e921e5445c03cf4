#include "rightsize/recommend/own.h"

#include <algorithm>

#include <fmt/format.h>

#include "base/format.h"
#include "rightsize/recommend/words.h"

namespace rightsize::app {

namespace {

const plan::Plan* own_plan(const plan::Recommendation& found) {
  const auto own = std::find_if(found.plans.begin(), found.plans.end(),
                                [](const plan::Plan& p) { return p.offer.machine->provider == market::kOwn; });
  return own == found.plans.end() ? nullptr : &*own;
}

constexpr double kAll = 0.999;  // of the cost: the machines are paid for

// The electricity if the machines of a service are left on in hours without traffic.
std::string left_on(const plan::Request& request, const plan::Plan& plan) {
  const std::vector<double>& hours = request.work.rate_by_hour;
  const auto off = static_cast<double>(std::count(hours.begin(), hours.end(), 0.0));
  const double drawn = plan.energy_kwh();
  if (!(off > 0) || !(drawn > 0) || !plan.electricity) return {};
  const double share = off / static_cast<double>(hours.size());
  const double idle = in_watts(plan.idle_power) / 1e3 * in_hours(plan.time.total()) * share * plan.pue;
  return fmt::format(" ({} more if they stay on without traffic)", short_usd(*plan.electricity * (idle / drawn)));
}

}  // namespace

std::size_t named_first(const plan::Recommendation& found) {
  const plan::Plan* mine = own_plan(found);
  if (mine == nullptr || !mine->electricity || *mine->electricity > mine->cost * kAll) return 0;
  return *mine->electricity < found.plans.front().cost ? static_cast<std::size_t>(mine - found.plans.data()) : 0;
}

std::string own_sentence(const plan::Request& request, const plan::Recommendation& found) {
  if (found.plans.empty() || request.own.empty()) return {};
  const plan::Plan& first = found.plans.front();
  const char* each = request.work.kind == plan::WorkKind::kServing ? "/month" : "";
  const plan::Plan* mine = own_plan(found);
  if (mine == nullptr && !found.unused_own) return {};
  if (mine != nullptr) {
    const Usd electricity = mine->electricity.value_or(mine->cost);
    const bool paid = electricity > mine->cost * kAll;
    if (mine == &first)
      return paid ? std::string()
                  : fmt::format("If these machines are idle, only their electricity is new: {}{}{}.",
                                short_usd(electricity), each, left_on(request, *mine));
    const std::string cost = fmt::format("{}{}, {}", short_usd(mine->cost), each, compare(mine->cost / first.cost));
    if (paid) return fmt::format("Your own {} would cost {}.", describe_machines(*mine), cost);
    const bool use = named_first(found) > 0;
    return fmt::format("{}{} (plan {}), if idle: {}{} of electricity{}, {}; with their purchase price {}.{}",
                       use ? "Use " : "", describe_machines(*mine), mine - found.plans.data() + 1,
                       short_usd(electricity), each, left_on(request, *mine), compare(electricity / first.cost), cost,
                       use ? " If they are not idle:" : "");
  }
  const plan::UnusedOwn& own = *found.unused_own;
  const NeedAndHave lack = describe_shortfall(own.lack);
  std::string text = fmt::format("Your own machines ({}) do not meet your limits: they need {}{}", own.machines,
                                 lack.need, lack.have.empty() ? "" : fmt::format(" ({})", lack.have));
  const double rate = in_requests_per_s(request.work.rate);
  if (own.carries > 0)
    text = fmt::format(
        "Your own machines ({}) are too few: {}", own.machines,
        own.carries < rate
            ? fmt::format("they carry {} of {} requests/s", format_number(own.carries, 2), format_number(rate))
            : fmt::format("all carry {} requests/s, but with a machine down they carry less than {}",
                          format_number(own.carries, 2), format_number(rate)));
  if (own.change)
    text +=
        fmt::format(". With {} ({}) they do, for {}{}, {}", describe_change(own.change->kind).what, own.change->flags,
                    short_usd(own.change->plan.cost), each, compare(own.change->plan.cost / first.cost));
  return text + ".";
}

}  // namespace rightsize::app
