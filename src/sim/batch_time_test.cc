#include "sim/batch_time.h"

#include <cmath>
#include <map>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

namespace rightsize::sim {
namespace {

std::string mistake(const std::string& text) {
  auto rows = parse_service_table("t.csv", text);
  return rows ? "" : describe(rows.error());
}

TEST(ServiceTable, ReadsRowsAndSortsThemByBatch) {
  auto rows = parse_service_table("t.csv", "batch,ms_p50,ms_p90,note\n8,4.5,4.6,x\n1,2,,y\n");
  ASSERT_TRUE(rows);
  ASSERT_EQ(rows->rows.size(), 2u);
  EXPECT_EQ(rows->rows[0].batch, 1);
  EXPECT_EQ(rows->rows[0].time.p90, milliseconds(2));  // no spread given
  EXPECT_EQ(rows->rows[1].time.p90, milliseconds(4.6));
}

TEST(ServiceTable, OtherNamesOfItsColumns) {
  for (const char* header : {"batch_size,latency_ms", "bs,ms", "batch,p50_ms"}) {
    const auto rows = parse_service_table("t.csv", std::string(header) + "\n4,9\n");
    ASSERT_TRUE(rows) << header;
    EXPECT_EQ(rows->rows.front().batch, 4);
    EXPECT_EQ(rows->rows.front().time.p50, milliseconds(9));
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

constexpr const char* kPerfAnalyzer =
    "Batch,Concurrency,Inferences/Second,Server Queue,Server Compute Input,Server Compute Infer,Server Compute Output,"
    "p50 latency,p90 latency\n";

TEST(ServiceTable, ReadsPerfAnalyzersComputeTimes) {
  auto rows = parse_service_table(
      "p.csv", std::string(kPerfAnalyzer) + "1,1,300,10,20,2000,30,2200,2300\n4,1,900,10,40,3000,60,3300,3400\n");
  ASSERT_TRUE(rows) << describe(rows.error());
  ASSERT_EQ(rows->rows.size(), 2u);
  EXPECT_NEAR(in_milliseconds(rows->rows[0].time.p50), 2.05, 1e-9);
  EXPECT_NEAR(in_milliseconds(rows->rows[1].time.p50), 3.10, 1e-9);
  EXPECT_TRUE(rows->notes.empty());
}

// Every row of a sweep is a measured capacity: the table gives its rate back, and none is dropped.
RC_GTEST_PROP(ServiceTable, ASweepOfConcurrenciesKeepsTheRateOfEveryRow, ()) {
  std::map<int, double> rates;
  for (int i = *rc::gen::inRange(2, 6); i > 0; --i)
    rates[*rc::gen::inRange(1, 256)] = *rc::gen::inRange(1, 100'000) / 10.0;
  std::string text = kPerfAnalyzer;
  for (const auto& [load, rate] : rates) text += fmt::format("1,{},{},10,20,2000,30,3000,3300\n", load, rate);
  const auto table = parse_service_table("p.csv", text);
  RC_ASSERT(table.has_value());
  RC_ASSERT(table->rows.size() == rates.size());
  if (rates.size() < 2) return;
  for (const TableTime::Row& row : table->rows) {
    RC_ASSERT(std::abs(row.batch / in_seconds(row.time.p50) / rates.at(row.batch) - 1) < 1e-9);
    RC_ASSERT(row.time.p90 > row.time.p50);
  }
  RC_ASSERT(table->notes.size() == 1u);
}

TEST(ServiceTable, ASweepNeedsItsRates) {
  EXPECT_THAT(mistake("Concurrency,Server Compute Infer\n1,2000\n4,2300\n"),
              testing::HasSubstr("rows of several concurrencies need the column 'Inferences/Second'"));
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
