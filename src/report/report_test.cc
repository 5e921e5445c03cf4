#include "report/report.h"

#include <cmath>

#include <gtest/gtest.h>

namespace rightsize::report {
namespace {

Report sample() {
  Report report;
  report.title = "Prices";
  Table table;
  table.columns = {{"GPU", "gpu", Align::kLeft}, {"$/h", "usd_per_hour", Align::kRight}};
  table.rows = {{text_cell("h100|sxm"), number_cell("$6.88", 6.88)},
                {text_cell("a, \"b\""), number_cell("$10.50", 10.5)},
                {text_cell("<t4>"), unknown_cell()}};
  report.blocks = {table, Paragraph{"One sentence that is long enough to be wrapped."}};
  report.document = {{"schema", "rightsize/test/1"}, {"missing", nullptr}};
  return report;
}

TEST(Report, TextAlignsAndWraps) {
  Style style;
  style.width = 30;
  EXPECT_EQ(render(sample(), Format::kText, style),
            "Prices\n\n"
            "GPU          $/h\n"
            "h100|sxm   $6.88\n"
            "a, \"b\"    $10.50\n"
            "<t4>           -\n\n"
            "One sentence that is long\n"
            "enough to be wrapped.\n");
}

TEST(Report, TextCountsWhatItLeavesOut) {
  Report report = sample();
  std::get<Table>(report.blocks[0]).most_shown = 1;
  std::string text = render(report, Format::kText);
  EXPECT_NE(text.find("... and 2 more"), std::string::npos);
  EXPECT_EQ(text.find("$10.50"), std::string::npos);
}

TEST(Report, CsvIsExactAndQuoted) {
  EXPECT_EQ(render(sample(), Format::kCsv), "gpu,usd_per_hour\nh100|sxm,6.88\n\"a, \"\"b\"\"\",10.5\n<t4>,\n");
}

TEST(Report, MarkdownEscapesBars) {
  std::string text = render(sample(), Format::kMarkdown);
  EXPECT_NE(text.find("| GPU | $/h |\n|---|---:|\n| h100\\|sxm | $6.88 |"), std::string::npos);
}

TEST(Report, HtmlEscapesAndStandsAlone) {
  std::string page = render(sample(), Format::kHtml);
  EXPECT_NE(page.find("&lt;t4&gt;"), std::string::npos);
  EXPECT_EQ(page.find("http"), std::string::npos) << "no outside resource";
}

TEST(Report, JsonIsTheDocument) {
  EXPECT_EQ(render(sample(), Format::kJson), "{\n  \"schema\": \"rightsize/test/1\",\n  \"missing\": null\n}\n");
}

TEST(Report, NumbersReadBackAsThemselves) {
  EXPECT_EQ(exact_number(0.1), "0.1");
  EXPECT_EQ(exact_number(6738415616.0), "6738415616");
  EXPECT_EQ(exact_number(NAN), "");
  EXPECT_EQ(json_number(17179869184.0).dump(), "17179869184");
  EXPECT_EQ(json_number(0.3).dump(), "0.3");
  EXPECT_EQ(json_number(INFINITY).dump(), "null");
}

TEST(Report, FormatNamesAreSuggested) {
  EXPECT_EQ(*parse_format("md"), Format::kMarkdown);
  EXPECT_EQ(parse_format("jsn").error().hints[0], "did you mean 'json'?");
}

TEST(LineChart, LogarithmicAxesLeaveOutWhatIsNotAboveZero) {
  LineChart chart;
  chart.logarithmic = true;
  chart.series = {{"roof", {{0.0, 5.0}, {1.0, 10.0}, {100.0, 1000.0}}}, {"op", {{10.0, 100.0}}}};
  Report report;
  report.blocks.emplace_back(chart);
  const std::string text = render(report, Format::kText);
  EXPECT_NE(text.find("1,000 |"), std::string::npos) << text;
  EXPECT_NE(text.find(" 10 |"), std::string::npos) << text;  // the axis does not begin at zero
  EXPECT_NE(text.find('b'), std::string::npos);
  const std::string html = render(report, Format::kHtml);
  EXPECT_EQ(html.find("nan"), std::string::npos);
  EXPECT_EQ(html.find("inf"), std::string::npos);
}

}  // namespace
}  // namespace rightsize::report
