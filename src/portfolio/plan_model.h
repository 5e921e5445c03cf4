// The choice as a mixed-integer program.
//
// One column for each option; a workload's add up to 1. A pool that only a few options can use has one column for each
// set of them, at its exact cost: the relaxation then knows the cost of whole machines. Other pools count machines by
// block, and layouts of partitioned GPUs.
#pragma once

#include <vector>

#include "portfolio/cost.h"
#include "solve/mip.h"

namespace rightsize::portfolio {

class PlanModel {
 public:
  explicit PlanModel(const CostModel& costs);

  const solve::Model& model() const { return model_; }
  Choice choice_of(const std::vector<double>& values) const;

 private:
  void add_options();
  void add_pool(std::size_t pool);
  void add_patterns(std::size_t pool, const std::vector<std::vector<User>>& by_workload);
  void add_machines(std::size_t pool, const std::vector<User>& users);
  std::vector<int> add_layouts(std::size_t pool, const std::vector<User>& users);
  void add_rules();
  int column_of(const User& user) const { return columns_[user.workload][static_cast<std::size_t>(user.option)]; }

  const CostModel& costs_;
  const Organisation& organisation_;
  solve::Model model_;
  std::vector<std::vector<int>> columns_;  // by workload and option; -1: not allowed
};

}  // namespace rightsize::portfolio
