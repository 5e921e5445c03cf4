// For tests: the built-in constants of the speed model, read once.
#pragma once

#include "perf/constants/constants.h"

namespace rightsize {

inline const perf::Constants& built_in_constants() {
  static const perf::Constants kConstants = *perf::load_constants("");
  return kConstants;
}

}  // namespace rightsize
