// Latency limits in the user's words: --p95-ttft 1s, --slo p99-latency<2s, --max-itl-ms 50.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/units.h"

namespace rightsize::app {

enum class LatencyMetric { kTtft, kTpot, kLatency };

struct LatencyLimitName {
  std::optional<LatencyMetric> metric;
  std::optional<double> percentile;  // 95
  std::string unit;                  // of a bare number: "ms" of --ttft-ms
};
// The limit that a name describes: a metric, a percentile or both, with words such as slo, max and target. Empty if the
// name has other words.
std::optional<LatencyLimitName> read_limit_name(std::string_view name);

struct LatencyLimit {
  LatencyMetric metric = LatencyMetric::kLatency;
  std::optional<double> percentile;
  Seconds most;
  std::string text;           // the value with its unit
  bool unit_assumed = false;  // a bare number
};
// A limit with its value. A bare number is in milliseconds, or in seconds if that is more likely: --ttft 2.
std::optional<LatencyLimit> read_limit(const LatencyLimitName& name, std::string_view value);
// "ttft=1s,p95-tpot=50ms", "p95 ttft < 1s", "ttft:500ms"; a bare time limits the latency. Empty if any part is not a
// limit.
std::optional<std::vector<LatencyLimit>> read_limits(std::string_view text);

// The lowest of the percentiles 50, 95 and 99 that is at least as strict.
int modelled_percentile(double percentile);

}  // namespace rightsize::app
