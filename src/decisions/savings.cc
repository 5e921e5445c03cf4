#include "decisions/savings.h"

#include <algorithm>

namespace rightsize::decisions {
namespace {

// Months of the whole workload: each stage's share from its beginning to the next one's.
double share_months(const DecisionSummary& summary, const std::vector<StageRecord>& stages, TimePoint until) {
  double months = 0;
  const TimePoint end = summary.ended_at ? std::min(*summary.ended_at, until) : until;
  for (std::size_t i = 0; i < stages.size(); ++i) {
    const TimePoint begin = stages[i].started_at;
    TimePoint stop = i + 1 < stages.size() ? std::min(stages[i + 1].started_at, end) : end;
    // A failed stage was rolled back.
    if (stages[i].state == StageState::kFailed && stages[i].ended_at) stop = std::min(stop, *stages[i].ended_at);
    if (stop > begin) months += share_of(stages[i].stage) * ((stop - begin) / kMonth);
  }
  return months;
}

}  // namespace

Saving saving_of(const Decision& decision, const std::vector<StageRecord>& stages,
                 const std::vector<MeasuredValue>& samples, TimePoint until) {
  Saving saving;
  saving.decision = decision.summary;
  const Verification found = verify(decision, samples);
  saving.outcome = found.outcome;
  const bool by_run = decision.summary.per == Per::kRun;
  saving.share_months = by_run ? found.runs : share_months(decision.summary, stages, until);
  const char* unit = by_run ? " x runs" : " x months of the share rolled out";
  if (saving.share_months <= 0) {
    saving.method = by_run ? "no run was recorded" : stages.empty() ? "not rolled out" : "only one job, or not begun";
  } else if (found.saved) {
    saving.measured = *found.saved * saving.share_months;
    saving.method = std::string("before less measured cost") + unit + " (" + found.cost->method + ")";
  } else if (decision.saving) {
    saving.predicted = decision.saving->likely * saving.share_months;
    saving.method = std::string("before less predicted cost") + unit;
  } else {
    saving.method = "previous cost unknown";
  }
  return saving;
}

}  // namespace rightsize::decisions
