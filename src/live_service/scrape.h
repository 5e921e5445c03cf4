// The text an engine answers at /metrics (Prometheus exposition and OpenMetrics), a line a sample.
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
  std::optional<TimePoint> time;  // where the line has one
};

// Every sample; comments and empty lines are passed over, values that are no number are left out. Fails at the first
// line that is no sample, with its place.
Result<std::vector<ScrapedSample>> parse_scrape(const std::string& file, std::string_view text);

}  // namespace rightsize::live_service
