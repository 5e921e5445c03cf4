// The cost of a choice. Every number that users see comes from here; solvers only propose choices.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <vector>

#include "portfolio/organisation.h"

namespace rightsize::portfolio {

// The fewest GPUs with layouts that hold a number of MIG instances of each profile. Caches its answers.
class SliceCounter {
 public:
  explicit SliceCounter(const mig::Geometry& geometry);
  // `counts` by position in plain_profiles(). Exact.
  int fewest(const std::vector<int>& counts);
  // Every maximal layout, as counts.
  const std::vector<std::vector<int>>& layouts() const { return layouts_; }

 private:
  int search(const std::vector<int>& counts);
  int solve_large(const std::vector<int>& counts) const;

  std::vector<std::vector<int>> layouts_;
  std::vector<int> by_size_;  // positions; the profile with the most memory first
  std::map<std::vector<int>, int> known_;
};

// A workload with one of its options.
struct User {
  std::size_t workload = 0;
  int option = 0;

  bool operator==(const User&) const = default;
};

// The use of a pool.
struct PoolUse {
  std::vector<int> gpus;   // whole GPUs by block
  std::vector<int> needs;  // MIG instances by position in plain_profiles(); empty: none
};

// The on-demand cost of a pool. `excess`: GPUs above the quota, the maximum over blocks.
struct PoolCost {
  double usd = 0;
  int excess = 0;
};

// Refers to the organisation, which must outlive it. Not thread-safe.
class CostModel {
 public:
  explicit CostModel(const Organisation& organisation);

  const Organisation& organisation() const { return *organisation_; }
  const Option& option(const User& user) const {
    return organisation_->workloads[user.workload].options[static_cast<std::size_t>(user.option)];
  }
  PoolUse no_use(std::size_t pool) const;
  void add(const Option& option, PoolUse& use, int times = 1) const;
  std::vector<PoolUse> uses(const Choice& choice) const;

  int cut_gpus(std::size_t pool, const PoolUse& use) const;  // GPUs that are partitioned
  SliceCounter* slices(std::size_t pool) const { return slices_[pool].get(); }
  // Machines on demand in a block in which `used` GPUs run.
  int machines(std::size_t pool, int used) const;
  PoolCost cost(std::size_t pool, const PoolUse& use) const;

  // The total cost, including reservations; empty if the choice breaks a quota or a rule.
  std::optional<double> cost(const Choice& choice) const;
  // The cost of an option if nothing else ran, without reservations and quotas.
  double alone(const Option& option) const;
  // The cost of a workload's cheapest option alone.
  double alone(const Workload& workload) const { return cheapest(workload, true); }
  // The same without pools that have only reserved GPUs; infinite if there is no other.
  double rented(const Workload& workload) const { return cheapest(workload, false); }

 private:
  double cheapest(const Workload& workload, bool reserved) const;

  const Organisation* organisation_;
  std::vector<std::shared_ptr<SliceCounter>> slices_;  // by pool; null: not partitioned
};

// Whether workloads that must be apart are, and no more workloads move than allowed.
bool meets_rules(const Organisation& organisation, const Choice& choice);

}  // namespace rightsize::portfolio
