// A dashboard in Grafana's JSON model (schema version 38, which versions from 10.1 on read and migrate).
#include <fmt/format.h>

#include "base/json.h"
#include "fleet/emit.h"

namespace rightsize::fleet {
namespace {

constexpr int kColumns = 24;  // of Grafana's grid
constexpr int kHeight = 8;

Json data_source() { return {{"type", "prometheus"}, {"uid", "${datasource}"}}; }

Json target(const std::string& expression, const std::string& legend, bool table) {
  Json json = {{"refId", "A"}, {"expr", expression}, {"legendFormat", legend}, {"datasource", data_source()}};
  // A table shows the values of now, not a series of them.
  if (table) {
    json["instant"] = true;
    json["format"] = "table";
  }
  return json;
}

// What each type of panel needs; the rest stays at Grafana's defaults.
Json options_of(std::string_view type) {
  if (type == "stat") return {{"reduceOptions", {{"calcs", {"lastNotNull"}}, {"fields", ""}, {"values", false}}}};
  if (type == "timeseries") return {{"legend", {{"displayMode", "list"}, {"placement", "bottom"}}}};
  return Json::object();
}

struct Panels {
  Json list = Json::array();
  int x = 0, y = 0;

  void add(const char* type, const std::string& title, const std::string& unit, int width,
           const std::string& expression, const std::string& legend) {
    if (x + width > kColumns) {
      x = 0;
      y += kHeight;
    }
    const bool table = std::string_view(type) == "table";
    list.push_back({{"id", list.size() + 1},
                    {"type", type},
                    {"title", title},
                    {"datasource", data_source()},
                    {"gridPos", {{"h", kHeight}, {"w", width}, {"x", x}, {"y", y}}},
                    {"fieldConfig", {{"defaults", {{"unit", unit}}}, {"overrides", Json::array()}}},
                    {"options", options_of(type)},
                    {"targets", Json::array({target(expression, legend, table)})}});
    x += width;
  }
};

void add_counters(Panels& panels, const EmitInput& input, const std::string& each) {
  for (const auto& [metric, title] : {std::pair{Metric::kTensorActive, "Tensor pipes active"},
                                      {Metric::kDramActive, "Memory bandwidth used"},
                                      {Metric::kPower, "Power"}}) {
    const auto source = input.sources.find(metric);
    if (source == input.sources.end()) continue;
    panels.add("timeseries", title, metric == Metric::kPower ? "watt" : "percentunit", 12,
               fmt::format("{} * {}", source->second.name, source->second.scale), each);
  }
}

// Of `rightsize exporter`, where one is scraped.
void add_exporter(Panels& panels) {
  panels.add("timeseries", "Dollars of the window by where they went", "currencyUSD", 12,
             "sum by (category) (rightsize_fleet_usd)", "{{category}}");
  panels.add("timeseries", "Savings per month by action", "currencyUSD", 12,
             "sum by (kind) (rightsize_savings_usd_per_month)", "{{kind}}");
  panels.add("stat", "Since the exporter's last success", "s", 12,
             "time() - max(rightsize_last_success_timestamp_seconds)", "");
  panels.add("stat", "Failed measurements of the last day", "none", 12,
             "sum(increase(rightsize_failed_measurements_total[1d]))", "");
}

}  // namespace

std::string emit_grafana(const EmitInput& input) {
  const std::string host = input.labels.host.empty() ? "instance" : input.labels.host;
  const std::string gpu = input.labels.gpu.empty() ? "gpu" : input.labels.gpu;
  const std::string each = "{{" + host + "}} GPU {{" + gpu + "}}";
  Panels panels;
  panels.add("stat", "GPUs", "none", 6, "count(rightsize:gpu_activity)", "");
  panels.add("stat", "Idle now", "percentunit", 6, "avg(rightsize:gpu_idle)", "");
  panels.add("stat", "Idle dollars per hour", "currencyUSD", 6, "sum(rightsize:gpu_idle_usd_per_hour)", "");
  panels.add("stat", "Idle dollars per month", "currencyUSD", 6,
             fmt::format("{} * sum(rightsize:gpu_idle_usd_per_hour)", in_hours(kMonth)), "");
  panels.add("timeseries", "Activity by host", "percentunit", 12, "avg by (" + host + ") (rightsize:gpu_activity)",
             "{{" + host + "}}");
  if (input.sources.contains(Metric::kMemoryUsed)) {
    panels.add("timeseries", "Held without work, by namespace", "none", 12,
               "sum by (namespace) (rightsize:gpu_idle_held)", "{{namespace}}");
    panels.add("timeseries", "Memory used", "bytes", 12, "rightsize:gpu_memory_used_bytes", each);
  }
  add_counters(panels, input, each);
  panels.add("table", "Idle share of the last day", "percentunit", kColumns, "sort_desc(rightsize:gpu_idle_share:1d)",
             each);
  add_exporter(panels);
  const Json variable = {
      {"name", "datasource"}, {"type", "datasource"}, {"query", "prometheus"}, {"label", "Data source"}};
  const Json dashboard = {{"title", "GPU fleet: waste"},
                          {"uid", "rightsize-fleet"},
                          {"tags", {"gpu", "rightsize"}},
                          {"schemaVersion", 38},
                          {"version", 1},
                          {"editable", true},
                          {"graphTooltip", 1},
                          {"timezone", "browser"},
                          {"time", {{"from", "now-7d"}, {"to", "now"}}},
                          {"refresh", "5m"},
                          {"annotations", {{"list", Json::array()}}},
                          {"templating", {{"list", Json::array({variable})}}},
                          {"panels", std::move(panels.list)}};
  return dashboard.dump() + "\n";
}

}  // namespace rightsize::fleet
