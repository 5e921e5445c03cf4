// A lower bound for organisations of any size, and good sets of workloads for each pool.
//
// The Lagrangian relaxation lets a workload run in several places or nowhere, at a price for each workload. A
// subgradient method (Polyak's step towards the best known plan; Held and Karp 1971) raises the price of a workload
// that runs nowhere and lowers that of one that runs twice. With prices fixed, pools are independent (pool_pricing.h).
#pragma once

#include <functional>
#include <vector>

#include "portfolio/pool_pricing.h"
#include "portfolio/rate_prices.h"

namespace rightsize::portfolio {

class Relaxation {
 public:
  Relaxation(const CostModel& costs, const RatePrices& start);

  double bound() const { return bound_; }
  const std::vector<PoolPricing>& pools() const { return pools_; }

  // Improves the bound until it is within `gap` of `best_cost`, `stop()` returns true, or there is no progress.
  void improve(double best_cost, double gap, const std::function<bool()>& stop);

  // A choice combined from the proposed sets of the relaxation and those of `incumbent`; empty if the solver found none
  // in `seconds`.
  Choice combine(const Choice& incumbent, double seconds) const;

 private:
  struct Step {
    double bound = 0;
    std::vector<int> covered;  // how often each workload runs
  };
  // The bound is minus infinity if `stop()` ended the evaluation.
  Step evaluate(const std::vector<double>& prices, const std::function<bool()>& stop);
  void keep(std::size_t pool, const std::vector<User>& users);

  const CostModel& costs_;
  const Organisation& organisation_;
  std::vector<PoolPricing> pools_;
  std::vector<double> prices_, best_prices_;
  std::vector<double> direction_;  // of the steps, by workload
  double bound_;
  double factor_ = 0.3;                               // of the step length; shrinks when steps no longer help
  std::vector<std::vector<std::vector<User>>> sets_;  // by pool
};

}  // namespace rightsize::portfolio
