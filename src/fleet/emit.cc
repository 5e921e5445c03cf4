#include "fleet/emit.h"

#include <functional>
#include <map>

#include <fmt/format.h>

#include "fleet/remedies.h"
#include "hand_over/template.h"

namespace rightsize::fleet {
namespace {

using hand_over::Facts;

// A metric in our unit.
std::string scaled(const MetricSource& source) {
  return source.scale == 1 ? source.name : fmt::format("{} * {}", source.name, source.scale);
}

// Dollars per hour of every model name that was seen: a series per model that the other rules join with.
std::vector<Facts> prices_of(const FleetAnalysis& analysis) {
  std::map<std::string, double> rates;
  for (const GpuRow& gpu : analysis.gpus) {
    if (gpu.price.rate && !gpu.use.device.name.empty())
      rates[gpu.use.device.name] = in_usd_per_gpu_hour(*gpu.price.rate);
  }
  std::vector<Facts> prices;
  for (const auto& [model, rate] : rates) prices.push_back(Facts().set("model", model).set("usd_per_hour", rate));
  return prices;
}

std::string host_label(const EmitInput& input) { return input.labels.host.empty() ? "instance" : input.labels.host; }
std::string gpu_label(const EmitInput& input) { return input.labels.gpu.empty() ? "gpu" : input.labels.gpu; }

struct Panel {
  std::string type, title, unit;
  int width = 12;
  std::string expression, legend = {};
};

std::vector<Panel> panels_of(const EmitInput& input) {
  const std::string host = host_label(input), each = "{{" + host + "}} GPU {{" + gpu_label(input) + "}}";
  std::vector<Panel> panels = {
      {"stat", "GPUs", "none", 6, "count(rightsize:gpu_activity)"},
      {"stat", "Idle now", "percentunit", 6, "avg(rightsize:gpu_idle)"},
      {"stat", "Idle dollars per hour", "currencyUSD", 6, "sum(rightsize:gpu_idle_usd_per_hour)"},
      {"stat", "Idle dollars per month", "currencyUSD", 6,
       fmt::format("{} * sum(rightsize:gpu_idle_usd_per_hour)", in_hours(kMonth))},
      {"timeseries", "Activity by host", "percentunit", 12, "avg by (" + host + ") (rightsize:gpu_activity)",
       "{{" + host + "}}"},
  };
  if (input.sources.contains(Metric::kMemoryUsed)) {
    panels.push_back({"timeseries", "Held without work, by namespace", "none", 12,
                      "sum by (namespace) (rightsize:gpu_idle_held)", "{{namespace}}"});
    panels.push_back({"timeseries", "Memory used", "bytes", 12, "rightsize:gpu_memory_used_bytes", each});
  }
  for (const auto& [metric, title] : {std::pair{Metric::kTensorActive, "Tensor pipes active"},
                                      {Metric::kDramActive, "Memory bandwidth used"},
                                      {Metric::kPower, "Power"}}) {
    const auto source = input.sources.find(metric);
    if (source == input.sources.end()) continue;
    panels.push_back({"timeseries", title, metric == Metric::kPower ? "watt" : "percentunit", 12,
                      fmt::format("{} * {}", source->second.name, source->second.scale), each});
  }
  const Panel of_all[] = {
      {"table", "Idle share of the last day", "percentunit", 24, "sort_desc(rightsize:gpu_idle_share:1d)", each},
      // From `rightsize exporter`, if it is scraped.
      {"timeseries", "Dollars of the window by category", "currencyUSD", 12, "sum by (category) (rightsize_fleet_usd)",
       "{{category}}"},
      {"timeseries", "Savings per month by action", "currencyUSD", 12,
       "sum by (kind) (rightsize_savings_usd_per_month)", "{{kind}}"},
      {"stat", "Since the exporter's last success", "s", 12, "time() - max(rightsize_last_success_timestamp_seconds)"},
      {"stat", "Failed measurements of the last day", "none", 12,
       "sum(increase(rightsize_failed_measurements_total[1d]))"},
  };
  panels.insert(panels.end(), std::begin(of_all), std::end(of_all));
  return panels;
}

// A label value of the exposition format.
std::string quoted(std::string_view text) { return "\"" + escape_quoted(text) + "\""; }

// Exposition text: families of gauges.
struct MetricsText {
  std::string text;

  // Each row gives labels and a value; rows without a value are left out.
  template <class Rows, class Labels, class Value>
  void add(const char* name, const char* help, const Rows& rows, const Labels& labels, const Value& value) {
    text += fmt::format("# HELP {0} {1}\n# TYPE {0} gauge\n", name, help);
    for (const auto& row : rows) {
      if (const std::optional<double> number = value(row))
        text += fmt::format("{}{{{}}} {}\n", name, std::invoke(labels, row), *number);
    }
  }
  void add(const char* name, const char* help, double value) {
    text += fmt::format("# HELP {0} {1}\n# TYPE {0} gauge\n{0} {2}\n", name, help, value);
  }
};

std::string gpu_labels(const GpuRow& gpu) {
  const Device& device = gpu.use.device;
  return fmt::format("id={},host={},gpu=\"{}\",model={},owner={},team={}", quoted(device.key()), quoted(device.host),
                     device.index, quoted(gpu_name(gpu)), quoted(gpu.owner().shown()), quoted(gpu.owner().team));
}

}  // namespace

std::string emit_rules(const EmitInput& input) {
  const std::optional<Metric> activity = activity_of(input.sources);
  if (!activity) return "# no activity metric was found: nothing to record\n";
  const auto memory = input.sources.find(Metric::kMemoryUsed);
  Facts facts;
  facts.set("activity", scaled(input.sources.at(*activity)))
      .set("memory", memory == input.sources.end() ? "" : scaled(memory->second))
      .set("active_above", input.thresholds.idle.active_above)
      .set("held_above", fmt::format("{:.0f}", in_bytes(input.thresholds.idle.held_above)))
      .set("stop_idle_share", input.thresholds.stop_idle_share)
      .set("prices", prices_of(input.analysis))
      .set("host_label", host_label(input))
      .set("gpu_label", gpu_label(input))
      .set("model_label", input.labels.model);
  return hand_over::fill_in("prometheus/rules.yaml", facts);
}

std::string emit_grafana(const EmitInput& input) {
  constexpr int kColumns = 24, kHeight = 8;  // of Grafana's grid, and of one panel
  const std::vector<Panel> panels = panels_of(input);
  std::vector<Facts> list;
  int x = 0, y = 0;
  for (const Panel& panel : panels) {
    if (x + panel.width > kColumns) {
      x = 0;
      y += kHeight;
    }
    list.push_back(Facts()
                       .set("id", list.size() + 1)
                       .set("type", panel.type)
                       .set(panel.type, true)
                       .set("title", panel.title)
                       .set("unit", panel.unit)
                       .set("height", kHeight)
                       .set("width", panel.width)
                       .set("x", x)
                       .set("y", y)
                       .set("expression", panel.expression)
                       .set("legend", panel.legend)
                       .set("last", &panel == &panels.back()));
    x += panel.width;
  }
  return hand_over::fill_in("grafana/dashboard.json", Facts().set("panels", std::move(list)));
}

std::string emit_metrics(const FleetAnalysis& a, double share_read, bool trusted) {
  MetricsText page;
  page.add("rightsize_fleet_gpus", "GPUs seen in the window", static_cast<double>(a.totals.gpus));
  page.add("rightsize_fleet_window_seconds", "length of the window", in_seconds(a.totals.window));
  page.add("rightsize_fleet_read_ratio", "share of the fleet that could be read", share_read);
  const bool instant = std::ranges::all_of(a.gpus, [](const GpuRow& gpu) { return gpu.use.is_one_reading(); });
  page.add("rightsize_fleet_trusted", "0 when the numbers would mislead", trusted && !instant ? 1 : 0);
  const auto category = [](const LedgerLine& line) { return "category=" + quoted(name_of(line.category)); };
  page.add("rightsize_fleet_usd", "dollars of the window by category", a.ledger, category,
           [](const LedgerLine& line) { return in_usd(line.spend); });
  page.add("rightsize_fleet_gpu_seconds", "GPU-seconds of the window by category", a.ledger, category,
           [](const LedgerLine& line) { return in_seconds(line.gpu_time / gpus(1)); });
  const auto owner = [](const GroupLine& line) { return "owner=" + quoted(line.name); };
  page.add("rightsize_owner_usd", "dollars of the window by owner", a.owners, owner,
           [](const GroupLine& line) { return in_usd(line.spend); });
  page.add("rightsize_owner_waste_usd", "wasted dollars of the window by owner", a.owners, owner,
           [](const GroupLine& line) { return in_usd(line.waste); });
  std::map<ActionKind, UsdPerSecond> savings;
  for (std::size_t kind = 0; kind < kActionKinds; ++kind) savings[static_cast<ActionKind>(kind)];
  for (const FleetAction& action : a.actions) savings[action.kind] += action.saving;
  page.add(
      "rightsize_savings_usd_per_month", "what the actions of a kind save, no dollar twice", savings,
      [](const auto& kind) { return "kind=" + quoted(name_of(kind.first)); },
      [](const auto& kind) { return in_usd_per_month(kind.second); });
  page.add(
      "rightsize_gpu_verdict", "1 for the verdict of this GPU over the window", a.gpus,
      [](const GpuRow& gpu) { return gpu_labels(gpu) + ",verdict=" + quoted(diagnose::name_of(gpu.verdict)); },
      [](const GpuRow&) { return 1.0; });
  page.add("rightsize_gpu_confidence_ratio", "confidence in the verdict", a.gpus, gpu_labels,
           [](const GpuRow& gpu) { return gpu.confidence; });
  page.add("rightsize_gpu_waste_ratio", "share of the GPU's time that was wasted", a.gpus, gpu_labels,
           [](const GpuRow& gpu) { return gpu.waste_share(); });
  page.add("rightsize_gpu_usd_per_hour", "price of the GPU per hour", a.gpus, gpu_labels,
           [](const GpuRow& gpu) -> std::optional<double> {
             if (!gpu.price.rate) return std::nullopt;
             return in_usd_per_gpu_hour(*gpu.price.rate) * gpu.price.share;
           });
  return page.text;
}

}  // namespace rightsize::fleet
