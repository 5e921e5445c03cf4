#include "fleet/emit.h"

#include <map>
#include <regex>
#include <set>
#include <sstream>

#include <gmock/gmock.h>

#include "base/located_json.h"
#include "fleet/test_fleet.h"

namespace rightsize::fleet {
namespace {

using testing::HasSubstr;
using testing::Not;

const Sources& sources() {
  static const Sources kFound = {{Metric::kGpuUtil, {"my_busy", 0.01}},
                                 {Metric::kMemoryUsed, {"my_memory", 1}},
                                 {Metric::kPower, {"my_power", 1}}};
  return kFound;
}

TEST(Emit, RulesUseTheMetricNamesThatWereFound) {
  const LabelNames labels{"node", "card"};
  const FleetAnalysis nothing_found;
  const std::string rules = emit_rules({sources(), labels, {}, nothing_found});
  EXPECT_THAT(rules, HasSubstr("expr: 'my_busy * 0.01'"));
  EXPECT_THAT(rules, HasSubstr("GPU {{ $labels.card }} on {{ $labels.node }}"));
  EXPECT_THAT(rules, HasSubstr("RightsizeExporterStale"));
  EXPECT_THAT(emit_rules({{}, labels, {}, nothing_found}), HasSubstr("nothing to record"));
}

TEST(Emit, RulesContainThePricesThatWereUsed) {
  const DevicePrices book = book_at(2.5);
  const FleetAnalysis a = analyse(mixed_fleet(), {book, speeds()});
  const LabelNames labels{"node", "card"};
  EXPECT_THAT(emit_rules({sources(), labels, {}, a}), HasSubstr("expr: vector(2.5)"));
}

// Grafana's requirements for a dashboard: title, schema version, panels with a type, a place on the 24 columns, field
// defaults and overrides, options, targets with a reference id, and a data source that a variable of the dashboard
// names.
TEST(Emit, TheDashboardIsValidForGrafana) {
  const LabelNames labels{"node", "card"};
  const FleetAnalysis nothing_found;
  const Checked<LocatedJson> json =
      LocatedJson::parse("dashboard", emit_grafana({sources(), labels, {}, nothing_found}));
  ASSERT_TRUE(json);
  const JsonValue& board = json->root();
  ASSERT_NE(board.find("title"), nullptr);
  EXPECT_GE(*board.find("schemaVersion")->value.integer, 36);
  ASSERT_NE(board.find("time")->value.find("from"), nullptr);
  ASSERT_EQ(board.find("annotations")->value.find("list")->value.type, JsonType::kArray);
  std::set<std::string> variables;
  for (const JsonValue& variable : board.find("templating")->value.find("list")->value.items) {
    ASSERT_NE(variable.find("type"), nullptr);
    variables.insert("${" + variable.find("name")->value.text + "}");
  }
  const std::set<std::string> types = {"stat", "timeseries", "table"};
  std::set<std::int64_t> ids;
  std::set<std::pair<std::int64_t, std::int64_t>> cells;
  for (const JsonValue& panel : board.find("panels")->value.items) {
    EXPECT_TRUE(ids.insert(*panel.find("id")->value.integer).second);
    EXPECT_TRUE(types.contains(panel.find("type")->value.text));
    EXPECT_FALSE(panel.find("title")->value.text.empty());
    ASSERT_NE(panel.find("fieldConfig")->value.find("defaults"), nullptr);
    ASSERT_EQ(panel.find("fieldConfig")->value.find("overrides")->value.type, JsonType::kArray);
    ASSERT_EQ(panel.find("options")->value.type, JsonType::kObject);
    EXPECT_TRUE(variables.contains(panel.find("datasource")->value.find("uid")->value.text));
    const JsonValue& place = panel.find("gridPos")->value;
    auto at = [&](const char* name) { return *place.find(name)->value.integer; };
    EXPECT_LE(at("x") + at("w"), 24);
    for (std::int64_t x = at("x"); x < at("x") + at("w"); ++x) {
      for (std::int64_t y = at("y"); y < at("y") + at("h"); ++y)
        EXPECT_TRUE(cells.insert({x, y}).second) << "panels overlap";
    }
    std::set<std::string> references;
    for (const JsonValue& target : panel.find("targets")->value.items) {
      EXPECT_TRUE(references.insert(target.find("refId")->value.text).second);
      EXPECT_FALSE(target.find("expr")->value.text.empty());
    }
    EXPECT_FALSE(references.empty());
  }
  EXPECT_GE(ids.size(), 10u);
}

// Exposition text: every family has its help and type before its samples, all samples of a family are adjacent, and no
// sample is repeated.
TEST(Emit, MetricsAreValidExpositionText) {
  const DevicePrices book = book_at(2.5);
  std::vector<GpuUse> gpus = mixed_fleet();
  gpus[0].device.host = "odd \"host\"\\\n";
  const FleetAnalysis a = analyse(std::move(gpus), {book, speeds()});
  const std::string text = emit_metrics(a, 1, true);
  std::istringstream lines(text);
  std::string current;
  std::set<std::string> finished, samples;
  const std::regex sample(R"re(([a-z_]+)(\{([a-z_]+="([^"\\]|\\["\\n])*",?)*\})? [-+.e0-9]+)re");
  for (std::string line; std::getline(lines, line);) {
    std::smatch match;
    if (line.starts_with("# HELP ")) {
      if (!current.empty()) finished.insert(current);
      current = line.substr(7, line.find(' ', 7) - 7);
      EXPECT_FALSE(finished.contains(current)) << current;
    } else if (!line.starts_with("# TYPE ")) {
      ASSERT_TRUE(std::regex_match(line, match, sample)) << line;
      EXPECT_EQ(match[1], current);
      EXPECT_TRUE(samples.insert(line.substr(0, line.rfind(' '))).second) << line;
    }
  }
  EXPECT_THAT(text, HasSubstr("rightsize_fleet_trusted 1\n"));
  EXPECT_THAT(emit_metrics(a, 0.5, false), HasSubstr("rightsize_fleet_trusted 0\n"));
  EXPECT_THAT(text, HasSubstr("rightsize_gpu_verdict{id=\"GPU-held\""));
}

}  // namespace
}  // namespace rightsize::fleet
