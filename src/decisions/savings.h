// The savings of decisions to date.
//
// Method: the cost before the decision minus the cost after it, times the share of the workload and the time it has run
// this way. Shares are those of the rollout (0 for one job, 10 %, 50 %, all), from the start of each stage to the next,
// to the decision's end, or to now. The cost after it is the measured one, or the predicted one until there is a
// measurement; the two are never added up. A job is counted by its runs, a service by the day.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "decisions/evidence.h"
#include "decisions/rollout.h"

namespace rightsize::decisions {

struct Saving {
  DecisionSummary decision;
  double share_months = 0;                           // months of the whole workload; runs of a job
  std::optional<Usd> measured = {}, predicted = {};  // to date; one of them at most
  std::string method = {};                           // or why nothing is counted
  Judgement outcome = Judgement::kInconclusive;
};

// The saving up to `until`.
Saving saving_of(const Decision& decision, const std::vector<StageRecord>& stages,
                 const std::vector<MeasuredValue>& samples, TimePoint until);

}  // namespace rightsize::decisions
