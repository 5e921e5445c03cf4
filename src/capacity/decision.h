// What the two halves of the planner share. Internal to capacity.
#pragma once

#include "capacity/planner.h"

namespace rightsize::capacity {

// Numbers of looks at a run.
inline constexpr std::size_t kAtAGlance = 0, kFirst = 1;

struct Planner::Decision {
  std::optional<Assessment> last;  // empty: overloaded
  bool kept = false;
};

}  // namespace rightsize::capacity
