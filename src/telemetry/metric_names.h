// The names that sources use for metrics, their units, and the values that mean "no reading". The names are in
// data/metric_names.csv.
//
//   auto spec = find_metric(Vocabulary::kExporter, "DCGM_FI_PROF_SM_ACTIVE");
//   if (auto value = canonical(*spec, raw)) sample.set(spec->metric, *value);
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "telemetry/sample.h"

namespace rightsize::telemetry {

// The source of a name. A name is looked up in one vocabulary: "sm" is a share of time in dmon and a clock elsewhere.
enum class Vocabulary {
  kRecording,  // our own CSV: "sm_pct", "fb_used_mib"
  kSmiQuery,   // nvidia-smi --query-gpu, with or without "[unit]": "utilization.gpu [%]", "power.draw"
  kSmiDmon,    // nvidia-smi dmon, with GPM columns: "sm", "mclk", "smutil"
  kDcgmi,      // dcgmi dmon: "GRACT", "DRAMA"
  kXml,        // nvidia-smi -q -x, an element and its parent: "utilization/gpu_util"
  kExporter,   // dcgm-exporter: "DCGM_FI_DEV_GPU_UTIL", old and new field names; nvidia_smi_* and jobstats names
  kStore,      // monitoring of the clouds: "agent.googleapis.com/gpu/utilization"
};
inline constexpr std::size_t kVocabularies = 7;

// Parts of memory, for sources that do not publish the total. They are never in a Sample.
inline constexpr Metric kMemoryFree{kMetrics}, kMemoryReserved{kMetrics + 1};

struct MetricSpec {
  Metric metric = Metric::kGpuUtil;
  double scale = 1;                          // canonical = raw * scale
  bool unsure = false;                       // a share that sources write 0-1 or 0-100; see ShareScale
  bool counter = false;                      // a total: the metric is its rate
  std::string label = {}, label_value = {};  // only series with this label; empty: all
};
struct MetricName {
  std::string name;
  MetricSpec spec;
};

// The metric of a name; empty for names we do not use. Case matters only in exporters and stores.
std::optional<MetricSpec> find_metric(Vocabulary vocabulary, std::string_view name);
// All names, in the order of the table.
const std::vector<MetricName>& metric_names(Vocabulary vocabulary);

// DCGM's and NVML's numbers for "no value": INT64 and INT32 from 0x7ffffff0 up, FP64 from 2^47 up, NaN, infinities.
bool is_blank(double raw);

// "N/A", "[N/A]", "[Not Supported]", "-", "", "[Unknown Error]", "[GPU is lost]" ...: anything in brackets, too.
bool is_blank(std::string_view text);

// The value in our unit; empty for blanks, negative values and impossible shares (above 1.05).
std::optional<double> canonical(const MetricSpec& spec, double raw);

// Decides from the values whether a share is written 0-1 or 0-100. A lone 1 means 1 % or 100 %: it is left out until
// another value has settled the question.
class ShareScale {
 public:
  std::optional<double> read(double raw);

 private:
  enum class Scale { kUnknown, kShare, kPercent };
  Scale scale_ = Scale::kUnknown;
};

}  // namespace rightsize::telemetry
