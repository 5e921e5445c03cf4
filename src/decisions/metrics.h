// One description of every metric in predictions and measurements.
//
//   const MetricInfo* metric = find_metric("tpot_seconds");
//   metric->show(0.0326);                                   // "32.6 ms"
//   Result<double> value = metric->parse("32.6ms");         // in the unit at the end of the name
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace rightsize::decisions {

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
inline constexpr const char* kOverSlo = "over_slo";  // share of requests over a limit, 0-1, in a whole window
inline constexpr const char* kGpuHours = "gpu_hours_per_day";
inline constexpr const char* kOom = "oom";           // out-of-memory errors seen
inline constexpr const char* kUsd = "usd";           // the actual cost per month or run
inline constexpr const char* kRuns = "runs";         // runs of a job since the last measurement
inline constexpr const char* kGpuUtil = "gpu_util";  // share of the time a kernel ran, 0-1

// The side of the predicted interval that breaks a prediction: latency, memory and cost above it, speed below it.
enum class Worse { kAbove, kBelow };

struct MetricInfo {
  std::string_view name;   // ends in its unit, as in JSON
  std::string_view title;  // for people
  Worse worse = Worse::kAbove;
  bool speed = false;                                        // how fast the work is done
  std::string (*show)(double value) = nullptr;               // "32.6 ms"
  Result<double> (*parse_unit)(std::string_view) = nullptr;  // of a text with a unit; null: plain numbers only

  // A number of 0 or more, plain or with a unit.
  Result<double> parse(std::string_view text) const;
};

std::span<const MetricInfo> metrics();
// Null for a name that is not a metric.
const MetricInfo* find_metric(std::string_view name);
std::vector<std::string> metric_names();

}  // namespace rightsize::decisions
