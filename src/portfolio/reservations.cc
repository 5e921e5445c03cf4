#include "portfolio/reservations.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <tuple>

#include "base/cancel.h"
#include "base/units.h"
#include "market/commitment.h"

namespace rightsize::portfolio {
namespace {

// Low and high count as the 10th and 90th percentiles of a forecast: the three-point rule of Pearson and Tukey.
constexpr double kOuter = 0.25, kMiddle = 0.5;

class Planner {
 public:
  Planner(const Organisation& organisation, const SearchLimits& limits)
      : limits_(limits), began_(std::chrono::steady_clock::now()) {
    const DemandRange& range = *organisation.demand;
    for (const auto& [name, factor, probability] :
         {std::tuple("low", range.low, kOuter), {"likely", range.likely, kMiddle}, {"high", range.high, kOuter}}) {
      cases_.push_back({name, factor, probability, 0, 0});
      organisations_.push_back(scaled(organisation, factor));
    }
  }

  Result<std::optional<ReservationPlan>> plan() {
    RIGHTSIZE_TRY(const std::optional<std::vector<Optimum>> without, optima({}));
    if (!without) return std::optional<ReservationPlan>();
    for (std::size_t c = 0; c < cases_.size(); ++c) cases_[c].without = (*without)[c].usd;
    ReservationPlan best{{}, cases_, (*without)[1].choice, (*without)[1].choice};
    for (DemandCase& c : best.cases) c.with = c.without;
    if (Result<bool> started = improve(proposed((*without)[1].choice), best); !started)
      return fail(std::move(started).error());
    for (bool better = true; better && !out_of_time();) {
      better = false;
      for (const std::vector<Reservation>& other : neighbours(best.reservations)) {
        if (out_of_time()) break;
        RIGHTSIZE_TRY(const bool improved, improve(other, best));
        if (!improved) continue;
        better = true;
        break;
      }
    }
    return std::optional(std::move(best));
  }

 private:
  bool out_of_time() const {
    return cancelled() || std::chrono::steady_clock::now() - began_ > std::chrono::duration<double>(limits_.seconds);
  }

  const std::vector<Pool>& pools() const { return organisations_[1].pools; }

  // The optimum of every case; empty if one is not proved.
  Result<std::optional<std::vector<Optimum>>> optima(const std::vector<Reservation>& reservations) const {
    std::vector<Optimum> found;
    for (Organisation organisation : organisations_) {
      for (const Reservation& r : reservations) {
        Pool& pool = organisation.pools[r.pool];
        pool.reserved += r.gpus();
        pool.reserved_usd += r.one_year * pool.offer_usd.value_or(0) + r.three_years * pool.long_offer_usd.value_or(0);
      }
      RIGHTSIZE_TRY(Optimum optimum, find_optimum(CostModel(organisation), limits_));
      if (!optimum.proved()) return std::optional<std::vector<Optimum>>();
      found.push_back(std::move(optimum));
    }
    return std::optional(std::move(found));
  }

  // Takes these reservations if they cost less on average.
  Result<bool> improve(std::vector<Reservation> reservations, ReservationPlan& best) const {
    std::erase_if(reservations, [](const Reservation& r) { return r.gpus() == 0; });
    RIGHTSIZE_TRY(const std::optional<std::vector<Optimum>> found, optima(reservations));
    if (!found) return false;
    ReservationPlan made{std::move(reservations), cases_, (*found)[1].choice, best.without};
    for (std::size_t c = 0; c < cases_.size(); ++c) made.cases[c].with = (*found)[c].usd;
    const double least = 1e-4 * cases_[1].without;  // a smaller saving is not worth a contract
    if (made.expected_saving() <= best.expected_saving() + least) return false;
    best = std::move(made);
    return true;
  }

  // By pool, what the commitment planner would commit to in addition to the GPUs already reserved.
  std::vector<Reservation> proposed(const Choice& likely) const {
    const CostModel costs(organisations_[1]);
    const std::vector<PoolUse> uses = costs.uses(likely);
    std::vector<market::Future> futures;
    for (const DemandCase& c : cases_) {
      const double factor = c.factor / cases_[1].factor;
      futures.push_back({c.name, c.probability, {factor, factor, factor}, {1, 1, 1}});
    }
    std::vector<Reservation> made;
    for (std::size_t p = 0; p < pools().size(); ++p) {
      const Pool& pool = pools()[p];
      if (!pool.offer_usd && !pool.long_offer_usd) continue;
      market::Demand demand;
      const int cut = costs.cut_gpus(p, uses[p]);
      for (std::size_t b = 0; b < uses[p].gpus.size(); ++b)
        demand.gpus.insert(demand.gpus.end(), static_cast<std::size_t>(std::ceil(organisations_[1].blocks[b].hours)),
                           uses[p].gpus[b] + cut);
      market::CommitmentPrices prices{.on_demand = pool.usd_per_gpu_hour};
      const double hours = in_hours(kMonth);
      if (pool.offer_usd) prices.one_year = *pool.offer_usd / hours;
      if (pool.long_offer_usd) prices.three_years = *pool.long_offer_usd / hours;
      const market::CommitmentMix mix = market::CommitmentPlanner(demand, prices, futures).best();
      Reservation r{p, static_cast<int>(std::lround(mix.one_year)), static_cast<int>(std::lround(mix.three_years))};
      // Existing reservations carry the constant part of demand.
      const int have = std::min(pool.reserved, r.gpus()), of_long = std::min(have, r.three_years);
      r.three_years -= of_long, r.one_year -= have - of_long;
      made.push_back(r);
    }
    return made;
  }

  // One GPU or machine more or less in one pool. The commitment planner decides the three-year amounts, because it
  // considers later purchases; this only changes the shortest term.
  std::vector<std::vector<Reservation>> neighbours(const std::vector<Reservation>& now) const {
    std::vector<std::vector<Reservation>> all;
    for (std::size_t p = 0; p < pools().size(); ++p) {
      const Pool& pool = pools()[p];
      if (!pool.offer_usd && !pool.long_offer_usd) continue;
      for (const int step : {pool.gpus_per_machine, 1, -1, -pool.gpus_per_machine}) {
        std::vector<Reservation> other = now;
        auto at = std::ranges::find(other, p, &Reservation::pool);
        if (at == other.end()) at = other.insert(other.end(), {p, 0, 0});
        int& gpus = pool.offer_usd && (step > 0 || at->one_year > 0) ? at->one_year : at->three_years;
        gpus += step;
        if (gpus >= 0) all.push_back(std::move(other));
      }
    }
    return all;
  }

  const SearchLimits& limits_;
  std::chrono::steady_clock::time_point began_;
  std::vector<DemandCase> cases_;
  std::vector<Organisation> organisations_;  // by case
};

}  // namespace

double ReservationPlan::expected_saving() const {
  double saving = 0;
  for (const DemandCase& c : cases) saving += c.probability * (c.without - c.with);
  return saving;
}

double ReservationPlan::at_risk() const {
  double most = 0;
  for (const DemandCase& c : cases) most = std::max(most, c.with - c.without);
  return most;
}

double ReservationPlan::fallback_cost() const {
  for (const DemandCase& c : cases) {
    if (c.name == "likely") return c.without - c.with;
  }
  return 0;
}

Organisation scaled(const Organisation& organisation, double factor) {
  constexpr double kSlack = 1e-9;
  const auto times = [&](int count) { return static_cast<int>(std::ceil(count * factor - kSlack)); };
  Organisation made = organisation;
  for (Workload& w : made.workloads) {
    for (Option& option : w.options) {
      for (int& gpus : option.gpus) gpus = times(gpus);
      for (int& count : option.needs) count = times(count);
      option.usd *= factor;
    }
  }
  return made;
}

Result<std::optional<ReservationPlan>> reserve_for_range(const Organisation& organisation, const SearchLimits& limits) {
  const bool offered =
      std::ranges::any_of(organisation.pools, [](const Pool& pool) { return pool.offer_usd || pool.long_offer_usd; });
  if (!organisation.demand || !offered) return std::optional<ReservationPlan>();
  return Planner(organisation, limits).plan();
}

}  // namespace rightsize::portfolio
