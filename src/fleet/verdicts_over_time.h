// What limited a GPU in each period of the window, by the same rules as for the whole (diagnose::classify).
//
// Metrics without a curve, such as tensor activity, are assumed to have been constant while the GPU was active.
#pragma once

#include <optional>
#include <vector>

#include "fleet/fleet.h"

namespace rightsize::fleet {

struct VerdictsOverTime {
  Seconds width;                                           // of a period: a day, or a part of a shorter window
  std::vector<std::optional<diagnose::Verdict>> verdicts;  // from the start of the profile; not set without readings
};

// Empty without a profile.
VerdictsOverTime verdicts_over_time(const GpuRow& gpu);

}  // namespace rightsize::fleet
