// Times as monitoring tools write them. NVIDIA's tools do not write a time zone; their times are read as UTC.
#pragma once

#include <optional>
#include <string_view>

#include "base/usage_units.h"

namespace rightsize::telemetry {

// Each returns an empty optional for text of another form and for dates or hours that do not exist.
std::optional<TimePoint> parse_smi_time(std::string_view text);                          // "2026/11/15 00:35:40.211"
std::optional<TimePoint> parse_dmon_time(std::string_view date, std::string_view time);  // "20261115", "00:35:43"
std::optional<TimePoint> parse_xml_time(std::string_view text);                          // "Sun Nov 15 00:35:47 2026"
// "2026-01-01T00:05:00Z", "...+02:00", with fractions, without seconds, with a space instead of the T.
std::optional<TimePoint> parse_iso_time(std::string_view text);

}  // namespace rightsize::telemetry
