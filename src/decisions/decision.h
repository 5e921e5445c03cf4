// A decision about a workload: the choice, the predictions, who decided and why.
//
// The text of a decision never changes; what happens to it later (rollout, measurements) is kept separately (rollout.h,
// evidence.h).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "base/usage_units.h"
#include "decisions/metrics.h"

namespace rightsize::decisions {

// The value of an enum with this name, as name_of() writes it. Enums of this module count from 0 to kLast.
template <class Enum>
std::optional<Enum> parse(std::string_view name) {
  for (int i = 0; i <= static_cast<int>(Enum::kLast); ++i) {
    if (name_of(static_cast<Enum>(i)) == name) return static_cast<Enum>(i);
  }
  return std::nullopt;
}

// A predicted number. A missing end was not predicted.
struct PredictedRange {
  std::optional<double> low = {};
  double likely = 0;
  std::optional<double> high = {};
};

struct UsdRange {
  std::optional<Usd> low = {};
  Usd likely;
  std::optional<Usd> high = {};
};

// One number that can be measured later.
struct PredictedMetric {
  std::string metric;  // one of metrics.h
  PredictedRange value;
  std::optional<double> limit = {};  // an SLO, or the GPU's capacity; empty: none was set

  const MetricInfo& info() const { return *find_metric(metric); }
};

enum class DecisionStatus {
  kDecided,     // nothing was changed yet
  kRollingOut,  // part of the workload runs on it
  kInForce,     // all of it does
  kRolledBack,
  kSuperseded,  // a later decision about the same workload
  kLast = kSuperseded,
};
std::string_view name_of(DecisionStatus status);
// Whether the workload runs on the plan, or will.
constexpr bool is_live(DecisionStatus status) { return status <= DecisionStatus::kInForce; }

// A service is paid by the month, a training or offline job by the run.
enum class Per { kMonth, kRun, kLast = kRun };
std::string_view name_of(Per per);

// The choice. Empty and 0 for facts that the plan lacks.
struct ChosenPlan {
  std::string words;  // "4 x mi300x: 1 x 4x_MI300X_SECURE at runpod, on-demand"
  std::string gpu, provider, instance, region, purchase;
  std::int64_t gpus = 0, instances = 0;
};

using RequestSettings = std::vector<std::pair<std::string, std::string>>;  // settings of `recommend` by name

// One line of a list.
struct DecisionSummary {
  std::int64_t id = 0;  // 0: not in a ledger yet
  std::string workload, team, author;
  TimePoint decided_at;
  DecisionStatus status = DecisionStatus::kDecided;
  ChosenPlan choice;
  Per per = Per::kMonth;
  std::optional<Usd> cost, before;    // per month or run; `before`: until the decision
  std::optional<Usd> saving;          // predicted, per month or run
  std::optional<TimePoint> ended_at;  // rolled back or superseded
};

struct Decision {
  DecisionSummary summary;
  std::string why, what;           // what: "Serve llama-3.1-70b at 5 requests/s ..."
  std::string command;             // that made the plan: "recommend"
  std::string catalogue, program;  // versions the plan was made with
  std::string rollback;            // how to undo it; empty: not recorded
  std::optional<UsdRange> cost, saving;
  std::vector<PredictedMetric> predictions;
  RequestSettings request;  // to plan again when prices change; empty: not in the plan
  std::string plan;         // the plan and what it assumed, as JSON
  std::int64_t superseded_by = 0;

  const PredictedMetric* find(std::string_view metric) const;
};

// "D12".
std::string label(std::int64_t id);

// The time of the system's clock, of the environment variable RIGHTSIZE_NOW ("2026-11-15T09:30:00Z"), or the start of
// the day in RIGHTSIZE_TODAY, to make reports reproducible.
TimePoint now();
// "2026-11-15T09:30:00Z", or a date, which means the start of the day.
Result<TimePoint> parse_time(std::string_view text);
std::string format_time(TimePoint time);

}  // namespace rightsize::decisions
