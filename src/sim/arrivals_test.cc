#include "sim/arrivals.h"

#include <cmath>
#include <fstream>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "sim/trace_file.h"

namespace rightsize::sim {
namespace {

using testing::HasSubstr;

std::vector<Arrival> draw(const ArrivalProcess& process, std::size_t count, std::uint64_t seed = 1,
                          const RequestShape& shape = {}) {
  std::vector<Arrival> all(count);
  all.resize(open_stream(process, seed, shape)->fill(all));
  return all;
}

Mmpp mmpp(double calm, double burst, Seconds calm_time, Seconds burst_time) {
  return {requests_per_s(calm), requests_per_s(burst), calm_time, burst_time};
}

double measured_rate(const std::vector<Arrival>& arrivals) {
  return static_cast<double>(arrivals.size()) / in_seconds(from_sim_time(arrivals.back().at));
}

TEST(Arrivals, EveryProcessHasItsMeanRateAndIsInOrder) {
  const ArrivalProcess processes[] = {Poisson{requests_per_s(1000)}, mmpp(100, 900, seconds(0.2), seconds(0.1)),
                                      Diurnal{requests_per_s(500), 1.8, seconds(10)}};
  for (const ArrivalProcess& process : processes) {
    const auto arrivals = draw(process, 400'000);
    EXPECT_NEAR(measured_rate(arrivals) / in_requests_per_s(*mean_rate(process)), 1, 0.02) << process.index();
    for (std::size_t i = 1; i < arrivals.size(); ++i) ASSERT_LE(arrivals[i - 1].at, arrivals[i].at);
    EXPECT_EQ(arrivals, draw(process, 400'000));  // the same seed, the same bytes
    EXPECT_NE(arrivals, draw(process, 400'000, 2));
    EXPECT_NEAR(*mean_rate(scaled(process, 2)) / *mean_rate(process), 2, 1e-9);
  }
}

// The variance of counts over their mean is 1 for Poisson and above it for bursts.
TEST(Arrivals, MmppIsMoreDispersedThanPoisson) {
  auto dispersion = [](const std::vector<Arrival>& arrivals) {
    std::vector<double> counts(static_cast<std::size_t>(arrivals.back().at / 100'000'000) + 1);
    for (const Arrival& a : arrivals) ++counts[static_cast<std::size_t>(a.at / 100'000'000)];
    double mean = 0, variance = 0;
    for (double c : counts) mean += c / static_cast<double>(counts.size());
    for (double c : counts) variance += (c - mean) * (c - mean) / static_cast<double>(counts.size());
    return variance / mean;
  };
  EXPECT_NEAR(dispersion(draw(Poisson{requests_per_s(500)}, 200'000)), 1, 0.1);
  EXPECT_GT(dispersion(draw(mmpp(100, 900, seconds(1), seconds(1)), 200'000)), 5);
}

TEST(Arrivals, ExponentialLengthsHaveTheirMean) {
  double size = 0, output = 0;
  const auto arrivals = draw(Poisson{requests_per_s(10)}, 100'000, 3, {500, 100, true});
  for (const Arrival& a : arrivals) size += a.size, output += a.output;
  EXPECT_NEAR(size / 1e5, 500, 6);
  EXPECT_NEAR(output / 1e5, 100, 2);
}

TEST(ParseArrivals, ReadsEveryDocumentedForm) {
  EXPECT_EQ(in_requests_per_s(*mean_rate(*parse_arrivals("poisson:250"))), 250);
  EXPECT_NEAR(in_requests_per_s(*mean_rate(*parse_arrivals("poisson:120/min"))), 2, 1e-9);
  EXPECT_NEAR(in_requests_per_s(*mean_rate(*parse_arrivals("mmpp:100,900,9s,1s"))), 180, 1e-9);
  EXPECT_NEAR(in_requests_per_s(*peak_rate(*parse_arrivals("diurnal:200,1.5"))), 300, 1e-9);
}

TEST(ParseArrivals, RefusesOtherTextWithAHint) {
  for (const char* bad : {"", "poisson", "poisson:", "poisson:0", "poisson:-1", "poisson:nan", "mmpp:1,2",
                          "diurnal:5,3", "trace:", "poison:3", "trace:/nonexistent/file.csv"}) {
    EXPECT_FALSE(parse_arrivals(bad)) << bad;
  }
  EXPECT_THAT(describe(parse_arrivals("poison:3").error()), HasSubstr("did you mean 'poisson'"));
}

// At any rate, times ascend and stay within the clock: a stream ends before it overflows.
TEST(Arrivals, AnyAcceptedRateStaysOnTheClock) {
  for (const char* text :
       {"1e-9/s", "poisson:1e-9", "poisson:0.000000001", "3e-8/s", "1e9/s", "mmpp:1e-9,1e-9,3000d,1s",
        "mmpp:1e-9,1e9,3649d,1us", "diurnal:1e-9,2,1s", "diurnal:1e-9,1.5,3000d"}) {
    const auto process = parse_arrivals(text);
    ASSERT_TRUE(process) << text;
    const auto arrivals = draw(*process, 20'000);
    EXPECT_FALSE(arrivals.empty()) << text;
    for (std::size_t i = 0; i < arrivals.size(); ++i) {
      ASSERT_GE(arrivals[i].at, i == 0 ? 0 : arrivals[i - 1].at) << text;
      ASSERT_LT(arrivals[i].at, kNever / 2) << text;
    }
  }
}

// Every process that is accepted finds its next request in a bounded number of steps; otherwise this test would not
// end.
RC_GTEST_PROP(Arrivals, AnyAcceptedProcessIsDrawnInBoundedWork, ()) {
  const auto power = [](int least, int most) { return std::pow(10.0, *rc::gen::inRange(least, most + 1)); };
  const bool bursts = *rc::gen::arbitrary<bool>();
  const std::string text =
      bursts ? fmt::format("mmpp:{},{},{}s,{}s", power(-9, 9), power(-9, 9), power(-12, 8), power(-12, 8))
             : fmt::format("diurnal:{},2,{}s", power(-9, 9), power(-12, 8));
  if (const auto process = parse_arrivals(text)) RC_ASSERT(draw(*process, 64).size() <= 64U);
}

TEST(ParseArrivals, EveryWayToWriteARateHasTheSameRange) {
  for (const char* rate : {"0", "-1", "nan", "inf", "1e-300", "9e-10", "1e10", "1e300"}) {
    for (const char* form :
         {"{}", "{}/s", "poisson:{}", "poisson:{}/s", "mmpp:{},5,1s,1s", "mmpp:5,{},1s,1s", "diurnal:{},1.5"})
      EXPECT_FALSE(parse_arrivals(fmt::format(fmt::runtime(form), rate))) << form << " " << rate;
  }
}

TEST(ParseTrace, ReadsAzureTimestampsToTheMicrosecond) {
  auto trace = parse_trace("azure.csv",
                           "TIMESTAMP,ContextTokens,GeneratedTokens\n2024-01-31 23:59:59.9000000,100,10\n"
                           "2024-02-01 00:00:00.1500000,200,20\n");
  ASSERT_TRUE(trace) << describe(trace.error());
  ASSERT_EQ(trace->arrivals.size(), 2u);
  EXPECT_EQ(trace->arrivals[0], (Arrival{0, 100, 10}));
  EXPECT_NEAR(static_cast<double>(trace->arrivals[1].at), 0.25e9, 1000);
  EXPECT_TRUE(trace->has_tokens);
}

TEST(ParseTrace, ReadsTheGenericForm) {
  auto trace = parse_trace("t.csv", "t,size\n5,1\n5.5,3\n");
  ASSERT_TRUE(trace);
  EXPECT_EQ(trace->arrivals[1], (Arrival{500'000'000, 3, 1}));
  EXPECT_FALSE(trace->has_tokens);
  EXPECT_NEAR(in_requests_per_s(*mean_rate(std::make_shared<const Trace>(*trace))), 2, 1e-9);
  EXPECT_TRUE(parse_trace("t.csv", "t\n0\n"));
}

// Every way to write times and rates gives the same series, and the drawn requests follow it.
TEST(ParseTrace, DrawsRequestsFromARateOverTime) {
  const std::vector<double> rates{5, 20, 0, 8};
  const char* headers[] = {"timestamp,rps", "Time,Value", "ts,sum(rate(requests_total[5m]))", "date,requests"};
  for (const char* header : headers) {
    const bool counts = std::string_view(header).ends_with(",requests");
    for (const double epoch : {0.0, 1.7e9, 1.7e12}) {
      std::string text = std::string(header) + "\n";
      for (std::size_t i = 0; i < rates.size(); ++i) {
        const double scale = epoch > 1e11 ? 1000 : 1, value = rates[i] * (counts ? 300 : 1);
        text += epoch > 0 ? fmt::format("{},{}\n", epoch + static_cast<double>(i) * 300 * scale, value)
                          : fmt::format("2026-11-10T00:{:02}:00,{}\n", 5 * i, value);
      }
      const auto trace = parse_trace("r.csv", text);
      ASSERT_TRUE(trace) << header << describe(trace.error());
      ASSERT_TRUE(trace->rates);
      EXPECT_NEAR(in_seconds(trace->rates->step), 300, 1e-6);
      ASSERT_EQ(trace->rates->rates.size(), rates.size());
      std::vector<double> drawn(rates.size());
      for (const Arrival& a : trace->arrivals) drawn[static_cast<std::size_t>(a.at / 300'000'000'000)] += 1;
      for (std::size_t i = 0; i < rates.size(); ++i) {
        EXPECT_NEAR(trace->rates->rates[i], rates[i], 1e-9);
        EXPECT_NEAR(drawn[i], rates[i] * 300, 5 * std::sqrt(rates[i] * 300));
      }
      EXPECT_FALSE(trace->has_tokens);
    }
  }
  // A missing sample has the previous value.
  EXPECT_EQ(parse_trace("r.csv", "time,rps\n0,1\n60,2\n180,3\n")->rates->rates, (std::vector<double>{1, 2, 2, 3}));
  for (const char* wrong :
       {"time,rps\n", "time,rps\n0,1\n", "time,rps\n0,1\n0,2\n", "time,rps\n0,1\n9,-2\n", "time,rps\n0,x\n9,2\n",
        "time,rps\n0,1e9\n9,1e9\n", "time,rps\n0,0\n9,0\n", "time,rps\n0,1\n1e-9,1\n99,1\n"})
    EXPECT_FALSE(parse_trace("r.csv", wrong)) << wrong;
}

TEST(ParseTrace, ReadsTimeoutsOfSingleRequests) {
  auto trace = parse_trace("t.csv", "t,size,timeout_ms\n0,1,2.5\n1,1,\n");
  ASSERT_TRUE(trace);
  EXPECT_TRUE(trace->has_timeouts);
  EXPECT_EQ(trace->arrivals[0].timeout_us, 2500);
  EXPECT_EQ(trace->arrivals[1].timeout_us, 0);
  for (const char* bad : {"0", "-1", "soon", "1e9", "nan"}) {
    EXPECT_FALSE(parse_trace("t.csv", std::string("t,timeout_ms\n0,") + bad + "\n")) << bad;
  }
}

TEST(ParseTrace, MistakesAreReportedWithLineAndReason) {
  auto said = [](const std::string& text) {
    auto trace = parse_trace("t.csv", text);
    return trace ? std::string() : describe(trace.error());
  };
  EXPECT_THAT(said("t\n2\n1\n"), HasSubstr("t.csv:3:1: '1' is earlier than the line above"));
  EXPECT_THAT(said("t\n-1\n"), HasSubstr("t.csv:2:1: time -1 is negative"));
  EXPECT_THAT(said("t\nnan\n"), HasSubstr("'nan' is not a time"));
  EXPECT_THAT(said("t,size\n0,0\n"), HasSubstr("must be a whole number of at least 1"));
  EXPECT_THAT(said(""), HasSubstr("empty"));
  EXPECT_THAT(said("t\n"), HasSubstr("empty"));
  EXPECT_THAT(said("when\n1\n"), HasSubstr("no column 't'"));
  EXPECT_THAT(said("TIMESTAMP,ContextTokens,GeneratedTokens\nyesterday,1,1\n"), HasSubstr("'yesterday' is not a time"));
}

// Any usual name of the three columns, with times in seconds or as dates.
TEST(ParseTrace, ReadsColumnsByTheWordsOfTheirNames) {
  for (const char* time : {"time", "t", "Timestamp", "TIMESTAMP", "arrival_time"}) {
    for (const char* in : {"input_tokens", "ContextTokens", "num_prompt_tokens", "Prompt tokens", "input_length"}) {
      for (const char* out : {"output_tokens", "GeneratedTokens", "completion_tokens", "num_decode_tokens"}) {
        for (const bool dates : {false, true}) {
          const auto trace = parse_trace("t.csv", fmt::format("id,{},{},{}\na,{},9\nb,{},7\n", out, time, in,
                                                              dates ? "5,2026-01-31T23:59:59.5Z" : "5,10.5",
                                                              dates ? "6,2026-02-01T00:00:01.5Z" : "6,12.5"));
          ASSERT_TRUE(trace) << time << in << out << describe(trace.error());
          EXPECT_TRUE(trace->has_tokens);
          EXPECT_EQ(trace->arrivals[1], (Arrival{2'000'000'000, 7, 6})) << time << in << out;
        }
      }
    }
  }
}

// A wrong column would cause the same error on every line.
TEST(ParseTrace, ReportsTheFirstMistakeAndTheNumberOfOthers) {
  std::string text = "t,size\n";
  for (int i = 0; i < 3000; ++i) text += "yesterday,1\n";
  const auto trace = parse_trace("t.csv", text);
  ASSERT_FALSE(trace);
  ASSERT_EQ(trace.error().size(), 1u);
  EXPECT_THAT(describe(trace.error()), HasSubstr("t.csv:2:1"));
  EXPECT_THAT(describe(trace.error()), HasSubstr("(and 2,999 more)"));
}

TEST(Trace, ReadsTheFormatsOfPublishedTracesAndLoadGenerators) {
  // BurstGPT: a response of 0 tokens is a request that failed.
  const auto burst = parse_trace("burst.csv",
                                 "Timestamp,Model,Request tokens,Response tokens,Total tokens,Log Type\n"
                                 "5,ChatGPT,472,18,490,Conversation log\n"
                                 "45,ChatGPT,1087,0,1087,Conversation log\n"
                                 "118,GPT-4,417,276,693,API log\n");
  const auto aiperf = parse_trace(
      "profile_export.jsonl",
      R"({"metadata":{"request_start_ns":1759813320000000000,"benchmark_phase":"profiling","was_cancelled":false},"metrics":{"input_sequence_length":{"value":417,"unit":"tokens"},"output_sequence_length":{"value":276,"unit":"tokens"}},"error":null}
{"metadata":{"request_start_ns":1759813207000000000,"benchmark_phase":"profiling","was_cancelled":false},"metrics":{"input_sequence_length":{"value":472,"unit":"tokens"},"output_sequence_length":{"value":18,"unit":"tokens"}},"error":null}
{"metadata":{"request_start_ns":1759813208000000000,"benchmark_phase":"warmup"},"metrics":{"input_sequence_length":{"value":9,"unit":"tokens"}}}
{"metadata":{"request_start_ns":1759813209000000000},"metrics":{},"error":{"code":500}}
)");
  const auto guidellm = parse_trace("benchmarks.json",
                                    R"({"metadata":{},"benchmarks":[{"config":{},"requests":{"successful":[
        {"start_time":1759813207.0,"prompt_tokens":472,"output_tokens":18},
        {"start_time":1759813320.0,"prompt_tokens":417,"output_tokens":276}],"errored":[{"start_time":1}]}}]})");
  for (const auto* trace : {&burst, &aiperf, &guidellm}) {
    ASSERT_TRUE(*trace) << describe(trace->error());
    ASSERT_EQ((*trace)->arrivals.size(), 2u);
    EXPECT_TRUE((*trace)->has_tokens);
    EXPECT_EQ((*trace)->arrivals[0].size, 472);
    EXPECT_EQ((*trace)->arrivals[1].output, 276);
    EXPECT_NEAR(in_seconds(from_sim_time((*trace)->arrivals[1].at)), 113, 1e-3);
  }
}

// A file is read in parts, a text at once; line numbers in errors count from the beginning of the file.
TEST(Trace, AFileGivesTheSameRequestsAsItsText) {
  std::string text = "t,size,output\n";
  for (int i = 0; i < 400'000; ++i)
    text += fmt::format("{}.{:03},{},{}\n", i / 50, i % 1000 / 20 * 20, i % 4000 + 1, i % 600 + 1);
  const std::string path = testing::TempDir() + "trace_file.csv";
  for (const bool broken : {false, true}) {
    if (broken) text += "later,1,1\n";
    std::ofstream(path) << text;
    const Checked<Trace> from_file = read_trace_file(path), from_text = parse_trace(path, text);
    ASSERT_EQ(from_file.has_value(), !broken);
    ASSERT_EQ(from_text.has_value(), !broken);
    if (broken) {
      EXPECT_EQ(from_file.error().front().place.line, 400'002);
      EXPECT_EQ(describe(from_file.error()), describe(from_text.error()));
    } else {
      EXPECT_TRUE(from_file->arrivals == from_text->arrivals);
    }
  }
}

// The names differ by tool; the meaning does not.
TEST(Trace, UsageExportsAreRatesWithMeanLengths) {
  const char* exports[] = {
      "start_time,end_time,start_time_iso,model,num_model_requests,input_tokens,output_tokens,input_cached_tokens\n"
      "1759276800,1759280400,2025-10-01T00:00:00+00:00,a,3600,3600000,720000,0\n"
      "1759280400,1759284000,2025-10-01T01:00:00+00:00,a,3600,3600000,720000,0\n"
      "1759280400,1759284000,2025-10-01T01:00:00+00:00,b,3600,10800000,720000,9\n",
      "date,api_requests,prompt_tokens,completion_tokens\n"
      "2025-10-01,86400,86400000,17280000\n2025-10-02,172800,345600000,34560000\n",
      "Date,Model,Requests,Tokens,Prompt Tokens,Completion Tokens\n"
      "2025-10-01T00:00:00Z,m,3600,4320000,3600000,720000\n2025-10-01T01:00:00Z,m,7200,15840000,14400000,1440000\n",
  };
  for (const char* text : exports) {
    const auto trace = parse_trace("usage.csv", text);
    ASSERT_TRUE(trace) << describe(trace.error());
    ASSERT_TRUE(trace->rates);
    EXPECT_THAT(trace->rates->rates, testing::ElementsAre(testing::DoubleEq(1), testing::DoubleEq(2))) << text;
    EXPECT_TRUE(trace->has_tokens);
    EXPECT_EQ(trace->arrivals.front().size, 1000);
    EXPECT_EQ(trace->arrivals.back().size, 2000);
    EXPECT_EQ(trace->arrivals.back().output, 200);
  }
  EXPECT_FALSE(parse_trace("u.csv", "date,requests,prompt_tokens,completion_tokens\n2025-10-01,1,1,1\n"));
  EXPECT_FALSE(parse_trace("u.csv", "date,requests,prompt_tokens,completion_tokens\n2025-10-01,1,1,1\nx,1,1,1\n"));
}

TEST(Trace, LargeTablesAreReadInParts) {
  std::string text = "t,size,output\n";
  constexpr int kRows = 400'000;
  for (int i = 0; i < kRows; ++i) text += fmt::format("{},{},{}\n", i, 1 + i % 1000, 1 + i % 7);
  const auto trace = parse_trace("long.csv", text);
  ASSERT_TRUE(trace);
  ASSERT_EQ(trace->arrivals.size(), static_cast<std::size_t>(kRows));
  EXPECT_EQ(trace->arrivals.back().size, 1 + (kRows - 1) % 1000);
  const auto wrong = parse_trace("long.csv", text + "0,1,1\n");
  ASSERT_FALSE(wrong);
  EXPECT_EQ(wrong.error().front().place.line, kRows + 2);
}

}  // namespace
}  // namespace rightsize::sim
