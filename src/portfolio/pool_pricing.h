// The best set of workloads for one pool, if running a workload there is worth a given price: the part of the
// Lagrangian relaxation that knows whole machines, reservations, quotas and slices.
#pragma once

#include <vector>

#include "portfolio/cost.h"

namespace rightsize::portfolio {

// A set of workloads in a pool: what it is worth less what it costs.
struct PricedSet {
  std::vector<User> users;
  double value = 0;  // of the best set found; the empty one has 0
  double bound = 0;  // no set has a higher value
};

class PoolPricing {
 public:
  PoolPricing(const CostModel& costs, std::size_t pool);

  bool has_users() const { return !items_.empty(); }
  // Branch and bound in about `work` steps (nodes x workloads); `prices` by workload.
  PricedSet best(const std::vector<double>& prices, int work) const;

 private:
  struct Item {
    User user;
    const Option* option = nullptr;
    std::vector<double> load;  // GPUs by block, slices as their least part of a GPU
    double rate = 0;           // dollars of that load on demand
  };
  struct Search;

  const CostModel& costs_;
  std::size_t pool_;
  std::vector<double> rates_;  // by block: dollars of a GPU on demand
  std::vector<Item> items_;    // by workload
};

}  // namespace rightsize::portfolio
