// Whether this GPU has a benchmark, as `estimate` and `recommend` use the word.
#pragma once

#include <string_view>

#include "perf/kernels/gpu_speed.h"

namespace rightsize::perf {

// `relative`: the measured GPU that the losses come from; empty if this GPU was measured.
inline bool has_benchmark(Basis basis, std::string_view relative) {
  if (basis == Basis::kMeasured || basis == Basis::kCalibrated) return true;
  return basis == Basis::kTransferred && relative.empty();
}

}  // namespace rightsize::perf
