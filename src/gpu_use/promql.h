// Queries for a Prometheus-compatible server. The server aggregates over a bounded set of GPUs (a shard); only numbers
// per GPU, owner and step of the profile are transferred.
//
// The dialect is that of Prometheus 2.26 and later, VictoriaMetrics, Thanos, Mimir and Grafana Cloud: no MetricsQL, no
// experimental functions, no negative offsets. Every selector has a range, because the lookback of instant selectors
// differs between servers.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "gpu_use/use.h"

namespace rightsize::gpu_use {

// The name of a metric on this server.
struct MetricSource {
  std::string name;  // "DCGM_FI_PROF_GR_ENGINE_ACTIVE"
  double scale = 1;  // canonical = reported x scale
};
using Sources = std::map<Metric, MetricSource>;
std::optional<Metric> activity_of(const Sources& sources);  // the best one available

// The labels that identify GPUs on this server.
struct LabelNames {
  std::string host;  // "Hostname"; may be empty
  std::string gpu;   // "UUID", else "gpu"
  std::string model = "modelName";
};

using LabelList = std::vector<std::string>;

// The GPUs of one query, and the labels that answers are grouped by.
struct Shard {
  std::string label = {};                // the label that divides the fleet
  std::vector<std::string> values = {};  // its values in this shard
  std::string only = {};                 // an additional matcher: UUID=""
  LabelList gpu = {};                    // together they identify a physical GPU
  LabelList part = {};                   // ... a MIG instance of it
  LabelList owner = {};                  // ... its owner
};

// The time resolution of queries, chosen by how often the GPUs are read.
struct Grain {
  Seconds step = seconds(15);        // between evaluated moments
  Seconds lookback = seconds(30);    // how long a reading is valid for ownership and activity
  Seconds connected = seconds(300);  // ... and for presence
  bool dirty = false;                // some readings are blank or impossible and must be filtered out
};

// name{matchers, label=~"a|b"}; values are escaped for a regular expression and for PromQL's quotes.
std::string selector(std::string_view name, std::string_view matchers, const Shard& shard);

// "by (a, b)"
std::string by(const LabelList& labels);
LabelList joined(LabelList a, const LabelList& b);

// Which label values have a reading of any of the metrics in the last `range`.
std::string present(const std::vector<std::string>& selectors, Seconds range, const LabelList& labels);

// The best evidence of activity in the last `lookback` in its canonical unit, by these labels: the first source with a
// value. Blank and impossible values are left out if the grain is dirty.
struct Gauge {
  std::string selector;
  double scale = 1;                     // canonical = reported x scale
  double most = telemetry::kMostShare;  // larger canonical values are impossible
};
std::string activity(const std::vector<Gauge>& sources, const Grain& grain, const LabelList& labels);

// Whether a possible value was read in the last `range`.
std::string plausible(const std::vector<Gauge>& sources, Seconds range, const LabelList& labels);

// Equal shares of a moment for all owners in `owners` (from present()), which is grouped by `part` and further labels.
// Rows without an owner count only if there is no other.
std::string shares(const std::string& owners, const LabelList& part);

// Over the moments in the last `width` at which `inner` has a value: their count, or the sum, mean or maximum of the
// values.
enum class OfMoments { kCount, kSum, kMean, kMax };
std::string over_moments(OfMoments what, const std::string& inner, Seconds width, Seconds step);

// avg_over_time(S[7d]) and similar.
std::string over_time(std::string_view function, const std::string& selector, Seconds range);

// "7d", "90m", "45s": the largest unit that divides.
std::string duration_text(Seconds time);

// Escape text for a regular expression, and for PromQL's double quotes.
std::string escape_regex(std::string_view text);
std::string escape_quoted(std::string_view text);

}  // namespace rightsize::gpu_use
