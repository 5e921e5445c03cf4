#include "telemetry/sample.h"

#include <algorithm>

#include <fmt/format.h>

namespace rightsize::telemetry {

namespace {

constexpr std::string_view kNames[kMetrics] = {"gpu_util",
                                               "memory_util",
                                               "memory_used_bytes",
                                               "memory_total_bytes",
                                               "power_watts",
                                               "power_limit_watts",
                                               "energy_joules",
                                               "sm_clock_hertz",
                                               "memory_clock_hertz",
                                               "temperature_celsius",
                                               "throttle_reasons",
                                               "graphics_active",
                                               "sm_active",
                                               "sm_occupancy",
                                               "tensor_active",
                                               "dram_active",
                                               "fp64_active",
                                               "fp32_active",
                                               "fp16_active",
                                               "integer_active",
                                               "hmma_active",
                                               "imma_active",
                                               "dfma_active",
                                               "pcie_rx_bytes_per_second",
                                               "pcie_tx_bytes_per_second",
                                               "nvlink_rx_bytes_per_second",
                                               "nvlink_tx_bytes_per_second"};

}  // namespace

std::string_view name_of(Metric metric) { return kNames[static_cast<std::size_t>(metric)]; }

std::optional<Metric> metric_named(std::string_view name) {
  const auto found = std::ranges::find(kNames, name);
  return found == std::end(kNames) ? std::nullopt : std::optional(static_cast<Metric>(found - std::begin(kNames)));
}

std::string Device::key() const {
  const std::string gpu = uuid.empty() ? fmt::format("{}{}{}", host, host.empty() ? "" : ":", index) : uuid;
  return mig_id.empty() ? gpu : gpu + "/" + mig_id;
}

void SampleSink::add_points(int device, Metric metric, std::span<const Point> points) {
  Sample sample;
  for (const Point& point : points) {
    sample.time = point.time;
    sample.set(metric, point.value);
    add(device, sample);
  }
}

}  // namespace rightsize::telemetry
