// The questions put to a Prometheus-compatible server, as text. Everything heavy is an aggregation the server computes
// over a bounded window of a bounded set of GPUs (a shard); only numbers per GPU travel.
//
// The dialect is what Prometheus 2.24 and everything later that speaks it (VictoriaMetrics, Thanos, Mimir, Grafana
// Cloud) understand: no MetricsQL, no experimental functions.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "fleet/use.h"

namespace rightsize::fleet {

// Where a metric comes from on this server.
struct MetricSource {
  std::string name;  // "DCGM_FI_PROF_GR_ENGINE_ACTIVE"
  double scale = 1;  // canonical = reported x scale
};
using Sources = std::map<Metric, MetricSource>;

// The labels that tell GPUs apart on this server.
struct LabelNames {
  std::string host;  // "Hostname"; empty when there is none
  std::string gpu;   // "UUID", else "gpu"
  std::string model = "modelName";
};

// The GPUs of one round of questions.
struct Shard {
  std::string label;                // the label that cuts the fleet in pieces
  std::vector<std::string> values;  // and its values here
};

struct QueryFrame {
  std::string matchers;  // the user's own, without braces: cluster="a"
  double window = 0;     // seconds
  double step = 60;      // seconds between readings
  double curve_step = 3600;
  IdleRule idle;
};

// name{matchers, label=~"a|b"}; values are escaped for a regular expression and for PromQL's quotes.
std::string selector(std::string_view name, const QueryFrame& frame, const Shard& shard);

enum class Aggregate { kMean, kMax, kP50, kP95, kCount };

// avg_over_time(S[604800s]) and the like, in the unit the server reports.
std::string over_time(Aggregate aggregate, const MetricSource& source, const QueryFrame& frame, const Shard& shard,
                      double seconds);

// Share of readings at or below the idle threshold.
std::string idle_share(const MetricSource& activity, const QueryFrame& frame, const Shard& shard);

// How often idle and active took turns.
std::string idle_changes(const MetricSource& activity, const QueryFrame& frame, const Shard& shard);

// Share of readings without activity while memory was held. Both sides carry the same labels when one exporter reports
// both, which is the case this is asked in; where they do not, the server finds no pair and the answer is empty.
std::string held_share(const MetricSource& activity, const MetricSource& memory, const QueryFrame& frame,
                       const Shard& shard);

// "7d", "90m", "45s": the largest unit that divides.
std::string duration_text(double seconds);

// A text as part of a regular expression inside PromQL's double quotes.
std::string escape_regex(std::string_view text);
std::string escape_quoted(std::string_view text);

}  // namespace rightsize::fleet
