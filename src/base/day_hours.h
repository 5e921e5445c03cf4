// Hours of a day as people write them.
#pragma once

#include <optional>
#include <string>

#include "base/units.h"

namespace rightsize {

// A range of hours of a day: 22:00-06:00, 10pm-6am.
struct DayHours {
  Seconds from, length;  // from midnight
};
std::optional<DayHours> hours_of_day(const std::string& text);
// The same as its length: 22:00-06:00 and 10pm-6am are 480min. Empty for other texts.
std::string length_of_hours(const std::string& text);

}  // namespace rightsize
