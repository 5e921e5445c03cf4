// Reads the JSON documents of `rightsize profile` and `rightsize fleet`.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/units.h"

namespace rightsize::app {

// One GPU of `rightsize profile --format json`; fields that the file does not have stay empty.
struct ProfiledGpu {
  std::string name, verdict;
  std::optional<double> confidence = {};
  std::optional<Seconds> duration = {};
  std::optional<double> sm_active = {}, gpu_util = {};  // means, 0-1
  std::optional<Bytes> memory_peak = {};
  std::vector<std::string> evidence = {}, actions = {};
};
Checked<std::vector<ProfiledGpu>> read_profile(const std::string& file);

// The totals of `rightsize fleet --format json`.
struct MeasuredFleet {
  double gpus = 0;
  std::optional<Usd> spend = {}, waste = {};
  std::string first_action = {};
};
Checked<MeasuredFleet> read_fleet(const std::string& file);

}  // namespace rightsize::app
