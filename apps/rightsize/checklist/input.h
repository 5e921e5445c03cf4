// What `rightsize profile` and `rightsize fleet` wrote for scripts, read back.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/usage_units.h"

namespace rightsize::app {

// One GPU of `rightsize profile --format json`; what the file leaves out is absent.
struct MeasuredGpu {
  std::string name, verdict;
  std::optional<double> confidence = {};
  std::optional<Seconds> duration = {};
  std::optional<double> sm_active = {}, gpu_util = {};  // means, 0-1
  std::optional<Bytes> memory_peak = {};
  std::vector<std::string> evidence = {}, actions = {};
};
Checked<std::vector<MeasuredGpu>> read_profile(const std::string& file);

// The totals of `rightsize fleet --format json`.
struct MeasuredFleet {
  double gpus = 0;
  std::optional<Usd> spend = {}, waste = {};
  std::optional<GpuTime> gpu_time = {}, idle = {};
  std::string first_action = {};
};
Checked<MeasuredFleet> read_fleet(const std::string& file);

}  // namespace rightsize::app
