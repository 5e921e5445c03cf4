// The questions put to a Prometheus-compatible server, as text. Everything heavy is an aggregation the server computes
// over a bounded set of GPUs (a shard); only numbers per GPU, owner and cell of the profile travel.
//
// The dialect is what Prometheus 2.26 and everything later that speaks it (VictoriaMetrics, Thanos, Mimir, Grafana
// Cloud) understand: no MetricsQL, no experimental functions, no negative offsets. Instant selectors are avoided,
// because servers differ in how far they look back; every selector names its range.
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
std::optional<Metric> activity_of(const Sources& sources);  // the most telling one there is

// The labels that tell GPUs apart on this server.
struct LabelNames {
  std::string host;  // "Hostname"; empty when there is none
  std::string gpu;   // "UUID", else "gpu"
  std::string model = "modelName";
};

using LabelList = std::vector<std::string>;

// The GPUs of one round of questions, and the labels their answers are grouped by.
struct Shard {
  std::string label = {};                // the label that cuts the fleet in pieces
  std::vector<std::string> values = {};  // and its values here
  std::string only = {};                 // another matcher: UUID=""
  LabelList gpu = {};                    // together they name a physical GPU
  LabelList part = {};                   // and these a MIG instance of it
  LabelList owner = {};                  // and these whose it is
};

// How closely to look. Both follow from how often the GPUs are read.
struct Grain {
  Seconds step = seconds(15);        // between the moments that are looked at
  Seconds lookback = seconds(30);    // a reading counts for so long after it, where it matters who or how busy
  Seconds connected = seconds(300);  // ... and for so long where it matters whether the GPU was there
  bool dirty = false;                // some readings are blank or impossible and have to be left out one by one
};

// name{matchers, label=~"a|b"}; values are escaped for a regular expression and for PromQL's quotes.
std::string selector(std::string_view name, std::string_view matchers, const Shard& shard);

// "by (a, b)"
std::string by(const LabelList& labels);
LabelList joined(LabelList a, const LabelList& b);

// Who has a reading in the last `range`, by these labels; of any of the metrics.
std::string present(const std::vector<std::string>& selectors, Seconds range, const LabelList& labels);

// The best evidence of activity in the last `lookback` in our unit, by these labels: the first source that has
// one. Blank and impossible values are left out when the grain is dirty.
struct Gauge {
  std::string selector;
  double scale = 1;                     // canonical = reported x scale
  double most = telemetry::kMostShare;  // a canonical value above cannot be
};
std::string activity(const std::vector<Gauge>& sources, const Grain& grain, const LabelList& labels);

// Whether a possible value was read in the last `range`.
std::string plausible(const std::vector<Gauge>& sources, Seconds range, const LabelList& labels);

// Equal shares of a moment for all owners in `owners` (made with present()), which is grouped by `part` and more
// labels. Rows without an owner count only where there is no other.
std::string shares(const std::string& owners, const LabelList& part);

// Of the moments of the last `width` at which `inner` has a value: their number, and the values' sum, mean, largest.
enum class OfMoments { kCount, kSum, kMean, kMax };
std::string over_moments(OfMoments what, const std::string& inner, Seconds width, Seconds step);

// avg_over_time(S[604800s]) and the like.
std::string over_time(std::string_view function, const std::string& selector, Seconds range);

// "7d", "90m", "45s": the largest unit that divides.
std::string duration_text(Seconds time);

// A text as part of a regular expression inside PromQL's double quotes.
std::string escape_regex(std::string_view text);
std::string escape_quoted(std::string_view text);

}  // namespace rightsize::fleet
