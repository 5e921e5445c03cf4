// One workload and its recommendation.
#pragma once

#include <memory>
#include <vector>

#include "plan/plan.h"
#include "rightsize/input/facts.h"

namespace rightsize::app {

struct Recommended {
  plan::Request request;
  // The plans point into these. The catalogue includes the user's machines.
  std::shared_ptr<const catalog::Catalog> catalog;
  std::shared_ptr<const market::PriceBook> prices;
  plan::Recommendation found;
};

// `plans_only`: omit explanations, changes and alternatives.
Checked<Recommended> recommend_for(const std::vector<model::Setting>& settings, const Facts& facts,
                                   bool plans_only = false);

}  // namespace rightsize::app
