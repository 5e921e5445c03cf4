// Queries on a recommendation, and the names of its parts.
#include <algorithm>
#include <set>

#include "plan/candidates.h"
#include "plan/plan.h"

namespace rightsize::plan {

std::string_view name_of(Objective objective) {
  static constexpr std::string_view kNames[] = {"cost", "time", "cost-time", "energy"};
  return kNames[static_cast<int>(objective)];
}

std::string_view name_of(RejectionStage stage) {
  static constexpr std::string_view kNames[] = {"price",         "software", "format",   "network", "memory", "layout",
                                                "interruptions", "slo",      "deadline", "budget",  "power",  "carbon"};
  return kNames[static_cast<int>(stage)];
}

std::string_view name_of(Decision decision) {
  static constexpr std::string_view kNames[] = {"clear", "ahead", "uncertain", "close", "extrapolation"};
  return kNames[static_cast<int>(decision)];
}

std::vector<const Plan*> Recommendation::compared() const {
  std::vector<const Plan*> all;
  for (const std::vector<Plan>* list : {&plans, &beyond})
    for (const Plan& plan : *list) all.push_back(&plan);
  if (all.size() <= kCompared) return all;
  // The same ones whatever the length of the list: the first, and of the rest the best and the cheapest other GPU.
  const auto is_other = [&](const Plan* plan) { return plan->offer.gpu != plans.front().offer.gpu; };
  const auto is_rival = [&](const Plan* plan) { return is_other(plan) && is_sound(*plan); };
  const auto rival = std::find_if(all.begin(), all.end(), is_rival);
  auto cheapest = all.end();
  for (auto plan = all.begin(); plan != all.end(); ++plan)
    if (is_other(*plan) && (cheapest == all.end() || (*plan)->cost < (*cheapest)->cost)) cheapest = plan;
  std::vector<const Plan*> some(all.begin(), all.begin() + static_cast<std::ptrdiff_t>(kCompared));
  for (const auto& next : {std::min(rival, cheapest), std::max(rival, cheapest)})
    if (next != all.end() && std::find(some.begin(), some.end(), *next) == some.end()) some.push_back(*next);
  return some;
}

std::vector<const Plan*> Recommendation::close_calls() const {
  constexpr double kClose = 1.05;
  std::vector<const Plan*> close;
  std::set<const catalog::Gpu*> seen;
  for (const Plan* plan : compared()) {
    const Plan& first = plans.front();
    const bool sound = plan->cost < first.cost || plan->price.may_lead() || !first.price.may_lead();
    if (plan->offer.gpu == first.offer.gpu || !sound || plan->cost > first.cost * kClose) continue;
    if (plan->cost * kClose < first.cost) continue;  // clearly cheaper, and ranked lower for its risks
    if (seen.insert(plan->offer.gpu).second) close.push_back(plan);
  }
  return close;
}

const Plan* Recommendation::next_gpu() const {
  const Plan* next = nullptr;
  for (const Plan* plan : compared())
    if (plan->offer.gpu != plans.front().offer.gpu && (next == nullptr || plan->cost < next->cost)) next = plan;
  return next;
}

const Plan* Recommendation::rival() const {
  for (const Plan* plan : compared())
    if (plan->offer.gpu != plans.front().offer.gpu && is_sound(*plan)) return plan;
  return nullptr;
}

std::string_view terms_name(const market::Offer& offer) {
  return offer.machine->provider == market::kOwn ? market::kOwn : catalog::name_of(offer.price->purchase);
}

bool keeps_limits_if_slow(const Request& request, const Plan& plan) {
  if (request.work.kind == WorkKind::kServing) return room_of(request, plan) >= plan.speed.high;
  return !request.limits.deadline || plan.elapsed_at(plan.speed.high) <= *request.limits.deadline;
}

const Plan* Recommendation::safest(const Request& request, std::optional<catalog::Purchase> terms) const {
  std::vector<const Plan*> all = compared();
  for (const Plan& plan : pareto) all.push_back(&plan);
  const Plan* best = nullptr;
  for (const Plan* p : all) {
    const bool asked = !terms || p->offer.price->purchase == *terms;
    const bool safe = asked && keeps_limits_if_slow(request, *p) && p->price.may_lead() && !p->extrapolated;
    if (safe && (best == nullptr || p->cost < best->cost)) best = p;
  }
  return best;
}

const Plan* Recommendation::fallback() const {
  const auto other = std::find_if(plans.begin(), plans.end(), [&](const Plan& plan) {
    const market::Offer &a = plan.offer, &b = plans.front().offer;
    // A spot market that has no machines left is short of the others too.
    const bool elsewhere = a.machine->provider != b.machine->provider || a.price->purchase != b.price->purchase;
    const bool apart = b.price->purchase == catalog::Purchase::kSpot ? elsewhere : elsewhere || a.gpu != b.gpu;
    return apart && plan.price.may_lead() && !plan.extrapolated;
  });
  return other == plans.end() ? nullptr : &*other;
}

Decision Recommendation::decision() const {
  if (plans.empty()) return Decision::kClear;
  if (plans.front().extrapolated) return Decision::kExtrapolation;
  if (!close_calls().empty()) return Decision::kClose;
  constexpr double kSure = 0.8, kLikely = 0.5;
  // A plan that may break a limit or need more machines has not won yet, nor one with an old price of one source.
  const bool cheaper = rival() != nullptr && rival()->cost < plans.front().cost;
  const Plan& first = plans.front();
  const bool at_risk =
      cheaper || may_break_limits || first.misses_if_slow || first.resizing > 1 - kSure || first.has_old_price();
  const double sure = confidence.value_or(1);
  if (sure < kLikely) return Decision::kUncertain;
  return sure < kSure || at_risk ? Decision::kAhead : Decision::kClear;
}

}  // namespace rightsize::plan
