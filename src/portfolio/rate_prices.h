// Prices of GPU-hours in pools with a reservation or a quota, and the bound they give.
//
// The linear relaxation, in which machines may be rented in parts: a GPU-hour of a pool is worth something between 0,
// where the reservation is not full, and the on-demand rate, or more where the quota is exhausted. A subgradient method
// finds these values; it is fast at any size, and its prices are where relaxation.h, which knows whole machines,
// starts.
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

// `best_cost` is what the best plan known costs.
RatePrices find_rate_prices(const CostModel& costs, double best_cost, const std::function<bool()>& stop);

}  // namespace rightsize::portfolio
