// How much to reserve if demand is a range: the cost of each amount in every case, its risk, and the plan if the
// reservation falls through.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "portfolio/optimum.h"

namespace rightsize::portfolio {

// GPUs to reserve in a pool.
struct Reservation {
  std::size_t pool = 0;
  int one_year = 0, three_years = 0;

  int gpus() const { return one_year + three_years; }
};

// The optimum for one demand, with and without the reservations, in dollars per month.
struct DemandCase {
  std::string name;  // low, likely, high
  double factor = 1, probability = 1;
  double with = 0, without = 0;
};

struct ReservationPlan {
  std::vector<Reservation> reservations;  // empty: none pays off
  std::vector<DemandCase> cases;
  Choice with, without;  // the plans of the likely case

  double expected_saving() const;
  // The additional cost of the reservations in the worst case; 0 if they never cost more.
  double at_risk() const;
  double fallback_cost() const;  // additional cost of the likely case if they fall through
};

// The organisation with `factor` times the demand: GPUs, slices and dollars of every option.
Organisation scaled(const Organisation& organisation, double factor);

// The commitment planner (market/commitment.h) proposes amounts from the likely plan's use of each pool; they are then
// changed as long as the expected cost of the optima falls. Empty without a range, without offers, if a case has no
// proved plan or if time is short.
Result<std::optional<ReservationPlan>> reserve_for_range(const Organisation& organisation, const SearchLimits& limits);

}  // namespace rightsize::portfolio
