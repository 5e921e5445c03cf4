// What decisions have saved to date.
//
// Method: what the workload cost before less what it costs now, for the time and the share of the workload it has run
// so. Shares are those of the rollout (nothing for one job, 10 %, 50 %, all), from the moment each stage began to the
// next, to the decision's end, or to now. "Now" is the measured cost once there is one, until then the predicted one;
// the two are never added up. A job is counted by its runs, a service by the day.
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

// To the moment `until`.
Saving saving_of(const Decision& decision, const std::vector<StageRecord>& stages,
                 const std::vector<MeasuredValue>& samples, TimePoint until);

}  // namespace rightsize::decisions
