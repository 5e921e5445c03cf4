// What `fleet` and `exporter` call: telemetry is read, laid beside jobs and prices, and judged.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "fleet/fleet.h"
#include "fleet/promql.h"
#include "rightsize/fleet/input.h"
#include "rightsize/input/speed_input.h"

namespace rightsize::app {

// What was read and judged.
struct FleetResult {
  fleet::FleetAnalysis analysis;
  fleet::Sources sources;  // names on the server, or in the files of stores
  fleet::LabelNames labels;
  std::vector<std::string> read;      // "Prometheus at http://..., 120 requests", "3 files: nvidia-smi csv"
  std::vector<std::string> failures;  // what could not be read
  double share_read = 1;
  // GPU-hours and dollars by namespace, workload, user and each label of --by: title and lines.
  std::vector<std::pair<std::string, std::vector<fleet::OwnerLine>>> groups;
  // Why the numbers would mislead if taken for the whole fleet; empty when they do not.
  std::vector<std::string> misleading;
  fleet::Thresholds thresholds;
};

// Fails when nothing could be read at all.
Checked<FleetResult> run_fleet(const FleetRequest& request, const Facts& facts);

}  // namespace rightsize::app
