#include "telemetry/metric_names.h"

#include <cmath>
#include <span>
#include <string>
#include <unordered_map>

#include "base/text.h"

namespace rightsize::telemetry {
namespace {

using enum Metric;

constexpr double kPercent = 0.01;
constexpr double kMiB = 1024.0 * 1024.0;
constexpr double kMB = 1e6;
constexpr double kMHz = 1e6;
constexpr double kMilli = 1e-3;

struct Row {
  std::string_view name;
  MetricSpec spec;
};

constexpr Row kRecordingRows[] = {
    {"gpu_util_pct", {kGpuUtil, kPercent}},
    {"mem_util_pct", {kMemoryUtil, kPercent}},
    {"fb_used_mib", {kMemoryUsed, kMiB}},
    {"fb_total_mib", {kMemoryTotal, kMiB}},
    {"power_w", {kPower, 1}},
    {"power_limit_w", {kPowerLimit, 1}},
    {"energy_j", {kEnergy, 1}},
    {"sm_mhz", {kSmClock, kMHz}},
    {"mem_mhz", {kMemoryClock, kMHz}},
    {"temperature_c", {kTemperature, 1}},
    {"throttle_bits", {kThrottle, 1}},
    {"graphics_pct", {kGraphicsActive, kPercent}},
    {"sm_pct", {kSmActive, kPercent}},
    {"sm_occupancy_pct", {kSmOccupancy, kPercent}},
    {"integer_pct", {kIntegerActive, kPercent}},
    {"tensor_pct", {kTensorActive, kPercent}},
    {"dfma_pct", {kDfmaActive, kPercent}},
    {"hmma_pct", {kHmmaActive, kPercent}},
    {"imma_pct", {kImmaActive, kPercent}},
    {"dram_bw_pct", {kDramActive, kPercent}},
    {"fp64_pct", {kFp64Active, kPercent}},
    {"fp32_pct", {kFp32Active, kPercent}},
    {"fp16_pct", {kFp16Active, kPercent}},
    {"pcie_tx_mibs", {kPcieTx, kMiB}},
    {"pcie_rx_mibs", {kPcieRx, kMiB}},
    {"nvlink_tx_mibs", {kNvlinkTx, kMiB}},
    {"nvlink_rx_mibs", {kNvlinkRx, kMiB}},
};

// power.draw is an average over a second from Ampere on, instantaneous before; the average is taken where both are.
constexpr Row kSmiQueryRows[] = {
    {"utilization.gpu", {kGpuUtil, kPercent}},
    {"utilization.memory", {kMemoryUtil, kPercent}},
    {"memory.used", {kMemoryUsed, kMiB}},
    {"memory.total", {kMemoryTotal, kMiB}},
    {"power.draw", {kPower, 1}},
    {"power.limit", {kPowerLimit, 1}},
    {"enforced.power.limit", {kPowerLimit, 1}},
    {"clocks.sm", {kSmClock, kMHz}},
    {"clocks.current.sm", {kSmClock, kMHz}},
    {"clocks.mem", {kMemoryClock, kMHz}},
    {"clocks.current.memory", {kMemoryClock, kMHz}},
    {"temperature.gpu", {kTemperature, 1}},
    {"clocks_event_reasons.active", {kThrottle, 1}},
    {"clocks_throttle_reasons.active", {kThrottle, 1}},
};

// "sm" here is nvidia-smi's utilization.gpu: the share of time any kernel ran, not SM activity.
constexpr Row kSmiDmonRows[] = {
    {"sm", {kGpuUtil, kPercent}},
    {"mem", {kMemoryUtil, kPercent}},
    {"fb", {kMemoryUsed, kMiB}},
    {"pwr", {kPower, 1}},
    {"gtemp", {kTemperature, 1}},
    {"temp", {kTemperature, 1}},
    {"mclk", {kMemoryClock, kMHz}},
    {"pclk", {kSmClock, kMHz}},
    {"rxpci", {kPcieRx, kMB}},
    {"txpci", {kPcieTx, kMB}},
    {"grutil", {kGraphicsActive, kPercent}},
    {"smutil", {kSmActive, kPercent}},
    {"smocc", {kSmOccupancy, kPercent}},
    {"intutil", {kIntegerActive, kPercent}},
    {"mmaact", {kTensorActive, kPercent}},
    {"dfmaact", {kDfmaActive, kPercent}},
    {"hmmaact", {kHmmaActive, kPercent}},
    {"immaact", {kImmaActive, kPercent}},
    {"dram", {kDramActive, kPercent}},
    {"fp64", {kFp64Active, kPercent}},
    {"fp32", {kFp32Active, kPercent}},
    {"fp16", {kFp16Active, kPercent}},
};

constexpr Row kDcgmiRows[] = {
    {"GRACT", {kGraphicsActive, 1}}, {"SMACT", {kSmActive, 1}},       {"SMOCC", {kSmOccupancy, 1}},
    {"TENSO", {kTensorActive, 1}},   {"DRAMA", {kDramActive, 1}},     {"FP64A", {kFp64Active, 1}},
    {"FP32A", {kFp32Active, 1}},     {"FP16A", {kFp16Active, 1}},     {"INTAC", {kIntegerActive, 1}},
    {"TIMMA", {kImmaActive, 1}},     {"THMMA", {kHmmaActive, 1}},     {"TDFMA", {kDfmaActive, 1}},
    {"PCITX", {kPcieTx, 1}},         {"PCIRX", {kPcieRx, 1}},         {"NVLTX", {kNvlinkTx, 1}},
    {"NVLRX", {kNvlinkRx, 1}},       {"POWER", {kPower, 1}},          {"PWRAV", {kPower, 1}},
    {"TOTEC", {kEnergy, kMilli}},    {"TMPTR", {kTemperature, 1}},    {"FBUSD", {kMemoryUsed, kMiB}},
    {"FBTOT", {kMemoryTotal, kMiB}}, {"GPUTL", {kGpuUtil, kPercent}}, {"MCUTL", {kMemoryUtil, kPercent}},
    {"SMCLK", {kSmClock, kMHz}},     {"MMCLK", {kMemoryClock, kMHz}},
};

// Names after "DCGM_FI_DEV_" or "DCGM_FI_PROF_", old and new; then whole names of other exporters.
constexpr Row kDcgmRows[] = {
    {"GPU_UTIL", {kGpuUtil, kPercent}},
    {"GPU_UTIL_RATIO", {kGpuUtil, 1, true}},
    {"MEM_COPY_UTIL", {kMemoryUtil, kPercent}},
    {"MEM_COPY_UTIL_RATIO", {kMemoryUtil, 1, true}},
    {"FB_USED", {kMemoryUsed, kMiB}},
    {"FB_TOTAL", {kMemoryTotal, kMiB}},
    {"POWER_USAGE", {kPower, 1}},
    {"BOARD_POWER_WATTS", {kPower, 1}},
    {"POWER_MGMT_LIMIT", {kPowerLimit, 1}},
    {"BOARD_POWER_LIMIT_REQUESTED_WATTS", {kPowerLimit, 1}},
    {"TOTAL_ENERGY_CONSUMPTION", {kEnergy, kMilli}},
    {"SM_CLOCK", {kSmClock, kMHz}},
    {"MEM_CLOCK", {kMemoryClock, kMHz}},
    {"GPU_TEMP", {kTemperature, 1}},
    {"CLOCK_THROTTLE_REASONS", {kThrottle, 1}},
    {"CLOCKS_EVENT_REASONS", {kThrottle, 1}},
    {"GR_ENGINE_ACTIVE", {kGraphicsActive, 1}},
    {"GR_ENGINE_UTIL_RATIO", {kGraphicsActive, 1, true}},
    {"SM_ACTIVE", {kSmActive, 1}},
    {"SM_UTIL_RATIO", {kSmActive, 1, true}},
    {"SM_OCCUPANCY", {kSmOccupancy, 1}},
    {"SM_OCCUPANCY_RATIO", {kSmOccupancy, 1, true}},
    {"PIPE_TENSOR_ACTIVE", {kTensorActive, 1}},
    {"TENSOR_UTIL_RATIO", {kTensorActive, 1, true}},
    {"DRAM_ACTIVE", {kDramActive, 1}},
    {"DRAM_UTIL_RATIO", {kDramActive, 1, true}},
    {"PIPE_FP64_ACTIVE", {kFp64Active, 1}},
    {"FP64_UTIL_RATIO", {kFp64Active, 1, true}},
    {"PIPE_FP32_ACTIVE", {kFp32Active, 1}},
    {"FP32_UTIL_RATIO", {kFp32Active, 1, true}},
    {"PIPE_FP16_ACTIVE", {kFp16Active, 1}},
    {"FP16_UTIL_RATIO", {kFp16Active, 1, true}},
    {"PIPE_INT_ACTIVE", {kIntegerActive, 1}},
    {"INT_UTIL_RATIO", {kIntegerActive, 1, true}},
    {"PIPE_TENSOR_IMMA_ACTIVE", {kImmaActive, 1}},
    {"IMMA_UTIL_RATIO", {kImmaActive, 1, true}},
    {"PIPE_TENSOR_HMMA_ACTIVE", {kHmmaActive, 1}},
    {"HMMA_UTIL_RATIO", {kHmmaActive, 1, true}},
    {"PIPE_TENSOR_DFMA_ACTIVE", {kDfmaActive, 1}},
    {"DFMA_UTIL_RATIO", {kDfmaActive, 1, true}},
    {"PCIE_TX_BYTES", {kPcieTx, 1}},
    {"PCIE_RX_BYTES", {kPcieRx, 1}},
    {"NVLINK_TX_BYTES", {kNvlinkTx, 1}},
    {"NVLINK_RX_BYTES", {kNvlinkRx, 1}},
    {"nvidia_smi_utilization_gpu", {kGpuUtil, kPercent}},
    {"nvidia_smi_utilization_memory", {kMemoryUtil, kPercent}},
    {"nvidia_smi_memory_used", {kMemoryUsed, kMiB}},
    {"nvidia_smi_memory_total", {kMemoryTotal, kMiB}},
    {"nvidia_smi_power_draw", {kPower, 1}},
    {"nvidia_smi_temperature_gpu", {kTemperature, 1}},
    {"nvidia_smi_clocks_current_sm", {kSmClock, kMHz}},
    {"nvidia_smi_clocks_current_memory", {kMemoryClock, kMHz}},
    {"nvidia_gpu_duty_cycle", {kGpuUtil, kPercent}},
    {"nvidia_gpu_memory_used_bytes", {kMemoryUsed, 1}},
    {"nvidia_gpu_memory_total_bytes", {kMemoryTotal, 1}},
    {"nvidia_gpu_power_usage_milliwatts", {kPower, kMilli}},
    {"nvidia_gpu_temperature_celsius", {kTemperature, 1}},
};

std::span<const Row> rows_of(Vocabulary vocabulary) {
  switch (vocabulary) {
    case Vocabulary::kRecording:
      return kRecordingRows;
    case Vocabulary::kSmiQuery:
      return kSmiQueryRows;
    case Vocabulary::kSmiDmon:
      return kSmiDmonRows;
    case Vocabulary::kDcgmi:
      return kDcgmiRows;
    case Vocabulary::kDcgm:
      return kDcgmRows;
  }
  return {};
}

// Without the prefixes and the unit nvidia-smi adds: "utilization.gpu [%]" -> "utilization.gpu".
std::string_view bare(Vocabulary vocabulary, std::string_view name) {
  if (vocabulary == Vocabulary::kDcgm) {
    for (std::string_view prefix : {"DCGM_FI_DEV_", "DCGM_FI_PROF_"}) {
      if (name.starts_with(prefix)) return name.substr(prefix.size());
    }
    // A bare field name without its prefix is nobody's.
    return name.starts_with("nvidia_") ? name : std::string_view();
  }
  if (vocabulary == Vocabulary::kSmiQuery) return trim(name.substr(0, name.find('[')));
  return name;
}

bool same_name(Vocabulary vocabulary, std::string_view a, std::string_view b) {
  return vocabulary == Vocabulary::kDcgm ? a == b : to_lower(a) == to_lower(b);
}

}  // namespace

std::optional<MetricSpec> find_metric(Vocabulary vocabulary, std::string_view name) {
  const std::string_view wanted = bare(vocabulary, name);
  if (wanted.empty()) return std::nullopt;
  for (const Row& row : rows_of(vocabulary)) {
    if (same_name(vocabulary, row.name, wanted)) return row.spec;
  }
  return std::nullopt;
}

std::optional<MemoryPartSpec> find_memory_part(Vocabulary vocabulary, std::string_view name) {
  struct PartRow {
    Vocabulary vocabulary;
    std::string_view name;
    MemoryPart part;
  };
  static constexpr PartRow kRows[] = {{Vocabulary::kDcgm, "FB_FREE", MemoryPart::kFree},
                                      {Vocabulary::kDcgm, "FB_RESERVED", MemoryPart::kReserved},
                                      {Vocabulary::kSmiQuery, "memory.free", MemoryPart::kFree},
                                      {Vocabulary::kSmiQuery, "memory.reserved", MemoryPart::kReserved}};
  const std::string_view wanted = bare(vocabulary, name);
  for (const PartRow& row : kRows) {
    if (row.vocabulary == vocabulary && same_name(vocabulary, row.name, wanted)) {
      return MemoryPartSpec{row.part, kMiB};
    }
  }
  return std::nullopt;
}

bool is_blank(double raw) {
  constexpr double kBlankInt32 = 0x7ffffff0, kEndInt32 = 0x7fffffff;
  constexpr double kBlankFp64 = 140737488355328.0;
  return !std::isfinite(raw) || (raw >= kBlankInt32 && raw <= kEndInt32) || raw >= kBlankFp64;
}

bool is_blank(std::string_view text) {
  const std::string_view word = trim(text);
  if (word.empty() || word.front() == '[' || word == "-") return true;
  if (word.size() != 3 || (word[0] != 'n' && word[0] != 'N')) return false;
  return to_lower(word) == "n/a" || to_lower(word) == "nan";
}

std::optional<double> canonical(const MetricSpec& spec, double raw) {
  if (is_blank(raw) || raw < 0) return std::nullopt;
  const double value = raw * spec.scale;
  if (!is_share(spec.metric)) return value;
  if (value > kMostShare) return std::nullopt;
  return value < 1 ? value : 1;
}

std::optional<double> ShareScale::read(double raw) {
  if (is_blank(raw) || raw < 0 || raw > 105) return std::nullopt;
  if (raw > 1) scale_ = Scale::kPercent;
  if (scale_ == Scale::kUnknown && raw > 0 && raw < 1) scale_ = Scale::kShare;
  if (scale_ == Scale::kUnknown) return raw == 0 ? std::optional(0.0) : std::nullopt;
  const double share = scale_ == Scale::kPercent ? raw / 100 : raw;
  return share < 1 ? share : 1;
}

}  // namespace rightsize::telemetry
