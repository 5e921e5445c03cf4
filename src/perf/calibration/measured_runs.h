// What of a job was measured: the runs a stack's constants were fitted on, by GPU, vendor, format, family and size.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "perf/perf.h"

namespace rightsize::perf {

// Each by itself: a GPU and a family that were both measured need not have been measured together.
struct MeasuredRuns {
  bool gpu = false;     // with this stack
  bool vendor = false;  // some GPU of it, with this stack
  bool stack = false;
  bool format = false;  // of weights or of training
  bool family = false;
  bool size = false;  // parameters between half of the smallest and twice the largest model

  // "gpu", true; "vendor", true; ...
  std::vector<std::pair<std::string_view, bool>> named() const;
};
MeasuredRuns measured_runs(const Constants& constants, const ModelWork& work, const model::Job& job,
                           const catalog::Gpu& gpu);

}  // namespace rightsize::perf
