// The time of day: of the system's clock, of the environment variable RIGHTSIZE_NOW ("2026-11-15T09:30:00Z"), or the
// start of the day in RIGHTSIZE_TODAY, so that reports can be reproduced.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "base/usage_units.h"

namespace rightsize::decisions {

TimePoint now();

// "2026-11-15T09:30:00Z", or a day, which is its start.
Result<TimePoint> parse_time(std::string_view text);
std::string format_time(TimePoint time);

}  // namespace rightsize::decisions
