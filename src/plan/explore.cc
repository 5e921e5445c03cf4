#include "plan/explore.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <thread>

#include "base/threads.h"
#include "plan/session_rate.h"

namespace rightsize::plan {
namespace {

// The smallest factor on these limits that has a plan. Two factors are tried at a time, on as many threads.
std::optional<Explored> least_extension(const Request& request, const std::vector<RequestChangeKind>& kinds,
                                        std::optional<Explored> known, const PlanningFacts& facts) {
  constexpr double kPrecise = 1.1;
  constexpr int kRounds = 5;
  double none = 1, enough = 2;
  const auto at = [&](double factor) { return extended_limits(request, kinds, factor); };
  if (!known || !known->has_plan()) {
    std::vector<PossibleChange> open;
    open.push_back(without_limits(request, kinds));
    known = std::move(explore(std::move(open), facts).front());
    if (!known->has_plan()) return std::nullopt;
    none = 2, enough = std::max(none, factor_needed(request, kinds, known->planning->kinds().front()));
    open.clear();
    open.push_back(at(enough));
    known = std::move(explore(std::move(open), facts).front());
    if (!known->has_plan()) return std::nullopt;
  }
  for (int round = 0; round < kRounds && enough > none * kPrecise; ++round) {
    const double step = std::cbrt(enough / none);
    std::vector<PossibleChange> between;
    for (const double factor : {none * step, none * step * step}) between.push_back(at(factor));
    std::vector<Explored> tried = explore(std::move(between), facts);
    const double from = none;
    for (std::size_t i = tried.size(); i-- > 0;) {
      const double factor = from * std::pow(step, static_cast<double>(i + 1));
      if (!tried[i].has_plan()) {
        none = factor;
        break;
      }
      enough = factor;
      known = std::move(tried[i]);
    }
  }
  return known;
}

}  // namespace

std::vector<Explored> explore(std::vector<PossibleChange> changes, const PlanningFacts& facts, Usd most) {
  std::vector<Explored> explored(changes.size());
  for_each_index(explored.size(), std::thread::hardware_concurrency(), [&](std::size_t i) {
    Explored& one = explored[i] = {std::make_unique<PossibleChange>(std::move(changes[i])), nullptr};
    settle(one.change->request, [&](const Request& changed) {
      one.planning = std::make_unique<Planning>(changed, facts);
      // Other terms need the same simulations, and their cost is stated whatever it is.
      const RequestChangeKind kind = one.change->kind;
      const bool all = kind == RequestChangeKind::kSpot || kind == RequestChangeKind::kOnDemand;
      one.planning->verify(1, false, false, all || simulates_cache(changed) ? kAnyCost : most);
      // A budget is the least that is enough, so its plan may differ from the first one.
      const bool budget = one.change->kind == RequestChangeKind::kNoBudget;
      const PricedOption* least = budget ? one.planning->cheapest(any_plan) : nullptr;
      if (least != nullptr) return least->option->latency;
      return one.has_plan() ? one.planning->kinds().front().option->latency : Seconds{};
    });
  });
  return explored;
}

void find_least_limits(const Request& request, std::vector<Explored>& explored, const PlanningFacts& facts) {
  // The traffic of sessions depends on the limits, and takes long to settle.
  if (request.work.trace) return;
  std::vector<RequestChangeKind> kinds;
  bool one_is_enough = false;
  for (Explored& one : explored) {
    const RequestChangeKind kind = one.change->kind;
    if (!extends(kind) || kind == RequestChangeKind::kLaterDeadline) continue;
    kinds.push_back(kind);
    std::optional<Explored> least = least_extension(request, {kind}, std::move(one), facts);
    one_is_enough |= least.has_value();
    if (least) one = *std::move(least);
  }
  std::erase_if(explored, [](const Explored& one) { return one.planning == nullptr; });
  if (one_is_enough || kinds.size() < 2) return;
  if (std::optional<Explored> all = least_extension(request, kinds, std::nullopt, facts))
    explored.push_back(*std::move(all));
}

}  // namespace rightsize::plan
