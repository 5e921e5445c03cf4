// What time it is for a ledger: the system's clock, or the moment in the environment variable RIGHTSIZE_NOW
// ("2026-11-15T09:30:00Z"), or the beginning of the day in RIGHTSIZE_TODAY, so that reports can be reproduced.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "base/usage_units.h"

namespace rightsize::decisions {

TimePoint now();

// "2026-11-15T09:30:00Z", or a day alone, which is its beginning.
Result<TimePoint> parse_time(std::string_view text);
std::string format_time(TimePoint time);

}  // namespace rightsize::decisions
