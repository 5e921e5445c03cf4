#include <map>

#include <fmt/format.h>

#include "fleet/emit.h"
#include "fleet/remedies.h"

namespace rightsize::fleet {
namespace {

// A metric in our unit: the name where it is in it already.
std::string scaled(const MetricSource& source) {
  return source.scale == 1 ? source.name : fmt::format("{} * {}", source.name, source.scale);
}

struct Rules {
  std::string text;

  void record(const std::string& name, const std::string& expression) {
    text += fmt::format("      - record: {}\n        expr: {}\n", name, quoted(expression));
  }
  void alert(const std::string& name, const std::string& expression, const char* wait, const std::string& summary,
             const std::string& description) {
    text += fmt::format(
        "      - alert: {}\n        expr: {}\n        for: {}\n        labels:\n          severity: warning\n"
        "        annotations:\n          summary: {}\n          description: {}\n",
        name, quoted(expression), wait, quoted(summary), quoted(description));
  }
  // YAML's single quotes: only themselves need care.
  static std::string quoted(const std::string& text) {
    std::string out = "'";
    for (char c : text) out += c == '\'' ? std::string("''") : std::string(1, c);
    return out + "'";
  }
};

// Dollars an hour of each model name that was seen, as a series per model: a join needs no knowledge of prices.
void record_prices(Rules& rules, const EmitInput& input) {
  std::map<std::string, double> rates;
  for (const GpuRow& gpu : input.analysis.gpus) {
    if (gpu.price.rate && !gpu.use.device.name.empty())
      rates[gpu.use.device.name] = in_usd_per_gpu_hour(*gpu.price.rate);
  }
  for (const auto& [model, rate] : rates) {
    rules.text += fmt::format(
        "      - record: rightsize:gpu_usd_per_hour\n        expr: vector({})\n        labels:\n          {}: {}\n",
        rate, input.labels.model, Rules::quoted(model));
  }
}

}  // namespace

std::string emit_rules(const EmitInput& input) {
  const std::optional<Metric> activity = activity_of(input.sources);
  if (!activity) return "# no activity metric was found: nothing to record\n";
  const IdleRule& idle = input.thresholds.idle;
  const std::string host = input.labels.host.empty() ? "instance" : input.labels.host;
  const std::string gpu = input.labels.gpu.empty() ? "gpu" : input.labels.gpu;
  const std::string& model = input.labels.model;
  Rules record, alert;
  record.record("rightsize:gpu_activity", scaled(input.sources.at(*activity)));
  record.record("rightsize:gpu_idle", fmt::format("rightsize:gpu_activity <= bool {}", idle.active_above));
  record.record("rightsize:gpu_idle_share:1h", "avg_over_time(rightsize:gpu_idle[1h])");
  record.record("rightsize:gpu_idle_share:1d", "avg_over_time(rightsize:gpu_idle[1d])");
  const auto memory = input.sources.find(Metric::kMemoryUsed);
  if (memory != input.sources.end()) {
    record.record("rightsize:gpu_memory_used_bytes", scaled(memory->second));
    record.record(
        "rightsize:gpu_idle_held",
        fmt::format("rightsize:gpu_idle * (rightsize:gpu_memory_used_bytes > bool {:.0f})", in_bytes(idle.held_above)));
    record.record("rightsize:gpu_idle_held_share:1d", "avg_over_time(rightsize:gpu_idle_held[1d])");
    alert.alert("GpuHeldIdle", "rightsize:gpu_idle_held_share:1d > 0.95", "1h",
                "GPU {{ $labels." + gpu + " }} on {{ $labels." + host + " }} is held and does nothing",
                "A process has held memory for a day without work: stop it, or scale its workload to zero.");
  }
  record_prices(record, input);
  record.record("rightsize:gpu_idle_usd_per_hour",
                fmt::format("rightsize:gpu_idle_share:1h * on({}) group_left() rightsize:gpu_usd_per_hour", model));
  alert.alert("GpuIdle", fmt::format("rightsize:gpu_idle_share:1d > {}", input.thresholds.stop_idle_share), "1h",
              "GPU {{ $labels." + gpu + " }} on {{ $labels." + host + " }} was idle for a day",
              "Give the GPU back, or let other jobs use it.");
  alert.alert(
      "FleetIdleSpend",
      fmt::format("sum(rightsize:gpu_idle_usd_per_hour) / sum(count by ({0}) (rightsize:gpu_activity) * on({0}) "
                  "rightsize:gpu_usd_per_hour) > 0.3",
                  model),
      "6h", "More than 30 % of the fleet's dollars go into idle GPUs",
      "Run rightsize fleet for the actions that save most.");
  Rules exporter;
  exporter.alert("RightsizeExporterFailing", "increase(rightsize_failed_measurements_total[1h]) > 0", "30m",
                 "rightsize exporter at {{ $labels.instance }} cannot read its source",
                 "Measurements failed in the last hour: /healthz says why.");
  exporter.alert("RightsizeExporterStale", "time() - rightsize_last_success_timestamp_seconds > 7200", "5m",
                 "rightsize exporter at {{ $labels.instance }} has had no success for two hours",
                 "Its fleet values are withdrawn: look at /healthz.");
  exporter.alert("RightsizeNumbersMislead", "rightsize_fleet_trusted == 0", "1h",
                 "The fleet's figures of {{ $labels.instance }} are not the whole fleet's",
                 "Hosts or metrics are missing: rightsize fleet names them.");
  return "groups:\n  - name: rightsize-record\n    interval: 1m\n    rules:\n" + record.text +
         "  - name: rightsize-alert\n    rules:\n" + alert.text + "  - name: rightsize-exporter\n    rules:\n" +
         exporter.text;
}

}  // namespace rightsize::fleet
