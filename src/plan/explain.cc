#include "plan/explain.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "base/format.h"
#include "base/random.h"

namespace rightsize::plan {
namespace {

double score(const Request& request, const PricedOption& c) {
  const double cost = in_usd(c.cost), wait = c.wait(request);
  return request.objective == Objective::kCost ? cost : request.objective == Objective::kTime ? wait : cost * wait;
}

}  // namespace

double confidence_of(const Request& request, const std::vector<PricedOption>& kinds) {
  struct Rival {
    double score, deviation;
  };
  std::vector<Rival> rivals;
  std::vector<const catalog::Gpu*> seen;
  constexpr double kEightyPercent = 1.2816;  // standard deviations of the 80 % interval
  for (const PricedOption& c : kinds) {
    if (std::find(seen.begin(), seen.end(), c.machines->gpu) != seen.end()) continue;
    seen.push_back(c.machines->gpu);
    const double power = request.objective == Objective::kCostTime ? 2 : 1;
    rivals.push_back({score(request, c), power * std::log(c.option->interval.high) / kEightyPercent});
  }
  if (rivals.size() < 2) return rivals.empty() ? 0 : 1;
  Random random(1);
  constexpr int kDraws = 2000;
  int kept = 0;
  for (int i = 0; i < kDraws; ++i) {
    double first = 0, best_other = 1e300;
    for (std::size_t r = 0; r < rivals.size(); ++r) {
      const double drawn = rivals[r].score * std::exp(rivals[r].deviation * random.normal());
      if (r == 0)
        first = drawn;
      else
        best_other = std::min(best_other, drawn);
    }
    kept += first <= best_other ? 1 : 0;
  }
  return static_cast<double>(kept) / kDraws;
}

std::vector<std::string> price_warnings(const market::Offer& offer, const catalog::Catalog& catalog, Date today) {
  std::vector<std::string> warnings;
  if (offer.is_own()) return warnings;
  const catalog::Provenance& origin = offer.price->provenance;
  if (std::find(origin.unverified.begin(), origin.unverified.end(), "price") != origin.unverified.end())
    warnings.push_back(
        "its price is from one source that nobody else confirms: ask the provider before you rely on it");
  constexpr int kOld = 90;
  if (origin.date && today - *origin.date > kOld)
    warnings.push_back(fmt::format("its price was read {} days ago", today - *origin.date));
  std::vector<UsdPerMachineSecond> elsewhere;
  for (const catalog::Price& price : catalog.prices) {
    const bool alike = price.provider == offer.price->provider && price.instance == offer.price->instance &&
                       price.purchase == offer.price->purchase && price.region != offer.price->region;
    if (alike) elsewhere.push_back(price.machine_price);
  }
  if (elsewhere.empty()) return warnings;
  std::nth_element(elsewhere.begin(), elsewhere.begin() + static_cast<std::ptrdiff_t>(elsewhere.size() / 2),
                   elsewhere.end());
  const UsdPerMachineSecond middle = elsewhere[elsewhere.size() / 2];
  constexpr double kMuchMore = 1.5;
  if (middle > kMuchMore * offer.rate()) {
    warnings.push_back(fmt::format("other regions ask {} an hour in the middle, {}x as much: such a price may not last",
                                   format_usd_per_hour(middle), format_number(middle / offer.rate(), 2)));
  }
  return warnings;
}

std::string name_plan(const PricedOption& c) {
  return fmt::format("{} x {} ({} x {}) at {}, {}", c.option->machines, c.offer->machine->instance,
                     c.offer->machine->gpus, c.machines->gpu->name, c.offer->machine->provider,
                     catalog::name_of(c.offer->price->purchase));
}

std::vector<Breakpoint> breakpoints_of(const Request& request, const std::vector<PricedOption>& kinds,
                                       const std::vector<PricedOption>& front) {
  std::vector<Breakpoint> points;
  if (kinds.empty()) return points;
  const PricedOption& first = kinds.front();
  for (const PricedOption& other : kinds) {
    if (other.machines->gpu == first.machines->gpu || request.objective == Objective::kTime) continue;
    const double ratio = in_usd(other.cost) / in_usd(first.cost);
    points.push_back({fmt::format("{} costs {} more an hour, or {} {} less", first.machines->gpu->name,
                                  format_percent(Ratio::fraction(ratio - 1)), other.machines->gpu->name,
                                  format_percent(Ratio::fraction(1 - 1 / ratio))),
                      fmt::format("{} for {}", name_plan(other), format_usd(other.cost))});
    break;
  }
  if (request.work.kind == WorkKind::kServing || request.objective != Objective::kCost) return points;
  // Each point of the front is the answer for deadlines between its own hours and those of the one before it.
  constexpr std::size_t kMost = 3;
  double before = first.hours();
  for (const PricedOption& faster : front) {
    if (faster.hours() >= first.hours() || points.size() > kMost) continue;
    points.push_back({fmt::format("the deadline is under {}", format_duration(hours(before))),
                      fmt::format("{} for {} in {}", name_plan(faster), format_usd(faster.cost),
                                  format_duration(faster.time.total()))});
    before = faster.hours();
  }
  return points;
}

}  // namespace rightsize::plan
