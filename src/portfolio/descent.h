// Local search over choices: one workload at a time moves to the option that lowers the total, with random restarts of
// a few workloads. Fast at any size, without a proof.
#pragma once

#include <functional>
#include <optional>
#include <vector>

#include "base/random.h"
#include "portfolio/cost.h"
#include "portfolio/pool_pricing.h"

namespace rightsize::portfolio {

class Descent {
 public:
  explicit Descent(const CostModel& costs);

  // Inserts workloads one by one, most expensive first, each where it adds the least cost; then calls improve().
  void build();
  // Starts from a choice.
  void start_from(const Choice& choice);
  // Single moves until none helps; with `near`, only of workloads in recently changed pools.
  void improve(bool near = false);
  // Removes some workloads that share pools, inserts them again and improves, `rounds` times or until `stop()`.
  void perturb(int rounds, const std::function<bool()>& stop);

  // Chooses the workloads of a pool again, all at once: each is worth its cost elsewhere. False if the current ones are
  // as good.
  bool refill(const PoolPricing& pricing);

  // The cheapest choice so far that breaks nothing; empty: none was found.
  const Choice& best() const { return best_; }
  double best_cost() const { return best_cost_; }  // infinite without one
  double penalized_cost() const;                   // of the current choice, including penalties for broken quotas

 private:
  struct Move {
    int option = -1;
    double cost = 0;
  };
  double pool_cost(std::size_t pool, const PoolUse& use) const;
  double cost_with(std::size_t pool, const Option& option);
  void update(std::size_t pool);
  // Counts an option once more or, with -1, once less.
  void add(std::size_t workload, int option, int times);
  void put(std::size_t workload, int option);
  void take(std::size_t workload);
  void put_cheapest(std::size_t workload);
  // Where an unplaced workload adds the least cost, except in one pool.
  Move cheapest(std::size_t workload, int except = -1);
  bool may_take(const Workload& workload, int option) const;
  void insert(std::vector<std::size_t> workloads);
  void note_best();

  const CostModel& costs_;
  const Organisation& organisation_;
  std::vector<PoolUse> uses_;
  std::vector<double> pool_costs_;  // with penalties
  std::vector<int> cut_gpus_;
  std::vector<char> changed_;  // pools, since the last improve()
  double penalty_ = 0;         // of a GPU above a quota
  Choice choice_;              // -1: not placed
  int moved_ = 0;
  std::vector<std::vector<int>> group_counts_;  // by group of workloads that are apart, by pool
  std::vector<int> groups_;                     // of each workload; -1: none
  std::vector<double> alone_;
  Choice best_;
  double best_cost_;
  Random random_{1};
};

}  // namespace rightsize::portfolio
