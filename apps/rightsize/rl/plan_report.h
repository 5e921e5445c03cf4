// Plans for reinforcement learning as sentences, tables, JSON and files for the framework.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "plan/candidates.h"
#include "rightsize/rl/offers.h"
#include "rightsize/rl/rl_input.h"

namespace rightsize::app {

struct RlPlanOptions {
  std::vector<std::string> emit;  // names of files to write instead of the report
  int plan = 1;                   // the plan they are for
  bool plans_only = false;        // without what would change
  bool explain = false;           // with the phases of a step and what the hours are spent on
};

// A workload of `recommend`, with the settings that are specific to --job rl kept apart.
struct RlWorkload {
  std::map<std::string, std::string> settings;
  RlFlags rl;

  bool is_rl() const;
};
// `flags` override the workload.
RlWorkload rl_workload(const std::vector<model::Setting>& settings, const RlFlags& flags);

// The mistakes that plan_rl() refuses before it searches.
Errors mistakes_of_rl(const RlWorkload& workload, const catalog::Catalog& catalog);

// A limit that a plan on `gpu` would meet.
struct RlFix {
  std::string flags, gpu;  // "--max-power 1462W"
};
// Without plans: limits on cost and time of the offers, or else of the nearest obstacles.
std::vector<RlFix> fixes_for(const rl::RlRecommendation& found, const std::vector<RlOffer>& offers);

// Why nothing meets the limits, and the closest change.
std::string refusal_words(const plan::PlanLimits& limits, const rl::RlRecommendation& found,
                          const std::vector<RlOffer>& offers);

// `rightsize recommend --job rl`: everything from the settings to the report.
Checked<Outcome> plan_rl(const RlWorkload& workload, const Facts& facts, const RlPlanOptions& options);

}  // namespace rightsize::app
