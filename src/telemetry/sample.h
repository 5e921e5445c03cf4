// The state of a GPU at one moment, in canonical units for all sources. Missing values stay missing.
//
// Sources differ in metrics, units (0-1, 0-100, MiB, mJ) and names; each reader of this module turns its text into
// Samples and passes them to a SampleSink one at a time, which bounds memory for input of any length.
#pragma once

#include <array>
#include <cmath>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "base/usage_units.h"

namespace rightsize::telemetry {

// Every quantity a source may report, with its canonical unit; shares are 0-1. Values are plain numbers because the
// metric is only known at run time; quantities that leave this module (memory, power) are typed.
enum class Metric : std::uint8_t {
  kGpuUtil,         // share of time any kernel ran (nvidia-smi's "utilization.gpu")
  kMemoryUtil,      // share of time memory was being read or written; not bandwidth
  kMemoryUsed,      // bytes
  kMemoryTotal,     // bytes
  kPower,           // watts
  kPowerLimit,      // watts
  kEnergy,          // joules since the driver was loaded; a counter
  kSmClock,         // hertz
  kMemoryClock,     // hertz
  kTemperature,     // degrees Celsius
  kThrottle,        // NVML's clock event reasons, a bit set
  kGraphicsActive,  // share of time the compute or graphics engine was active
  kSmActive,        // share of SM-cycles with at least one warp resident
  kSmOccupancy,     // resident warps relative to the maximum
  kTensorActive,    // share of cycles the tensor pipes were active, any format
  kDramActive,      // share of cycles in which memory moved data: bandwidth / peak
  kFp64Active,
  kFp32Active,
  kFp16Active,
  kIntegerActive,
  kHmmaActive,  // tensor pipe, floating point
  kImmaActive,  // tensor pipe, integer
  kDfmaActive,  // tensor pipe, fp64
  kPcieRx,      // bytes per second into the GPU
  kPcieTx,
  kNvlinkRx,
  kNvlinkTx,
};
inline constexpr std::size_t kMetrics = 27;

constexpr bool is_share(Metric metric) {
  return metric <= Metric::kMemoryUtil || (metric >= Metric::kGraphicsActive && metric <= Metric::kDfmaActive);
}
inline constexpr double kMostShare = 1.05;  // wrong intervals may give slightly more than 1

// The name in JSON and in recordings' documentation: "sm_active", "memory_used_bytes".
std::string_view name_of(Metric metric);

// The inverse of name_of().
std::optional<Metric> metric_named(std::string_view name);

// One reading.
struct Sample {
  TimePoint time;

  std::optional<double> get(Metric metric) const {
    return has(metric) ? std::optional(values_[index(metric)]) : std::nullopt;
  }
  bool has(Metric metric) const { return (present_ >> index(metric) & 1U) != 0; }
  void set(Metric metric, double value) {
    values_[index(metric)] = value;
    present_ |= 1U << index(metric);
  }
  void clear(Metric metric) { present_ &= ~(1U << index(metric)); }
  bool empty() const { return present_ == 0; }
  // Bit i is set if the metric with number i is present.
  std::uint32_t present() const { return present_; }

 private:
  static std::size_t index(Metric metric) { return static_cast<std::size_t>(metric); }
  std::uint32_t present_ = 0;
  std::array<double, kMetrics> values_{};
};

// A reading of a single metric, for sources with one series per metric.
struct Point {
  TimePoint time;
  double value = 0;

  bool is_number() const { return std::isfinite(value) && std::isfinite(in_unix_seconds(time)); }
  auto operator<=>(const Point&) const = default;
};

// The source of a reading: a GPU, or one MIG instance of it. Empty: unknown.
struct Device {
  int index = 0;
  std::string uuid = {};
  std::string name = {};                           // as the driver reports it: "NVIDIA H200"
  std::string host = {};                           // host name, instance id
  std::string mig_profile = {};                    // "1g.10gb" when this is an instance
  std::string mig_id = {};                         // GPU_I_ID
  std::map<std::string, std::string> labels = {};  // pod, namespace, container, job, user, machine type, region ...

  // Identifies the device within a file: the uuid where known, else host and index, with the MIG instance.
  std::string key() const;
};

// Receives samples as they are read. A reader opens each device once and then refers to it by the number returned. The
// samples of one device arrive in file order, which need not be time order.
class SampleSink {
 public:
  virtual ~SampleSink() = default;
  virtual int open(const Device& device) = 0;
  virtual void add(int device, const Sample& sample) = 0;
  // Readings of one metric in canonical units. The default adds one sample per reading; a sink may do it faster.
  virtual void add_points(int device, Metric metric, std::span<const Point> points);
  // A reading without a usable value; it only shows that the device was present.
  virtual void add_unusable(int /*device*/, Metric /*metric*/, TimePoint /*time*/) {}
};

}  // namespace rightsize::telemetry
