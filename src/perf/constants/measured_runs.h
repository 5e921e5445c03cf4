// Which aspects of a job occur in the runs that a stack was fitted on: GPU, vendor, format, family and size.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "perf/perf.h"

namespace rightsize::perf {

// Each aspect by itself: a measured GPU and a measured family may come from different runs.
struct MeasuredRuns {
  bool gpu = false;     // with this stack
  bool vendor = false;  // any GPU of this vendor, with this stack
  bool stack = false;
  bool format = false;  // weight or training format
  bool family = false;
  bool size = false;  // parameters between half of the smallest and twice the largest model

  // "gpu", true; "vendor", true; ...
  std::vector<std::pair<std::string_view, bool>> named() const;
};
MeasuredRuns measured_runs(const Constants& constants, const ModelWork& work, const model::Job& job,
                           const catalog::Gpu& gpu);

}  // namespace rightsize::perf
