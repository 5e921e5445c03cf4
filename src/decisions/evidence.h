// What was measured of a decision, and what that says of what was predicted.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "decisions/decision.h"
#include "decisions/sequential.h"

namespace rightsize::decisions {

// Further metrics of measurements: counts and bills.
inline constexpr const char* kOom = "oom";           // out-of-memory errors seen
inline constexpr const char* kUsd = "usd";           // what a month or a run really cost
inline constexpr const char* kRuns = "runs";         // runs of a job since the last time
inline constexpr const char* kGpuUtil = "gpu_util";  // share of the time a kernel ran, 0-1

// One measured value.
struct Sample {
  std::string metric;
  double value = 0;
  TimePoint taken_at;
  std::string source;  // "--measured", "profile run.csv", "prometheus ..."
};

std::vector<double> values_of(const std::vector<Sample>& samples, std::string_view metric);

enum class Finding { kKept, kBroken, kInconclusive };
std::string_view name_of(Finding outcome);

// One prediction against its samples.
struct MetricVerdict {
  Prediction prediction;
  Sequence measured;
  Finding outcome = Finding::kInconclusive;
  bool better = false;                    // than the good end of the interval
  std::optional<std::int64_t> more = {};  // samples still needed, if they go on as they do
  std::string reason = {};                // why it is inconclusive, where more samples are not the reason
};
MetricVerdict judge(const Prediction& prediction, const std::vector<Sample>& samples);

// What a month or a run really costs, and how that is known.
struct MeasuredCost {
  Usd cost;
  std::string method;
};

struct Verification {
  std::vector<MetricVerdict> metrics;  // those that have samples, or that decide
  Finding outcome = Finding::kInconclusive;
  std::optional<MeasuredCost> cost = {};
  std::optional<Usd> saved = {};  // of a month or a run, against what it cost before
  double runs = 0;                // that were measured
};

// Broken where any prediction is; kept where all that were measured are, a speed or latency among them.
Verification verify(const Decision& decision, const std::vector<Sample>& samples);

// Whether a metric says how fast the work goes.
bool is_speed(std::string_view metric);

}  // namespace rightsize::decisions
