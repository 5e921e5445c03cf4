// A decision is rolled out in stages: one job, 10 %, 50 %, all. Each stage is checked before the next.
#pragma once

#include <array>
#include <optional>
#include <string>
#include <vector>

#include "decisions/evidence.h"

namespace rightsize::decisions {

enum class RolloutStage { kOneJob, kTenth, kHalf, kAll, kLast = kAll };
inline constexpr std::array kStages = {RolloutStage::kOneJob, RolloutStage::kTenth, RolloutStage::kHalf,
                                       RolloutStage::kAll};
std::string_view name_of(RolloutStage stage);   // "one-job", "10%", "50%", "all"
std::string_view words_of(RolloutStage stage);  // "one job", "10 % of the workload" ...
// The share of the workload that is rolled out; one job counts as 0 because the number of jobs is not known.
double share_of(RolloutStage stage);
// The stage after this one; the last stays.
RolloutStage next_stage(RolloutStage stage);

enum class StageState { kRunning, kPassed, kFailed, kLast = kFailed };
std::string_view name_of(StageState state);

// A stage that has started.
struct StageRecord {
  RolloutStage stage = RolloutStage::kOneJob;
  StageState state = StageState::kRunning;
  TimePoint started_at = {};
  std::optional<TimePoint> ended_at = {};
  std::string by = {}, how = {}, note = {};  // who ended it, and how: "by hand", "profile run.csv", "prometheus"
};
// The last stage if it is still running, else null.
const StageRecord* running_stage(const std::vector<StageRecord>& stages);

enum class CheckState { kPassed, kFailed, kUnknown };
std::string_view name_of(CheckState state);

struct Check {
  std::string name;  // "speed", "memory", "slo", "cost"
  CheckState state = CheckState::kUnknown;
  std::string words;                      // "40,354 tok/s predicted at least 33,000; 41,200 measured"
  std::optional<std::int64_t> more = {};  // samples still needed
};

// The checks of a stage, from the measurements since its start: speed within its interval, no out-of-memory error, SLO
// or deadline met, cost as predicted. A check without a target (no SLO was set) is left out.
std::vector<Check> check_stage(const Decision& decision, const std::vector<MeasuredValue>& samples);

}  // namespace rightsize::decisions
