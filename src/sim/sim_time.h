// Simulated time: whole nanoseconds since the start of the run. Equal seeds then give equal bytes on every machine.
#pragma once

#include <cmath>
#include <cstdint>
#include <limits>

#include "base/units.h"

namespace rightsize::sim {

using SimTime = std::int64_t;
inline constexpr SimTime kNever = std::numeric_limits<SimTime>::max();

// The nearest nanosecond; values above 292 years are clamped.
inline SimTime to_sim_time(Seconds t) {
  const double ns = in_seconds(t) * 1e9;
  return ns >= 9.2e18 ? kNever - 1 : static_cast<SimTime>(std::llround(ns));
}
inline Seconds from_sim_time(SimTime t) { return seconds(static_cast<double>(t) * 1e-9); }

}  // namespace rightsize::sim
