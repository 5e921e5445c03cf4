// What `fleet` and `exporter` share: where telemetry comes from, and how it is judged.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "fleet/fleet.h"
#include "fleet/promql.h"
#include "rightsize/command.h"

namespace rightsize::app {

struct FleetFlags {
  std::vector<std::string> from, prices, names;
  std::string prometheus, jobs, window = "7d", step, end, match, resume, timeout = "120s", retry_wait = "250ms";
  std::size_t shard = 96;
  int parallel = 2, tries = 5;
  std::string bearer_file, user, password_file, certificate, key, authority, org_id;
  std::vector<std::string> headers;
  bool insecure = false, progress = false;
  std::string idle_below = "0.5%", held_above = "1GiB", target = "85%", sharing = "80%", memory_headroom = "90%";
  std::string stop_above = "90%", park_after = "4h", min_age = "24h", max_overload = "1%";
  std::vector<std::string> providers, regions, by_labels;
  bool across_teams = false;
  std::string catalog;
};

// Declares everything above on a command.
void add_fleet_flags(CLI::App& command, FleetFlags& flags);

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

Checked<FleetResult> run_fleet(const FleetFlags& flags, const catalog::Catalog& catalog);

report::Report fleet_report(const FleetResult& result, std::size_t top);
report::Json fleet_document(const FleetResult& result);  // of that report

std::string time_text(double time);  // seconds since 1970: "2026-01-03T08:30Z"

}  // namespace rightsize::app
