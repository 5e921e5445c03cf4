#include "plan/explain.h"

#include <algorithm>
#include <cmath>

#include "base/random.h"

namespace rightsize::plan {
namespace {

double score(const Request& request, const PricedOption& c) {
  const double cost = in_usd(c.due()), wait = c.wait(request);
  if (request.objective == Objective::kEnergy) return energy_kwh(request, c);
  return request.objective == Objective::kCost ? cost : request.objective == Objective::kTime ? wait : cost * wait;
}

double normal_share_below(double x) { return 0.5 * std::erfc(-x / std::sqrt(2.0)); }

}  // namespace

std::optional<double> confidence_of(const Request& request, const std::vector<PricedOption>& kinds) {
  std::vector<const PricedOption*> rivals;
  for (const PricedOption& c : kinds) {
    // What is extrapolated or unproven is reported as an experiment, and a doubtful price as one to confirm; none is a
    // rival.
    if (c.is_extrapolated() && !kinds.front().is_extrapolated()) continue;
    if (c.is_unproven(request) && !kinds.front().is_unproven(request)) continue;
    if (!c.price->may_lead() && kinds.front().price->may_lead()) continue;
    const auto same = [&](const PricedOption* other) { return other->machines->gpu == c.machines->gpu; };
    if (std::none_of(rivals.begin(), rivals.end(), same)) rivals.push_back(&c);
  }
  if (rivals.size() < 2) return std::nullopt;
  Random random(1);
  // The objective of one rival when its speed and price are drawn.
  const bool priced = request.objective == Objective::kCost || request.objective == Objective::kCostTime;
  const auto drawn = [&](const PricedOption& c) {
    const double off = std::exp(deviation_of(c.option->speed) * random.normal());
    const bool known = priced && c.price->likely > UsdPerMachineSecond{};
    const double price = known ? deviation_of({.high = c.price->high / c.price->likely}) * random.normal() : 0;
    const bool resized = request.work.kind == WorkKind::kServing && request.objective == Objective::kCost;
    const double by_speed = resized ? machines_at(request, *c.option, off) / c.option->machines
                            : request.objective == Objective::kCostTime ? off * off
                                                                        : off;
    return score(request, c) * by_speed * std::exp(price);
  };
  constexpr int kDraws = 2000;
  int kept = 0;
  for (int i = 0; i < kDraws; ++i) {
    const double first = drawn(*rivals.front());
    double best_other = 1e300;
    for (std::size_t r = 1; r < rivals.size(); ++r) best_other = std::min(best_other, drawn(*rivals[r]));
    kept += first <= best_other ? 1 : 0;
  }
  return static_cast<double>(kept) / kDraws;
}

std::vector<PriceWarning> price_warnings(const market::Offer& offer, const catalog::Catalog& catalog, Date today) {
  std::vector<PriceWarning> warnings;
  if (offer.is_own() || offer.price->available) return warnings;  // already paid for
  const catalog::Provenance& origin = offer.price->provenance;
  if (std::find(origin.unverified.begin(), origin.unverified.end(), "price") != origin.unverified.end())
    warnings.push_back({.kind = PriceWarning::Kind::kUnconfirmed});
  if (origin.date && today - *origin.date > market::kAgedDays)
    warnings.push_back({.kind = PriceWarning::Kind::kOld, .age_days = static_cast<int>(today - *origin.date)});
  std::vector<UsdPerMachineSecond> elsewhere;
  for (const catalog::Price& price : catalog.prices) {
    const bool alike = price.provider == offer.price->provider && price.instance == offer.price->instance &&
                       price.purchase == offer.price->purchase && price.region != offer.price->region;
    if (alike) elsewhere.push_back(price.machine_price);
  }
  if (elsewhere.empty()) return warnings;
  const auto middle = elsewhere.begin() + static_cast<std::ptrdiff_t>(elsewhere.size() / 2);
  std::nth_element(elsewhere.begin(), middle, elsewhere.end());
  constexpr double kMuchMore = 1.5;
  if (const double times = *middle / offer.rate(); times > kMuchMore)
    warnings.push_back({.kind = PriceWarning::Kind::kFarBelowOtherRegions, .elsewhere = *middle, .times = times});
  return warnings;
}

// The mean of max(0, first - other) for two log-normal costs with the likely costs as medians (Margrabe's formula).
Experiment experiment_of(const Request& request, const PricedOption& tested, const PricedOption& first,
                         const PricedOption* other) {
  const bool training = request.work.kind == WorkKind::kTraining;
  Experiment made;
  made.test_time = seconds(30 * 60);
  made.machines = training ? tested.option->machines : tested.option->machines_each;
  made.test_cost = tested.rate * rightsize::machines(made.machines) * made.test_time;
  if (other == nullptr) return made;
  const auto deviation = [](const PricedOption& c) { return deviation_of({.high = c.cost_high / c.cost}); };
  const double spread = std::max(1e-6, std::hypot(deviation(first), deviation(*other)));
  const double d = std::log(first.cost / other->cost) / spread;
  made.expected_saving =
      first.cost * normal_share_below(d + spread / 2) - other->cost * normal_share_below(d - spread / 2);
  return made;
}

PlanOutline outline_of(const PricedOption& c) { return {*c.offer, c.option->machines, c.cost, c.time.total()}; }

std::vector<Breakpoint> breakpoints_of(const Request& request, const std::vector<PricedOption>& kinds,
                                       const FirstWithin& first_within) {
  std::vector<Breakpoint> points;
  if (kinds.empty()) return points;
  const PricedOption& first = kinds.front();
  const PricedOption* next = nullptr;  // the cheapest on another GPU; what costs less than the first is held back
  for (const PricedOption& other : kinds) {
    const bool dearer = other.machines->gpu != first.machines->gpu && other.cost >= first.cost;
    if (dearer && (next == nullptr || other.cost < next->cost)) next = &other;
  }
  const bool by_cost = request.objective != Objective::kTime && request.objective != Objective::kEnergy;
  // If commitments cover a plan, the GPU price does not decide.
  if (next != nullptr && by_cost && first.cost > Usd{} && !(first.drawn > Usd{}) && !(next->drawn > Usd{}))
    points.push_back({next->cost / first.cost, {}, outline_of(*next)});
  if (request.work.kind == WorkKind::kServing || request.objective != Objective::kCost) return points;
  constexpr std::size_t kMost = 3;
  constexpr double kUnder = 0.995;
  Seconds before = first.time.total() / first.day_share;
  while (points.size() <= kMost) {
    const std::optional<PricedOption> faster = first_within(before * kUnder);
    if (!faster) break;
    points.push_back({0, before, outline_of(*faster)});
    before = faster->time.total() / faster->day_share;
  }
  return points;
}

}  // namespace rightsize::plan
