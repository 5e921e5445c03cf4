#include <fmt/format.h>

#include "base/json.h"
#include "fleet/emit.h"

namespace rightsize::fleet {
namespace {

Json target(const std::string& expression, const std::string& legend) {
  return {{"refId", "A"}, {"expr", expression}, {"legendFormat", legend}, {"datasource", {{"uid", "${datasource}"}}}};
}

struct Panels {
  Json list = Json::array();
  int x = 0, y = 0;

  void add(const char* type, const std::string& title, const std::string& unit, int width, int height,
           const std::string& expression, const std::string& legend) {
    if (x + width > 24) {
      x = 0;
      y += 8;
    }
    list.push_back({{"id", list.size() + 1},
                    {"type", type},
                    {"title", title},
                    {"datasource", {{"type", "prometheus"}, {"uid", "${datasource}"}}},
                    {"gridPos", {{"h", height}, {"w", width}, {"x", x}, {"y", y}}},
                    {"fieldConfig", {{"defaults", {{"unit", unit}}}, {"overrides", Json::array()}}},
                    {"targets", Json::array({target(expression, legend)})}});
    x += width;
  }
};

}  // namespace

std::string emit_grafana(const EmitInput& input) {
  const std::string host = input.labels.host.empty() ? "instance" : input.labels.host;
  const std::string each = "{{" + host + "}} GPU {{gpu}}";
  Panels panels;
  panels.add("stat", "GPUs", "none", 6, 8, "count(rightsize:gpu_activity)", "");
  panels.add("stat", "Idle now", "percentunit", 6, 8, "avg(rightsize:gpu_idle)", "");
  panels.add("stat", "Idle dollars an hour", "currencyUSD", 6, 8, "sum(rightsize:gpu_idle_usd_per_hour)", "");
  panels.add("stat", "Idle dollars a month", "currencyUSD", 6, 8,
             fmt::format("{} * sum(rightsize:gpu_idle_usd_per_hour)", in_hours(kMonth)), "");
  panels.add("timeseries", "Activity by host", "percentunit", 12, 8, "avg by (" + host + ") (rightsize:gpu_activity)",
             "{{" + host + "}}");
  if (input.sources.contains(Metric::kMemoryUsed)) {
    panels.add("timeseries", "Held without work, by namespace", "none", 12, 8,
               "sum by (namespace) (rightsize:gpu_idle_held)", "{{namespace}}");
    panels.add("timeseries", "Memory used", "bytes", 12, 8, "rightsize:gpu_memory_used_bytes", each);
  }
  for (const auto& [metric, title] : {std::pair{Metric::kTensorActive, "Tensor pipes active"},
                                      {Metric::kDramActive, "Memory bandwidth used"},
                                      {Metric::kPower, "Power"}}) {
    const auto source = input.sources.find(metric);
    if (source == input.sources.end()) continue;
    panels.add("timeseries", title, metric == Metric::kPower ? "watt" : "percentunit", 12, 8,
               fmt::format("{} * {}", source->second.name, source->second.scale), each);
  }
  panels.add("table", "Idle share of the last day", "percentunit", 24, 8, "sort_desc(rightsize:gpu_idle_share:1d)",
             each);
  const Json dashboard = {
      {"title", "GPU fleet: waste"},
      {"uid", "rightsize-fleet"},
      {"schemaVersion", 38},
      {"version", 1},
      {"editable", true},
      {"time", {{"from", "now-7d"}, {"to", "now"}}},
      {"refresh", "5m"},
      {"templating",
       {{"list",
         Json::array(
             {{{"name", "datasource"}, {"type", "datasource"}, {"query", "prometheus"}, {"label", "Data source"}}})}}},
      {"panels", std::move(panels.list)}};
  return dashboard.dump() + "\n";
}

}  // namespace rightsize::fleet
