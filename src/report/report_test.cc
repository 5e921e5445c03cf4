#include "report/report.h"

#include <cmath>

#include <gtest/gtest.h>

#include "base/text.h"

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

TEST(Report, TextAlignsColumnsAndWraps) {
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

TEST(Report, TextCountsOmittedRows) {
  Report report = sample();
  std::get<Table>(report.blocks[0]).most_shown = 1;
  std::string text = render(report, Format::kText);
  EXPECT_NE(text.find("... and 2 more"), std::string::npos);
  EXPECT_EQ(text.find("$10.50"), std::string::npos);
}

// A table with rows that are created on demand gives the same output as one with all rows.
TEST(Report, RowsCreatedLaterAreShownInEveryFormat) {
  Report whole = sample(), later = sample();
  Table& table = std::get<Table>(later.blocks[0]);
  std::get<Table>(whole.blocks[0]).most_shown = table.most_shown = 1;
  table.later_rows = table.rows.size() - 1;
  table.later_row = [rows = table.rows](std::size_t i) { return rows[i + 1]; };
  table.rows.resize(1);
  for (const Format format : {Format::kText, Format::kJson, Format::kCsv, Format::kMarkdown, Format::kHtml}) {
    EXPECT_EQ(render(later, format), render(whole, format));
  }
}

TEST(Report, LongListsAreAddedToTheDocumentOnRequest) {
  Report report = sample();
  report.long_lists = [](Json& document) { document["rows"] = 3; };
  EXPECT_TRUE(report.with_document([](const Json& document) { return document.find("rows") != nullptr; }));
  EXPECT_EQ(report.document.find("rows"), nullptr);
}

Report wide_report() {
  Table table{"", {{"machine", "m"}, {"price", "p", Align::kRight}, {"source", "s"}}, {}, 0};
  table.columns.back().spare = true;
  table.rows = {{text_cell("a-machine-with-a-very-long-name-indeed"), number_cell("$1,234.56", 1234.56),
                 text_cell("a page that says so, of some day")}};
  Report report;
  report.blocks = {Paragraph{"Rent it."}, table};
  return report;
}

TEST(Report, TablesFitTheTerminalAndKeepTheirNumbers) {
  for (std::size_t width : {30u, 60u, 100u}) {
    const std::string text = render(wide_report(), Format::kText, {.width = width, .fit_tables = true});
    for (std::string_view line : split_list(text, '\n')) EXPECT_LE(display_width(line), width) << text;
    EXPECT_NE(text.find("$1,234.56"), std::string::npos) << text;
    EXPECT_EQ(text.find("a page that says so") != std::string::npos, width == 100) << text;
  }
  EXPECT_NE(render(wide_report(), Format::kText, {.width = 30}).find("a page that says so"), std::string::npos);
}

TEST(Report, QuietIsTheFirstParagraphInOneLine) {
  EXPECT_EQ(render(wide_report(), Format::kText, {.quiet = true}), "Rent it.\n");
  Table list;
  list.rows = {{text_cell("h100")}, {text_cell("l4")}, {text_cell("h100")}};
  Report listing;
  listing.title = "GPUs";
  listing.blocks = {list, Paragraph{"What the columns mean."}};
  EXPECT_EQ(render(listing, Format::kText, {.quiet = true}), "h100, l4\n");
  Report file;
  file.blocks = {Verbatim{"", "model: a\njob: train\n"}};
  EXPECT_EQ(render(file, Format::kText, {.quiet = true}), "model: a\njob: train\n");
}

TEST(Report, CsvIsExactAndQuoted) {
  EXPECT_EQ(render(sample(), Format::kCsv), "gpu,usd_per_hour\nh100|sxm,6.88\n\"a, \"\"b\"\"\",10.5\n<t4>,\n");
}

TEST(Report, CsvNeverBeginsACellLikeAFormula) {
  Table table;
  table.columns = {{"n", "name"}, {"p", "price"}};
  for (const char* name : {"=1+1", "+A1", "-cmd", "@x", "\tx"})
    table.rows.push_back({text_cell(name), number_cell("", -1.5e-7)});
  table.rows.push_back({unknown_cell(), text_cell("-")});
  Report report;
  report.blocks = {table};
  EXPECT_EQ(render(report, Format::kCsv),
            "name,price\n'=1+1,-1.5e-07\n'+A1,-1.5e-07\n'-cmd,-1.5e-07\n'@x,-1.5e-07\n'\tx,-1.5e-07\n,-\n");
}

TEST(Report, CsvWithoutATableIsTheDocument) {
  Report report;
  report.blocks = {Paragraph{"It fits."}};
  report.document = {{"schema", "a/1"},
                     {"need", {{"bytes", 8}, {"usd", nullptr}}},
                     {"parts", Json::array({Json{{"name", "=a"}}, Json{{"name", "b"}, {"size", 2.5}}})}};
  EXPECT_EQ(render(report, Format::kCsv), "schema,need.bytes,need.usd\na/1,8,\n\nname,size\n'=a,\nb,2.5\n");
}

TEST(Report, MarkdownEscapesBars) {
  std::string text = render(sample(), Format::kMarkdown);
  EXPECT_NE(text.find("| GPU | $/h |\n|---|---:|\n| h100\\|sxm | $6.88 |"), std::string::npos);
}

TEST(Report, HtmlIsEscapedAndSelfContained) {
  std::string page = render(sample(), Format::kHtml);
  EXPECT_NE(page.find("&lt;t4&gt;"), std::string::npos);
  EXPECT_EQ(page.find("http"), std::string::npos) << "no outside resource";
}

TEST(Report, JsonOutputIsTheDocument) {
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

// At 60 columns: labels 4, numbers 6, two gaps of two: 46 remain for bars; half of the longest has 23.
TEST(Bars, TextDrawsToScaleWithinTheWidth) {
  Report report;
  Bars bars{"Tokens for a dollar", "M tokens/$", {{"l40s", "10.0 M", 10}, {"t4", "5.0 M", 5}, {"v100", "-", NAN}}};
  report.blocks = {bars};
  Style style;
  style.width = 60;
  std::string full, half;
  for (int i = 0; i < 46; ++i) full += "█";
  for (int i = 0; i < 23; ++i) half += "█";
  EXPECT_EQ(render(report, Format::kText, style),
            "Tokens for a dollar\nM tokens/$\nl40s  10.0 M  " + full + "\nt4     5.0 M  " + half + "\nv100       -\n");
}

TEST(Bars, LongDetailsAreCutInTextAndWholeInHtml) {
  Report report;
  const std::string detail = "2 x p5.48xlarge (8 x h100-sxm) at aws, on-demand, with a great many words after it";
  report.blocks = {Bars{"", "", {{"h100-sxm", "$1", 1, detail}}}};
  EXPECT_LE(display_width(render(report, Format::kText)), 101u);
  EXPECT_EQ(render(report, Format::kText).find(detail), std::string::npos);
  EXPECT_NE(render(report, Format::kHtml).find(detail), std::string::npos);
  EXPECT_NE(render(report, Format::kMarkdown).find("- h100-sxm: $1 (" + detail + ")"), std::string::npos);
}

TEST(Report, HeadingsBeginSections) {
  Report report;
  report.blocks = {Heading{"Why <this>"}};
  EXPECT_EQ(render(report, Format::kText), "Why <this>\n");
  EXPECT_EQ(render(report, Format::kMarkdown), "## Why <this>\n");
  EXPECT_NE(render(report, Format::kHtml).find("<h2>Why &lt;this&gt;</h2>"), std::string::npos);
}

TEST(Report, PicturesAreShownInHtmlAndTheRecordInMarkdown) {
  Report report;
  report.blocks = {Paragraph{"body"}};
  report.pictures = {Paragraph{"picture"}};
  report.record = {Paragraph{"record"}};
  EXPECT_EQ(render(report, Format::kText), "body\n");
  EXPECT_EQ(render(report, Format::kMarkdown), "record\n");
  const std::string page = render(report, Format::kHtml);
  EXPECT_LT(page.find("<p>body</p>"), page.find("<p>picture</p>"));
  EXPECT_EQ(page.find("record"), std::string::npos);
}

TEST(LineChart, UnjoinedPointsHaveNoLineButLabels) {
  LineChart chart;
  chart.series = {{"best", {{1, 1, "l4"}, {2, 2, "a100"}}}, {"others", {{2, 1, "t4"}, {1, 2}}, false}};
  Report report;
  report.blocks = {chart};
  std::string html = render(report, Format::kHtml);
  EXPECT_NE(html.find("<div class=\"narrow\">"), std::string::npos);
  html.resize(html.find("<div class=\"narrow\">"));
  EXPECT_EQ(html.find("<polyline"), html.rfind("<polyline"));
  EXPECT_NE(html.find(">l4</text>"), std::string::npos);
  EXPECT_NE(html.find("<title>others, t4: 2, 1</title>"), std::string::npos);
  EXPECT_EQ(render(report, Format::kText).find("l4"), std::string::npos);
}

TEST(LineChart, LabelsThatWouldCoverOthersAreLeftOut) {
  LineChart chart;
  LineChart::Series crowd{"crowd", {}, false};
  for (int i = 0; i < 40; ++i) crowd.points.push_back({1, 1, "the same place"});
  crowd.points.push_back({2, 2, ""});
  chart.series = {crowd};
  Report report;
  report.blocks = {chart};
  const std::string html = render(report, Format::kHtml);
  std::size_t labels = 0;
  for (std::size_t at = 0; (at = html.find(">the same place<", at)) != std::string::npos; ++at) ++labels;
  EXPECT_GE(labels, 1u);
  EXPECT_LE(labels, 30u);  // five heights, three places, two widths
}

TEST(LineChart, LogarithmicAxesOmitValuesThatAreNotPositive) {
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
