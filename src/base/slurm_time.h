// Durations as Slurm writes them.
#pragma once

#include <optional>
#include <string_view>

#include "base/units.h"

namespace rightsize {

// "90", "90:30" (minutes and seconds), "1:30:00", "2-12", "2-12:00", "2-12:00:00" (days and hours). `bare` is the unit
// of a number without colons: minutes for --time, seconds for sacct's ElapsedRaw. Empty for any other text.
std::optional<Seconds> parse_slurm_time(std::string_view text, Seconds bare = seconds(60));

}  // namespace rightsize
