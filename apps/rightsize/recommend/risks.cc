#include "rightsize/recommend/risks.h"

#include <algorithm>
#include <array>
#include <cmath>

#include <fmt/format.h>

#include "base/format.h"
#include "plan/startup.h"
#include "rightsize/recommend/words.h"

namespace rightsize::app {
namespace {

using catalog::Purchase;
using plan::WorkKind;

// What a service takes of each limit on latency.
struct Kept {
  const char* what;
  Seconds value;
  std::optional<Seconds> limit;

  double used() const { return limit ? value / *limit : 0; }
};
std::array<Kept, 3> kept_limits(const plan::Request& request, const plan::Plan& plan) {
  const plan::PlanLimits& limits = request.limits;
  const bool tokens = plan.tpot > Seconds{};
  return {Kept{"TPOT", plan.tpot, tokens ? limits.tpot : std::nullopt},
          Kept{tokens ? "TTFT" : "latency", plan.ttft, limits.ttft}, Kept{"the latency", plan.answer, limits.latency}};
}

}  // namespace

std::string binding_limit(const plan::Request& request, const plan::Plan& plan) {
  constexpr double kLittleLoad = 0.4, kNear = 0.9;
  constexpr int kWithSpare = 2;  // machines that every service has
  if (request.work.kind != WorkKind::kServing || !(request.work.rate > RequestsPerSecond{}) || request.work.trace)
    return {};
  if (!(plan.load > 0) || plan.load > kLittleLoad || plan.machines <= kWithSpare) return {};
  const std::array<Kept, 3> kept = kept_limits(request, plan);
  const Kept& most = *std::ranges::max_element(kept, {}, &Kept::used);
  if (most.used() < kNear) return {};
  return fmt::format("{} decides the number of GPUs: {} of {}, at {} of their capacity.", most.what,
                     format_duration(most.value), format_duration(*most.limit),
                     format_percent(Ratio::fraction(plan.load)));
}

std::string interruptions_in_words(double expected) {
  if (expected < 0.95) return percent_chance(1 - std::exp(-expected)) + " of an interruption";
  return expected < 1.5 ? "about one interruption" : fmt::format("about {} interruptions", format_number(expected, 2));
}

double load_after_loss(const plan::Plan& plan) {
  const int span = plan.replicas > 0 ? std::max(1, plan.machines / plan.replicas) : 1, units = plan.machines / span;
  return units > 1 ? plan.load * units / (units - 1) : 0;
}

std::string spot_caveat(const plan::Request& request, const plan::Plan& plan) {
  if (plan.offer.price->purchase != Purchase::kSpot) return {};
  const std::string expected = interruptions_in_words(plan.expected_interruptions(request.assumptions));
  if (request.work.kind != WorkKind::kServing) return fmt::format("expect {}, included in time and cost", expected);
  const Seconds back =
      request.startup.value_or(plan::startup_on(request, perf::work_of(request.model), *plan.offer.gpu).total());
  const double left = load_after_loss(plan);
  return fmt::format("expect {} per month: a replacement answers after {} if one is free, and until then {}", expected,
                     format_duration(back),
                     left > 0 ? fmt::format("the other machines run at {:.0f} % of their capacity", 100 * left)
                              : std::string("nothing answers"));
}

std::string over_budget(const plan::Request& request, const plan::Recommendation& found) {
  const plan::Plan& first = found.plans.front();
  const auto high = [](const plan::Plan& p) { return p.cost_high - market::sum_of(p.draws); };
  const bool stated = request.work.kind == WorkKind::kServing && first.misses_if_slow;  // by plan::limit_risk()
  if (!request.limits.budget || !first.interval_known || stated || !(high(first) > *request.limits.budget)) return {};
  const plan::Plan* inside = nullptr;
  for (const std::vector<plan::Plan>* list : {&found.plans, &found.pareto}) {
    for (const plan::Plan& p : *list) {
      const bool sound = p.interval_known && !p.extrapolated && p.price.may_lead() && !p.misses_if_slow;
      if (sound && high(p) <= *request.limits.budget && (inside == nullptr || p.cost < inside->cost)) inside = &p;
    }
  }
  return fmt::format("at the high end of its range it costs {}, more than your budget{}", short_usd(first.cost_high),
                     inside == nullptr ? ""
                                       : fmt::format(", while {} stay{} within it ({} to {})",
                                                     describe_machines(*inside), inside->machines == 1 ? "s" : "",
                                                     short_usd(inside->cost_low), short_usd(inside->cost_high)));
}

std::string machine_loss(const plan::Request& request, const plan::Plan& plan) {
  const bool spare = request.work.kind == WorkKind::kServing && request.work.rate > RequestsPerSecond{} &&
                     !request.limits.allow_single && plan.replicas > 1;
  if (!spare) return {};
  if (plan.machines == 1) {
    const std::string all = plan.replicas == 2 ? "both" : fmt::format("all {}", plan.replicas);
    for (const market::OwnHardware& mine : request.own)
      if (plan.offer.is_own() && market::own_instance(mine) == plan.offer.machine->instance && mine.machines > 1)
        return fmt::format("spread {} replicas over {} of your machines: they fail together on one", all,
                           std::min(mine.machines, plan.replicas));
    return fmt::format("{} replicas run on one machine: a single point of failure", all);
  }
  const bool carried = load_after_loss(plan) <= 1;
  if (carried || plan.replicas <= plan.machines) return {};
  return fmt::format("{} replicas share a machine: if one machine fails, the others cannot carry the load",
                     plan.replicas / plan.machines);
}

}  // namespace rightsize::app
