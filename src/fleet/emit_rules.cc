#include <map>

#include <fmt/format.h>

#include "fleet/emit.h"
#include "hand_over/template.h"

namespace rightsize::fleet {
namespace {

// A metric in our unit: only its name where it already has it.
std::string scaled(const MetricSource& source) {
  return source.scale == 1 ? source.name : fmt::format("{} * {}", source.name, source.scale);
}

// Dollars per hour of every model name that was seen: a series per model that the other rules join with.
std::vector<hand_over::Facts> prices_of(const FleetAnalysis& analysis) {
  std::map<std::string, double> rates;
  for (const GpuRow& gpu : analysis.gpus) {
    if (gpu.price.rate && !gpu.use.device.name.empty())
      rates[gpu.use.device.name] = in_usd_per_gpu_hour(*gpu.price.rate);
  }
  std::vector<hand_over::Facts> prices;
  for (const auto& [model, rate] : rates)
    prices.push_back(hand_over::Facts().set("model", model).set("usd_per_hour", rate));
  return prices;
}

}  // namespace

std::string emit_rules(const EmitInput& input) {
  const std::optional<Metric> activity = activity_of(input.sources);
  if (!activity) return "# no activity metric was found: nothing to record\n";
  const auto memory = input.sources.find(Metric::kMemoryUsed);
  hand_over::Facts facts;
  facts.set("activity", scaled(input.sources.at(*activity)))
      .set("memory", memory == input.sources.end() ? "" : scaled(memory->second))
      .set("active_above", input.thresholds.idle.active_above)
      .set("held_above", fmt::format("{:.0f}", in_bytes(input.thresholds.idle.held_above)))
      .set("stop_idle_share", input.thresholds.stop_idle_share)
      .set("prices", prices_of(input.analysis))
      .set("host_label", input.labels.host.empty() ? "instance" : input.labels.host)
      .set("gpu_label", input.labels.gpu.empty() ? "gpu" : input.labels.gpu)
      .set("model_label", input.labels.model);
  return hand_over::fill_in("prometheus/rules.yaml", facts);
}

}  // namespace rightsize::fleet
