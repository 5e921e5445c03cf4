// What bound a GPU in each part of the time that was looked at: the same rules as for the whole (diagnose::classify),
// on the part's own activity, memory traffic and memory.
//
// Of metrics that are kept for the whole time only, such as tensor activity, the level while the GPU was active is
// assumed to have been the same throughout.
#pragma once

#include <optional>
#include <vector>

#include "fleet/fleet.h"

namespace rightsize::fleet {

struct VerdictsOverTime {
  Seconds width;                                           // of a part: a day, or a part of a shorter time
  std::vector<std::optional<diagnose::Verdict>> verdicts;  // from the profile's start; nothing where nobody reported
};

// Nothing where there is no profile.
VerdictsOverTime verdicts_over_time(const GpuRow& gpu);

}  // namespace rightsize::fleet
