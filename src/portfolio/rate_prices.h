// Prices of GPU-hours in pools with a reservation or a quota, and the bound they give.
//
// In the linear relaxation, machines may be rented in parts: the value of a GPU-hour in a pool is between 0 (the
// reservation is not full) and the on-demand rate, or higher if the quota is exhausted. A subgradient method finds
// these values; it is fast at any size, and relaxation.h, which models whole machines, starts from its prices.
#pragma once

#include <functional>
#include <vector>

#include "portfolio/cost.h"

namespace rightsize::portfolio {

struct RatePrices {
  double bound = 0;            // no plan costs less
  std::vector<double> prices;  // of each workload
  Choice choice;               // the cheapest options at the best prices; may break quotas
  std::vector<double> values;  // of a GPU, by pool and block
};

// `best_cost` is the cost of the best known plan.
RatePrices find_rate_prices(const CostModel& costs, double best_cost, const std::function<bool()>& stop);

}  // namespace rightsize::portfolio
