#include "sim/batch_time.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace rightsize::sim {
namespace {

std::string mistake(const std::string& text) {
  auto rows = parse_service_table("t.csv", text);
  return rows ? "" : describe(rows.error());
}

TEST(ServiceTable, ReadsRowsAndSortsThemByBatch) {
  auto rows = parse_service_table("t.csv", "batch,ms_p50,ms_p90,note\n8,4.5,4.6,x\n1,2,,y\n");
  ASSERT_TRUE(rows);
  ASSERT_EQ(rows->size(), 2u);
  EXPECT_EQ((*rows)[0].batch, 1);
  EXPECT_EQ((*rows)[0].time.p90, milliseconds(2));  // no spread given
  EXPECT_EQ((*rows)[1].time.p90, milliseconds(4.6));
}

TEST(ServiceTable, OtherNamesOfItsColumns) {
  for (const char* header : {"batch_size,latency_ms", "bs,ms", "batch,p50_ms"}) {
    const auto rows = parse_service_table("t.csv", std::string(header) + "\n4,9\n");
    ASSERT_TRUE(rows) << header;
    EXPECT_EQ(rows->front().batch, 4);
    EXPECT_EQ(rows->front().time.p50, milliseconds(9));
  }
}

TEST(ServiceTable, MistakesAreReportedWithTheirPlaceAndReason) {
  using testing::HasSubstr;
  EXPECT_THAT(mistake("batch,ms_p50\n0,2\n"), HasSubstr("t.csv:2:1: batch '0' must be a whole number from 1"));
  EXPECT_THAT(mistake("batch,ms_p50\n1,-2\n"), HasSubstr("t.csv:2:3: '-2' is not a positive time"));
  EXPECT_THAT(mistake("batch,ms_p50\n1,nan\n"), HasSubstr("'nan' is not a positive time"));
  EXPECT_THAT(mistake("batch,ms_p50,ms_p90\n1,2,1\n"), HasSubstr("below the median"));
  EXPECT_THAT(mistake("batch,ms_p50\n1,2\n1,3\n"), HasSubstr("batch 1 is listed twice"));
  EXPECT_THAT(mistake("batch,ms_p50\n"), HasSubstr("no rows"));
  EXPECT_THAT(mistake("size,time\n1,2\n"), HasSubstr("no columns 'batch' and 'ms_p50'"));
}

TEST(ServiceTable, ReadsPerfAnalyzerAtTheLowestConcurrency) {
  auto rows =
      parse_service_table("p.csv",
                          "Batch,Concurrency,Inferences/Second,Server Queue,Server Compute Input,Server Compute "
                          "Infer,Server Compute Output,p50 latency\n"
                          "1,4,500,900,20,2300,30,3000\n1,1,300,10,20,2000,30,2200\n4,1,900,10,40,3000,60,3300\n");
  ASSERT_TRUE(rows) << describe(rows.error());
  ASSERT_EQ(rows->size(), 2u);
  EXPECT_NEAR(in_milliseconds((*rows)[0].time.p50), 2.05, 1e-9);
  EXPECT_NEAR(in_milliseconds((*rows)[1].time.p50), 3.10, 1e-9);
}

TEST(TableTime, PadsOrInterpolates) {
  const std::vector<TableTime::Row> rows{{2, {milliseconds(2), milliseconds(2)}},
                                         {4, {milliseconds(4), milliseconds(5)}}};
  EXPECT_EQ(TableTime(rows, true).time_of(3).p50, milliseconds(4));
  EXPECT_NEAR(in_milliseconds(TableTime(rows, false).time_of(3).p50), 3, 1e-9);
  EXPECT_NEAR(in_milliseconds(TableTime(rows, false).time_of(3).p90), 3.5, 1e-9);
  EXPECT_EQ(TableTime(rows, false).time_of(1).p50, milliseconds(2));             // below the table
  EXPECT_NEAR(in_milliseconds(TableTime(rows, false).time_of(8).p50), 8, 1e-9);  // beyond: in proportion
}

// p50 = 10 ms, p90 = 12 ms: scale = 2 / ln 5 = 1.2427 ms, shortest = 10 - 1.2427 ln 2 = 9.1386 ms.
TEST(Tabulate, TheSpreadHasTheGivenMedianAndTail) {
  const TableTime table({{1, {milliseconds(10), milliseconds(12)}}}, false);
  const ServiceTimes times = tabulate(table, 1, microseconds(100));
  EXPECT_NEAR(times.scale[1], 1.2427e6, 100);
  EXPECT_NEAR(static_cast<double>(times.shortest[1]), 9.1386e6 + 1e5, 200);
  EXPECT_NEAR(in_requests_per_s(times.rate(1)), 1e9 / (9.1386e6 + 1e5 + 1.2427e6), 0.01);
}

}  // namespace
}  // namespace rightsize::sim
