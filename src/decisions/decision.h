// A decision about a workload: what was chosen, what was predicted of it, who decided and why.
//
// Decisions are never changed in what they say; what happens to them later (rollout, measurements, verdicts) is written
// beside them (rollout.h, evidence.h).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/usage_units.h"

namespace rightsize::decisions {

// What a plan said of a number. An end that is missing was not said.
struct Range {
  std::optional<double> low = {};
  double likely = 0;
  std::optional<double> high = {};
};

struct UsdRange {
  std::optional<Usd> low = {};
  Usd likely;
  std::optional<Usd> high = {};
};

// The side of the predicted interval that breaks a promise: latency, memory and cost above it, speed below it.
enum class Worse { kAbove, kBelow };

// One number that can be measured later. The unit is in the metric's name, as in JSON: "tpot_seconds".
struct Prediction {
  std::string metric;
  Range value;
  Worse worse = Worse::kAbove;
  std::optional<double> limit = {};  // an SLO, or the GPU's capacity; nothing: none was set
};

// Metrics a plan or a measurement may have.
inline constexpr const char* kMemory = "memory_bytes";
inline constexpr const char* kUtilization = "utilization";
inline constexpr const char* kTtft = "ttft_seconds";
inline constexpr const char* kTpot = "tpot_seconds";
inline constexpr const char* kTokens = "tokens_per_second";
inline constexpr const char* kSamples = "samples_per_second";
inline constexpr const char* kRequests = "requests_per_second";
inline constexpr const char* kHours = "hours";
inline constexpr const char* kLatency = "latency_seconds";
inline constexpr const char* kRate = "usd_per_hour";
// The side that breaks a promise, by the metric's name; nothing for a name that is no metric.
std::optional<Worse> worse_side(std::string_view metric);
// Every metric, for errors.
const std::vector<std::string>& metric_names();

enum class Status {
  kDecided,     // nothing was changed yet
  kRollingOut,  // some of the workload runs so
  kInForce,     // all of it
  kRolledBack,
  kSuperseded,  // a later decision about the same workload
};
std::string_view name_of(Status status);
std::optional<Status> parse_status(std::string_view name);
// Whether it still says how the workload runs or is to run.
constexpr bool is_live(Status status) { return status <= Status::kInForce; }

// A service is paid for by the month, a training or offline job by the run.
enum class Per { kMonth, kRun };
std::string_view name_of(Per per);
std::optional<Per> parse_per(std::string_view name);

// What was chosen. Empty and 0 where the plan does not say.
struct Choice {
  std::string words;  // "4 x mi300x: 1 x 4x_MI300X_SECURE at runpod, on-demand"
  std::string gpu, provider, instance, region, purchase;
  std::int64_t gpus = 0, instances = 0;
};

using Request = std::vector<std::pair<std::string, std::string>>;  // settings of `recommend` by name

// What a list shows.
struct Summary {
  std::int64_t id = 0;  // 0: not in a ledger yet
  std::string workload, team, author;
  TimePoint decided_at;
  Status status = Status::kDecided;
  Choice choice;
  Per per = Per::kMonth;
  std::optional<Usd> cost, before;    // a month or a run; `before`: what it cost until then
  std::optional<Usd> saving;          // of a month or a run, predicted
  std::optional<TimePoint> ended_at;  // rolled back or superseded
};

struct Decision {
  Summary summary;
  std::string why, what;           // "Serve llama-3.1-70b at 5 requests/s ..."
  std::string command;             // that made the plan: "recommend"
  std::string catalogue, program;  // versions the plan rests on
  std::string way_back;            // how to undo it; empty: not said
  std::optional<UsdRange> cost, saving;
  std::vector<Prediction> predictions;
  Request request;   // what to ask again when prices change; empty: the plan does not say
  std::string plan;  // the plan and what it assumed, as JSON
  std::int64_t superseded_by = 0;

  const Prediction* find(std::string_view metric) const;
};

// "D12".
std::string label(std::int64_t id);

}  // namespace rightsize::decisions
