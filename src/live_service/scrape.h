// The text that an engine serves at /metrics (Prometheus exposition format and OpenMetrics).
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/usage_units.h"
#include "telemetry/feeds/feeds.h"

namespace rightsize::live_service {

struct ScrapedSample {
  std::string name;
  telemetry::Labels labels;
  double value = 0;
  std::optional<TimePoint> time;  // if the line has one
};

// All samples with finite values. Fails at the first line that is neither a sample nor a comment.
Result<std::vector<ScrapedSample>> parse_scrape(const std::string& file, std::string_view text);

}  // namespace rightsize::live_service
