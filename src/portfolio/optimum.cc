#include "portfolio/optimum.h"

#include <algorithm>
#include <chrono>

#include "base/cancel.h"
#include "portfolio/descent.h"
#include "portfolio/plan_model.h"
#include "portfolio/relaxation.h"

namespace rightsize::portfolio {
namespace {

class Clock {
 public:
  explicit Clock(double seconds) : limit_(seconds) {}
  double left() const {
    return limit_ - std::chrono::duration<double>(std::chrono::steady_clock::now() - began_).count();
  }
  bool stop() const { return cancelled() || left() <= 0; }

 private:
  std::chrono::steady_clock::time_point began_ = std::chrono::steady_clock::now();
  double limit_;
};

// Takes a choice if it is feasible and cheaper.
void take_better(const CostModel& costs, const Choice& choice, Optimum& best) {
  const std::optional<double> cost = costs.cost(choice);
  if (cost && (!best.found() || *cost < best.usd - 1e-9)) best.choice = choice, best.usd = *cost;
}

// The solver cannot be interrupted, so it runs in slices of a few seconds, each from the best plan so far.
Result<> solve_exactly(const CostModel& costs, const SearchLimits& limits, const Clock& clock, Optimum& best) {
  constexpr double kFirstSlice = 2, kLongestSlice = 5, kSlack = 1e-6;
  if (clock.stop()) return {};
  const PlanModel model(costs);
  constexpr std::size_t kMostColumns = 15'000;  // with more, the solver exceeds its time limit by minutes
  if (model.model().columns().size() > kMostColumns) return {};
  const double constant = costs.organisation().reserved_usd();
  for (double slice = kFirstSlice; !clock.stop(); slice = std::min(2 * slice, kLongestSlice)) {
    solve::SolverLimits allowed{.nodes = 10'000'000,
                                .seconds = std::min(slice, clock.left()),
                                .relative_gap = limits.gap,
                                .cutoff = best.found() ? best.usd - constant + kSlack * best.usd : solve::kInfinity};
    RIGHTSIZE_TRY(const solve::Solution solution, solve::solve(model.model(), allowed));
    if (solution.status == solve::Status::kInfeasible) {
      best.infeasible = !best.found();
      if (best.found()) best.bound = best.usd;  // nothing is cheaper than the best plan so far
      return {};
    }
    if (!solution.values.empty()) take_better(costs, model.choice_of(solution.values), best);
    best.bound =
        std::max(best.bound, std::min(solution.bound + constant, best.found() ? best.usd : solution.bound + constant));
    if (solution.status == solve::Status::kOptimal || (best.found() && best.gap() <= limits.gap)) return {};
  }
  return {};
}

// Whether the solver can be expected to prove the optimum quickly.
bool is_small(const Organisation& organisation) {
  constexpr std::size_t kMostOptions = 400, kMostCells = 5'000;
  std::size_t options = 0;
  for (const Workload& w : organisation.workloads) options += w.options.size();
  return options <= kMostOptions && options * organisation.blocks.size() <= kMostCells;
}

// Fills scarce pools again until none gets better.
void refill(const Organisation& organisation, const Relaxation& relaxation, const Clock& clock, Descent& descent) {
  constexpr int kMostPasses = 10;
  bool better = true;
  for (int pass = 0; better && pass < kMostPasses; ++pass) {
    better = false;
    for (const PoolPricing& pricing : relaxation.pools()) {
      const Pool& pool = organisation.pools[pricing.pool()];
      if (clock.stop()) return;
      if (!pricing.has_users() || (pool.reserved == 0 && pool.gpus_per_machine == 1)) continue;
      better = descent.refill(pricing) || better;
    }
    descent.improve();
  }
}

// Bound and plans by relaxation: for organisations that are too large for the solver alone.
void search_widely(const CostModel& costs, double gap, const Clock& clock, Descent& descent, Optimum& best) {
  constexpr double kLongestSlice = 5;
  const auto stop = [&] { return clock.stop(); };
  const auto known = [&] { return best.found() ? best.usd : descent.penalized_cost(); };
  const RatePrices rates = find_rate_prices(costs, known(), stop);
  best.bound = std::max(best.bound, std::min(rates.bound, known()));
  if (std::ranges::find(rates.choice, -1) == rates.choice.end()) descent.start_from(rates.choice), descent.improve();
  if (!descent.best().empty()) take_better(costs, descent.best(), best);
  Relaxation relaxation(costs, rates);
  if (!descent.best().empty()) descent.start_from(descent.best());
  refill(costs.organisation(), relaxation, clock, descent);
  if (!descent.best().empty()) take_better(costs, descent.best(), best);
  double part = 0.3;  // share of the remaining time for each of bound, combination and local search
  while (!clock.stop()) {
    const double until = clock.left() * (1 - part), before = relaxation.bound(), cost = best.usd;
    relaxation.improve(known(), gap, [&] { return stop() || clock.left() < until; });
    best.bound = std::max(best.bound, relaxation.bound());
    if (best.found() && best.gap() <= gap) return;
    if (clock.stop()) return;
    if (best.found()) {
      const Choice combined = relaxation.combine(best.choice, std::min(kLongestSlice, clock.left() / 3));
      if (!combined.empty()) descent.start_from(combined), descent.improve();
      refill(costs.organisation(), relaxation, clock, descent);
    }
    const double rest = clock.left() * (1 - part);
    descent.perturb(2'000, [&] { return stop() || clock.left() < rest; });
    if (!descent.best().empty()) take_better(costs, descent.best(), best);
    if (best.found() && best.gap() <= gap) return;
    if (relaxation.bound() <= before * (1 + 1e-6) && best.usd >= cost * (1 - 1e-6)) return;  // no progress
  }
}

}  // namespace

Result<Optimum> find_optimum(const CostModel& costs, const SearchLimits& limits, const Choice& start) {
  constexpr double kLargeGap = 1e-3;  // for organisations that are too large for a proof
  constexpr int kRounds = 20;
  const Clock clock(limits.seconds);
  const bool small = is_small(costs.organisation());
  Optimum best;
  best.bound = costs.organisation().reserved_usd();
  Descent descent(costs);
  if (!start.empty() && costs.cost(start)) descent.start_from(start);
  if (descent.best().empty()) descent.build();
  descent.perturb(kRounds, [&] { return clock.stop(); });
  if (!descent.best().empty()) take_better(costs, descent.best(), best);
  const double gap = small ? limits.gap : std::max(limits.gap, kLargeGap);
  if (!small) search_widely(costs, gap, clock, descent, best);
  if (!best.found() || best.gap() > gap || (small && !best.proved())) {
    if (Result<> solved = solve_exactly(costs, {limits.seconds, gap}, clock, best); !solved)
      return fail(std::move(solved).error());
  }
  best.interrupted = !best.infeasible && best.gap() > gap && clock.stop();
  return best;
}

Result<std::vector<ShadowPrice>> shadow_prices(const CostModel& costs, const Optimum& optimum,
                                               const SearchLimits& limits) {
  const Clock clock(limits.seconds);
  const Organisation& now = costs.organisation();
  const bool exact = is_small(now) && optimum.proved();
  std::vector<ShadowPrice> prices;
  Organisation changed = now;
  const CostModel with(changed);
  // If time is short, and for large organisations, local search from the plan finds most of the saving.
  const auto price = [&](std::string what) -> Result<> {
    if (exact && !clock.stop()) {
      RIGHTSIZE_TRY(const Optimum better, find_optimum(with, {clock.left(), limits.gap}, optimum.choice));
      prices.push_back({std::move(what), std::max(0.0, optimum.usd - better.usd), better.proved()});
      return {};
    }
    double cost = with.cost(optimum.choice).value_or(optimum.usd);
    if (!clock.stop()) {
      Descent descent(with);
      descent.start_from(optimum.choice);
      descent.improve();
      cost = std::min(cost, descent.best_cost());
    }
    prices.push_back({std::move(what), std::max(0.0, optimum.usd - cost), false});
    return {};
  };
  for (std::size_t p = 0; p < now.pools.size(); ++p) {
    ++changed.pools[p].reserved;
    if (Result<> done = price("reserved:" + now.pools[p].name); !done) return fail(std::move(done).error());
    changed.pools[p].reserved = now.pools[p].reserved;
    if (!now.pools[p].quota) continue;
    ++*changed.pools[p].quota;
    if (Result<> done = price("quota:" + now.pools[p].name); !done) return fail(std::move(done).error());
    changed.pools[p].quota = now.pools[p].quota;
  }
  return prices;
}

Result<std::vector<Purchase>> what_to_reserve(const CostModel& costs, const Optimum& optimum,
                                              const SearchLimits& limits) {
  const Clock clock(limits.seconds);
  std::vector<Purchase> purchases;
  Organisation changed = costs.organisation();
  const bool offered = std::ranges::any_of(changed.pools, [](const Pool& pool) { return pool.offer_usd.has_value(); });
  if (!offered || !optimum.proved()) return purchases;
  const CostModel with(changed);
  Optimum now = optimum;
  const double least = 1e-4 * optimum.usd;  // a smaller saving is not worth a contract
  while (!clock.stop()) {
    Purchase best;
    Optimum best_plan;
    for (std::size_t p = 0; p < changed.pools.size(); ++p) {
      Pool& pool = changed.pools[p];
      if (!pool.offer_usd) continue;
      // More GPUs than the pool rents now, in whole machines, are useful only if other workloads move there: one more
      // machine shows whether that pays off, and the next round continues from there.
      int rented = 0;
      const PoolUse use = with.uses(now.choice)[p];
      for (int gpus : use.gpus)
        rented = std::max(rented, with.machines(p, gpus + with.cut_gpus(p, use)) * pool.gpus_per_machine);
      const Pool before = pool;
      for (int n = 1; n <= rented + pool.gpus_per_machine && !clock.stop(); ++n) {
        pool.reserved = before.reserved + n, pool.reserved_usd = before.reserved_usd + n * *pool.offer_usd;
        RIGHTSIZE_TRY(const Optimum plan, find_optimum(with, {clock.left(), limits.gap}, now.choice));
        if (plan.found() && now.usd - plan.usd > std::max(least, best.saves))
          best = {p, n, now.usd - plan.usd}, best_plan = plan;
      }
      pool = before;
    }
    if (best.gpus == 0) break;
    Pool& pool = changed.pools[best.pool];
    pool.reserved += best.gpus, pool.reserved_usd += best.gpus * *pool.offer_usd;
    const auto same = std::ranges::find(purchases, best.pool, &Purchase::pool);
    if (same == purchases.end())
      purchases.push_back(best);
    else
      same->gpus += best.gpus, same->saves += best.saves;
    now = best_plan;
  }
  return purchases;
}

}  // namespace rightsize::portfolio
