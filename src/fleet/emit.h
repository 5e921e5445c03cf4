// Rules and dashboards for a team's Prometheus and Grafana, with the metric and label names that were found.
#pragma once

#include <string>

#include "fleet/fleet.h"
#include "gpu_use/promql.h"

namespace rightsize::fleet {

struct EmitInput {
  const Sources& sources;
  const LabelNames& labels;
  const Thresholds& thresholds;
  const FleetAnalysis& analysis;
};

// Recording and alerting rules as YAML: activity, idle and held GPUs, their cost per hour, and alerts.
std::string emit_rules(const EmitInput& input);

// Verdicts and dollars as Prometheus's exposition text: what `rightsize exporter` publishes.
std::string emit_metrics(const FleetAnalysis& analysis, double share_read, bool trusted);

// The current workloads as a file for `rightsize portfolio`: GPUs as pools, and owners as workloads. Empty if nothing
// runs on a GPU with a price.
std::string emit_portfolio(const FleetAnalysis& analysis, const Thresholds& thresholds,
                           const catalog::Catalog& catalog);

// A Grafana dashboard as JSON over the recorded series and the found metrics.
std::string emit_grafana(const EmitInput& input);

}  // namespace rightsize::fleet
