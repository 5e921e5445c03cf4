#include "base/csv.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

namespace rightsize {
namespace {

using testing::ElementsAre;

TEST(Csv, ReadsCommentsQuotesAndBlankLinesWithPlaces) {
  auto csv = Csv::parse("f.csv", "\xEF\xBB\xBF# facts\n\nname, memory,note\r\na,80GiB,\"x, \"\"y\"\"\"\r\n\nb ,,z\n");
  ASSERT_TRUE(csv);
  EXPECT_THAT(csv->header(), ElementsAre("name", "memory", "note"));
  ASSERT_EQ(csv->rows().size(), 2u);
  EXPECT_EQ(csv->cell(csv->rows()[0], "note"), "x, \"y\"");
  EXPECT_EQ(csv->cell(csv->rows()[1], "name"), "b");
  EXPECT_EQ(csv->cell(csv->rows()[1], "absent"), "");
  EXPECT_EQ(csv->place(csv->rows()[0], "memory").line, 4);
  EXPECT_EQ(csv->place(csv->rows()[0], "memory").column, 3);
}

TEST(Csv, ReportsEveryMistakeWithItsLine) {
  auto csv = Csv::parse("f.csv", "a,b,a\n1,2\n1,2,3\n1,2,3,4\n");
  ASSERT_FALSE(csv);
  std::string text = describe(csv.error());
  EXPECT_THAT(text, testing::HasSubstr("f.csv:1:5: column 'a' is named twice"));
  EXPECT_THAT(text, testing::HasSubstr("f.csv:2:1: 2 cells in a table of 3 columns"));
  EXPECT_THAT(text, testing::HasSubstr("f.csv:4:1: 4 cells in a table of 3 columns"));
}

TEST(Csv, UnclosedQuotesAndEmptyFilesAreErrors) {
  EXPECT_THAT(describe(Csv::parse("f", "a,b\n1,\"2\n").error()),
              testing::HasSubstr("f:2:3: this quote is never closed"));
  EXPECT_THAT(describe(Csv::parse("f", "# only a comment\n").error()), testing::HasSubstr("no header row"));
}

TEST(Csv, CellsStayValidWhenTheTableIsMoved) {
  auto csv = Csv::parse("f", "a\nshort\n");
  Csv moved = *std::move(csv);
  EXPECT_EQ(moved.cell(moved.rows()[0], "a"), "short");
}

RC_GTEST_PROP(Csv, ReadsBackWhatItQuotes, (std::vector<std::string> cells)) {
  RC_PRE(!cells.empty());
  std::string header = "c0", line = csv_cell("x" + cells[0]);
  for (std::size_t i = 1; i < cells.size(); ++i) {
    header += ",c" + std::to_string(i);
    line += "," + csv_cell("x" + cells[i]);
  }
  auto csv = Csv::parse("f", header + "\n" + line + "\n");
  RC_ASSERT(csv.has_value());
  RC_ASSERT(csv->rows().size() == 1u);
  for (std::size_t i = 0; i < cells.size(); ++i) {
    std::string_view want = cells[i];
    // Cells are trimmed, as data files are edited by hand.
    while (!want.empty() && std::string_view(" \t\r\n").find(want.back()) != std::string_view::npos)
      want.remove_suffix(1);
    RC_ASSERT(csv->cell(csv->rows()[0], "c" + std::to_string(i)) == "x" + std::string(want));
  }
}

}  // namespace
}  // namespace rightsize
