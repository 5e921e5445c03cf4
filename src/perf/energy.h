// The range of the energy of a job, which is its power times its time.
#pragma once

#include <algorithm>
#include <cmath>

#include "perf/perf.h"

namespace rightsize::perf {

// Factors on the energy that bound it with 80 % probability: the errors of power and time are independent, and together
// at least as large as those of measured energies.
inline Interval energy_interval(const PowerEstimate& power, const Interval& time) {
  const auto joined = [&](double x, double y) {
    return std::max(power.energy_width, std::hypot(std::log(x), std::log(y)));
  };
  return {std::exp(-joined(power.low, time.low)), std::exp(joined(power.high, time.high))};
}

}  // namespace rightsize::perf
