// Every name a source has for a metric, its unit, and which of its values mean "nothing was read".
//
//   auto spec = find_metric(Vocabulary::kDcgm, "DCGM_FI_PROF_SM_ACTIVE");
//   if (auto value = canonical(*spec, raw)) sample.set(spec->metric, *value);
//
// Sources of the tables: NVIDIA's dcgm_fields.h with the old and the 2025 names of a field, the help texts of
// nvidia-smi and dcgmi, and output captured from them (2026-11).
#pragma once

#include <optional>
#include <string_view>

#include "telemetry/sample.h"

namespace rightsize::telemetry {

// Who speaks. A name is looked up in one vocabulary: "sm" is a share of time in dmon and a clock nowhere.
enum class Vocabulary {
  kRecording,  // our own CSV: "sm_pct", "fb_used_mib"
  kSmiQuery,   // nvidia-smi --query-gpu, with or without "[unit]": "utilization.gpu [%]", "power.draw"
  kSmiDmon,    // nvidia-smi dmon, with GPM columns: "sm", "mclk", "smutil"
  kDcgmi,      // dcgmi dmon: "GRACT", "DRAMA"
  kDcgm,       // dcgm-exporter: "DCGM_FI_DEV_GPU_UTIL", old and new field names; nvidia_smi_* and jobstats names
};

struct MetricSpec {
  Metric metric = Metric::kGpuUtil;
  double scale = 1;     // canonical = raw * scale
  bool unsure = false;  // a share that sources write 0-1 or 0-100; see ShareScale
};

// The metric of a name, or nothing for names we do not use. Case matters only in kDcgm.
std::optional<MetricSpec> find_metric(Vocabulary vocabulary, std::string_view name);

// Memory by parts, for sources that do not say the total: free and reserved bytes. Scale to bytes.
enum class MemoryPart { kFree, kReserved };
struct MemoryPartSpec {
  MemoryPart part = MemoryPart::kFree;
  double scale = 1;
};
std::optional<MemoryPartSpec> find_memory_part(Vocabulary vocabulary, std::string_view name);

// DCGM's and NVML's numbers for "no value": INT64 and INT32 from 0x7ffffff0 up, FP64 from 2^47 up, NaN, infinities.
bool is_blank(double raw);

// "N/A", "[N/A]", "[Not Supported]", "-", "", "[Unknown Error]", "[GPU is lost]" ...: anything in brackets, too.
bool is_blank(std::string_view text);

// The value in our unit, or nothing for blanks, for negative values and for shares that cannot be (above 1.05).
std::optional<double> canonical(const MetricSpec& spec, double raw);

// Finds out whether a share is written 0-1 or 0-100 from the values themselves. A lone 1 means 1 % or 100 %: until
// another value has settled it, it is left out.
class ShareScale {
 public:
  std::optional<double> read(double raw);

 private:
  enum class Scale { kUnknown, kShare, kPercent };
  Scale scale_ = Scale::kUnknown;
};

}  // namespace rightsize::telemetry
