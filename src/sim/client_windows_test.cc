#include "sim/client_windows.h"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

namespace rightsize::sim {
namespace {

// Whatever the distribution, each row has the requests of its rate within its time, in order, with its lengths.
RC_GTEST_PROP(ClientWindows, EveryRowHasTheRequestsOfItsRate, ()) {
  const int rows = *rc::gen::inRange(1, 12);
  std::string csv, json = "{";
  std::vector<double> rates;
  for (int i = 0; i < rows; ++i) {
    rates.push_back(*rc::gen::inRange(0, 40) / 8.0);
    if (i == 0) rates.back() += 1;
    const double cv = *rc::gen::inRange(1, 60) / 10.0;
    const std::string kind = *rc::gen::element<std::string>("Gamma", "Weibull");
    csv += rates.back() > 0 ? fmt::format("{},{},{},{},{},{}\n", 600 * i, rates.back(), cv, kind, 1 / cv, 0.5)
                            : fmt::format("{},0\n", 600 * i);
    json +=
        fmt::format("{}\"{}\": {{\"input_tokens\": \"{{{}: 0.25, {}: 0.75}}\", \"output_tokens\": \"{{{}: 1.0}}\"}}",
                    i == 0 ? "" : ", ", 600 * i, 10 * i + 1, 10 * i + 2, i + 7);
  }
  RC_ASSERT(is_client_windows(csv.substr(0, csv.find('\n'))));
  const Checked<Trace> trace = draw_client("chunk-1-trace.csv", csv, json + "}");
  RC_ASSERT(trace.has_value());
  RC_ASSERT(trace->has_tokens);
  std::vector<double> counted(rates.size());
  SimTime last = 0;
  for (const Arrival& arrival : trace->arrivals) {
    RC_ASSERT(arrival.at >= last);
    last = arrival.at;
    const auto row = static_cast<std::size_t>(in_seconds(from_sim_time(arrival.at)) / 600);
    RC_ASSERT(row < rates.size());
    counted[row] += 1;
    RC_ASSERT(arrival.size == static_cast<int>(10 * row) + 1 || arrival.size == static_cast<int>(10 * row) + 2);
    RC_ASSERT(arrival.output == static_cast<int>(row) + 7);
  }
  for (std::size_t i = 0; i < rates.size(); ++i) RC_ASSERT(std::abs(counted[i] - rates[i] * 600) <= 1);
}

TEST(ClientWindows, OtherTablesAreNotClients) {
  for (const char* line : {"t,size", "0,1,2,3,4,5", "TIMESTAMP,ContextTokens,GeneratedTokens", "0,1.5", ""})
    EXPECT_FALSE(is_client_windows(line)) << line;
  EXPECT_EQ(lengths_file_of("a/chunk-12-trace.csv"), "a/chunk-12-dataset.json");
  EXPECT_EQ(lengths_file_of("trace.csv"), "");
}

TEST(ClientWindows, MistakesHaveTheirLine) {
  const Checked<Trace> wrong = draw_client("c-trace.csv", "0,2,1,Gamma,1,1\n600,x,1,Gamma,1,1\n", "");
  ASSERT_FALSE(wrong);
  EXPECT_EQ(wrong.error().front().place.line, 2);
  EXPECT_FALSE(draw_client("c-trace.csv", "0,0\n600,0\n", ""));
}

}  // namespace
}  // namespace rightsize::sim
