#include "settings/setting.h"

#include <cmath>
#include <map>
#include <set>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "base/csv.h"
#include "base/embedded.h"
#include "base/text.h"

namespace rightsize::settings {
namespace {

using testing::AnyOf;
using testing::ElementsAre;
using testing::HasSubstr;

TEST(Settings, TheExampleInTheHeaderWorks) {
  const Setting& row = get("interruptions");
  const Result<Value> value = read(row, "0.05");
  ASSERT_TRUE(value);
  EXPECT_EQ(value->number, 0.05);
  Seconds startup;
  ASSERT_TRUE(accepts(startup, get("startup").kind));
  store(*read(get("startup"), "3min"), startup);
  EXPECT_EQ(in_seconds(startup), 180);
}

TEST(Settings, NamesAreUniqueAndEveryRowIsComplete) {
  std::set<std::string_view> names;
  for (const Setting& row : all()) {
    EXPECT_TRUE(names.insert(row.name).second) << row.name << " has two rows";
    EXPECT_FALSE(row.meaning.empty()) << row.name;
    EXPECT_FALSE(row.meaning.ends_with('.')) << row.name;
    EXPECT_EQ(find(row.name), &row);
    if (is_number(row.kind)) {
      EXPECT_LT(row.least, row.most) << row.name << " has no range";
      EXPECT_FALSE(row.example.empty()) << row.name;
    }
  }
}

// Words that read_row() does not know would have no effect.
TEST(Settings, EveryWordOfTheTableHasAMeaning) {
  const Csv table = *Csv::parse("settings.csv", std::string(embedded_file("settings.csv")));
  EXPECT_THAT(table.header(), ElementsAre("kind", "names", "example", "range", "default", "more", "meaning"));
  for (const CsvRow& row : table.rows()) {
    const std::string_view names = table.cell(row, "names");
    for (const std::string_view word : split_list(table.cell(row, "more"), ' '))
      EXPECT_TRUE(word == "list" || word == "words" || word.starts_with("unit=")) << names << " " << word;
    if (table.cell(row, "kind") == "section") {
      EXPECT_THAT(table.cell(row, "example"), AnyOf("", "train", "serve", "offline")) << names;
      continue;
    }
    const Setting& read = get(names.substr(0, names.find(' ')));
    EXPECT_EQ(table.cell(row, "range").empty(), !is_number(read.kind)) << names;
    EXPECT_EQ(read.meaning, table.cell(row, "meaning"));
    for (const std::string_view alias : split_list(read.aliases, ' ')) EXPECT_NE(find(alias), nullptr) << alias;
  }
}

TEST(Settings, ExamplesAndDefaultsAreAccepted) {
  for (const Setting& row : all()) {
    for (const std::string_view text : {row.example, row.preset}) {
      if (text.empty()) continue;
      const Result<Value> value = read(row, text);
      EXPECT_TRUE(value) << row.name << " " << text << ": " << (value ? "" : describe(value.error()));
    }
    if (row.kind != Kind::kChoice) continue;
    for (const std::string_view text : split_list(row.values, '|')) EXPECT_TRUE(read(row, text)) << row.name << text;
  }
}

TEST(Settings, LimitsMayHaveAComparisonSign) {
  for (const Setting& row : all()) {
    const std::string sign = row.name.starts_with("min-") ? ">" : row.name.starts_with("max-") ? "<" : "";
    if (sign.empty() || !is_number(row.kind)) continue;
    for (const char* after : {"", "=", "= "})
      EXPECT_EQ(read(row, sign + after + std::string(row.example))->number, read(row, row.example)->number) << row.name;
    EXPECT_FALSE(read(row, (sign == ">" ? "<" : ">") + std::string(row.example))) << row.name;
  }
}

TEST(Settings, NumbersAreFiniteAndInTheirRange) {
  for (const Setting& row : all()) {
    EXPECT_FALSE(read(row, "")) << row.name;
    EXPECT_FALSE(read(row, "  ")) << row.name;
    if (!is_number(row.kind)) continue;
    for (const char* text : {"nan", "inf", "-inf", "1e999", "1e26", "-1e26", "many", "--5", "0x10"}) {
      const Result<Value> value = read(row, text);
      ASSERT_FALSE(value) << row.name << " " << text;
      EXPECT_THAT(value.error().message, HasSubstr(std::string(row.name)));
    }
    if (row.least >= 0) {
      EXPECT_FALSE(read(row, "-1")) << row.name;
    }
    const bool whole = row.kind == Kind::kCount || row.kind == Kind::kLength;
    for (const double outside :
         {row.most * 1.01 + (whole ? 1 : 1e-9), row.least - std::abs(row.least) * 0.01 - (whole ? 1 : 1e-9)}) {
      if (outside < 0 && row.least >= 0) continue;
      const Result<Value> value = read(row, format(row, outside));
      EXPECT_FALSE(value) << row.name << " " << format(row, outside);
    }
  }
}

TEST(Settings, ARefusalNamesTheFlagTheValueAndTheRange) {
  const Result<Value> share = read(get("busy-share"), "70");
  ASSERT_FALSE(share);
  EXPECT_EQ(share.error().message, "--busy-share 70 must be between 0.001 and 1");
  EXPECT_EQ(read(get("window"), "1ms").error().message, "--window 1ms must be between 1 min and 10 years");
  EXPECT_EQ(read(get("objective"), "cheap").error().message,
            "unknown --objective 'cheap'; use cost, time, cost-time, energy");
  EXPECT_THAT(read(get("pue"), "0.5").error().message, HasSubstr("between 1 and 5"));
}

RC_GTEST_PROP(Settings, ReadsBackTheNumberThatFormatWrites, ()) {
  const Setting& row = all()[*rc::gen::inRange<std::size_t>(0, all().size())];
  RC_PRE(is_number(row.kind));
  const double at = *rc::gen::inRange(0, 1'000'001) / 1e6;
  double number = row.least + (row.most - row.least) * std::pow(at, 6);
  if (row.kind == Kind::kCount || row.kind == Kind::kLength) number = std::floor(number);
  const Result<Value> back = read(row, format(row, number));
  RC_ASSERT(back.has_value());
  RC_ASSERT(std::abs(back->number - number) <= 1e-9 * std::abs(number));
}

// The bare number, and the same with the unit written out.
TEST(Settings, ABareNumberHasTheUnitOfTheRow) {
  const std::map<std::string_view, std::pair<const char*, const char*>> same = {{"interruptions", {"0.05", "0.05/h"}},
                                                                                {"rate", {"20", "20/s"}},
                                                                                {"hours", {"100", "100h"}},
                                                                                {"budget", {"500", "500USD"}},
                                                                                {"on-demand", {"4", "$4/h"}},
                                                                                {"busy-share", {"0.7", "70%"}},
                                                                                {"traffic", {"2", "2x"}},
                                                                                {"volume", {"1M/2h", "12M/d"}},
                                                                                {"rate", {"50M/d", "578.703703703/s"}},
                                                                                {"network", {"400Gb/s", "50GB/s"}},
                                                                                {"gpu-hours", {"36", "1d12h"}}};
  for (const auto& [name, both] : same) {
    const Result<Value> bare = read(get(name), both.first), unit = read(get(name), both.second);
    ASSERT_TRUE(bare) << name << describe(bare.error());
    ASSERT_TRUE(unit) << name << describe(unit.error());
    EXPECT_NEAR(bare->number / unit->number, 1, 1e-9) << name;
  }
}

// read() accepts exactly the range of a bare number in schemas and stubs.
TEST(Settings, TheRangeOfABareNumberIsTheAcceptedOne) {
  for (const Setting& row : all()) {
    const std::optional<NumberRange> range = number_range(row);
    const bool number = json_type(row) == "integer" || json_type(row) == "number";
    EXPECT_EQ(range.has_value(), number) << row.name;
    if (!range) {
      const bool needs_unit = row.kind == Kind::kDuration || row.kind == Kind::kBytes || row.kind == Kind::kBandwidth;
      if (needs_unit) {
        EXPECT_FALSE(read(row, "5")) << row.name;
      }
      continue;
    }
    const bool whole = json_type(row) == "integer";
    const auto text = [&](double bare) { return whole ? fmt::format("{:.0f}", bare) : fmt::format("{:.12f}", bare); };
    for (const double inside : {range->least, range->most}) EXPECT_TRUE(read(row, text(inside))) << row.name;
    EXPECT_FALSE(read(row, text(range->most * 1.01 + (whole ? 1 : 0)))) << row.name;
  }
}

// Money per something may say so, if that is the setting's own unit.
TEST(Settings, MoneyMayNameItsUnit) {
  const std::map<std::string, std::vector<std::string>> units = {
      {"budget", {"/month", "/mo", " per month", " a month"}},
      {"kwh-price", {"/kWh", "/kwh", " per kWh"}},
      {"egress-price", {"/GB", " per GB"}}};
  for (const auto& [name, own] : units) {
    for (const auto& [other, texts] : units) {
      for (const std::string& text : texts) EXPECT_EQ(bool(read(get(name), "2" + text)), name == other) << name << text;
    }
  }
}

TEST(Settings, ListsAreReadPartByPart) {
  EXPECT_EQ(read_list(get("replicas"), "1,2,4")->size(), 3U);
  EXPECT_EQ(read_list(get("replicas"), "1,000")->size(), 1U);
  EXPECT_FALSE(read_list(get("replicas"), "1,two"));
  EXPECT_EQ(read_list(get("price"), "h100-sxm=2.49,a100=1.5")->size(), 2U);
  EXPECT_EQ(read(get("isl"), "1k,p95=8k")->number, 1000);
}

}  // namespace
}  // namespace rightsize::settings
