// The best set of workloads for one pool, if running a workload there is worth a given price: the part of the
// Lagrangian relaxation that knows whole machines, reservations, quotas and slices.
#pragma once

#include <vector>

#include "portfolio/cost.h"

namespace rightsize::portfolio {

// A set of workloads in a pool; its value is its worth minus its cost.
struct PricedSet {
  std::vector<User> users;
  double value = 0;  // of the best set found; the empty one has 0
  double bound = 0;  // no set has a higher value
};

// The allowed options in each pool, by workload.
std::vector<std::vector<User>> users_by_pool(const Organisation& organisation);

class PoolPricing {
 public:
  // `users`: the options in this pool, by workload.
  PoolPricing(const CostModel& costs, std::size_t pool, const std::vector<User>& users);

  std::size_t pool() const { return pool_; }
  bool has_users() const { return !items_.empty(); }
  bool has_slices() const { return sliced_; }
  // The value of a GPU in each block at the optimum of the linear relaxation (rate_prices.h): the start of best().
  void use_values(const double* by_block);
  // Branch and bound in at most `nodes` steps; `prices` by workload. `known` are promising sets.
  PricedSet best(const std::vector<double>& prices, int nodes, const std::vector<std::vector<User>>& known = {}) const;

 private:
  struct Item {
    User user;
    const Option* option = nullptr;
    std::vector<double> load;  // GPUs by block, slices as their smallest share of a GPU
    double at_rates = 0;       // their on-demand cost if machines could be rented in parts
  };
  struct Search;

  const CostModel& costs_;
  std::size_t pool_;
  bool sliced_ = false;         // some item needs slices
  double quota_;                // GPUs in whole machines; infinite without one
  std::vector<double> rates_;   // by block: dollars of a GPU on demand
  std::vector<double> values_;  // by block: see use_values()
  std::vector<Item> items_;     // by workload
};

}  // namespace rightsize::portfolio
