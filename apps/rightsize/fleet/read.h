// Reads and judges the telemetry of a fleet, for `fleet` and `exporter`.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "fleet/cluster.h"
#include "fleet/fleet.h"
#include "gpu_use/promql.h"
#include "rightsize/fleet/billing.h"
#include "rightsize/fleet/input.h"
#include "rightsize/input/electricity.h"
#include "rightsize/input/speed_input.h"

namespace rightsize::app {

struct FleetResult {
  fleet::FleetAnalysis analysis;
  fleet::Sources sources;  // metric names on the server or in the files
  fleet::LabelNames labels;
  std::vector<std::string> read;      // "Prometheus at http://..., 120 requests", "3 files: nvidia-smi csv"
  std::vector<std::string> failures;  // what could not be read
  std::vector<fleet::GroupLine> namespaces, workloads, users;
  std::vector<std::pair<std::string, std::vector<fleet::GroupLine>>> labels_asked;  // per label of --by
  std::optional<fleet::ClusterLedger> cluster;  // if Kubernetes pods or nodes were read
  std::vector<std::string> misleading;          // why the totals may not cover the whole fleet; usually empty
  fleet::Thresholds thresholds;
  bool with_timelines = false;  // --timeline
  std::string emitted;          // the file of --emit
  FleetBilling billing;         // with --bill or --team-budget
  Electricity electricity;
  std::optional<catalog::ExchangeRate> currency;  // of --currency
};

// Fails if nothing could be read.
Checked<FleetResult> run_fleet(const FleetRequest& request, const Facts& facts);

}  // namespace rightsize::app
