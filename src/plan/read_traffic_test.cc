#include <algorithm>
#include <fstream>
#include <numeric>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "plan/read_parts.h"
#include "plan/search_serving.h"
#include "plan/test_requests.h"

namespace rightsize::plan {
namespace {

using ::testing::HasSubstr;

std::string file_of(const std::string& name, const std::string& text) {
  std::string file = ::testing::TempDir() + name;
  std::ofstream(file) << text;
  return file;
}

std::string day(double night, double noon) {
  std::string text = "hour,rate\n";
  for (int h = 0; h < 24; ++h) text += std::to_string(h) + "," + std::to_string(h >= 8 && h < 20 ? noon : night) + "\n";
  return text;
}

TEST(Lengths, AMeanVariesAsUsualByDefault) {
  const auto varied = read_given({{"model", "llama-3.2-1b"}, {"job", "serve"}, {"isl", "1024"}, {"osl", "200,fixed"}});
  ASSERT_TRUE(varied) << describe(varied.error());
  EXPECT_EQ(varied->job.serve.isl, 1024);
  EXPECT_EQ(varied->work.isl_variation, capacity::usual_variation().prompt);
  EXPECT_EQ(varied->work.osl_variation, 0);
  EXPECT_TRUE(varied->work.isl_varies_as_usual);
  EXPECT_FALSE(varied->work.osl_varies_as_usual);
  const auto said =
      read_given({{"model", "llama-3.2-1b"}, {"job", "serve"}, {"isl", "1k,p95=8k"}, {"osl", "200,fixed"}});
  ASSERT_TRUE(said);
  EXPECT_FALSE(said->work.isl_varies_as_usual);
  EXPECT_NEAR(request_lengths(*said).size_at(sim::Statistic::kP95), 8000, 30);
}

// Engines refuse requests beyond the context: a trace is planned without them, unless most of it is gone then.
TEST(Lengths, RequestsOfATraceBeyondTheContextAreLeftOut) {
  for (const int beyond : {0, 1, 7, 50, 51, 100}) {
    std::string text = "t,input_tokens,output_tokens\n";
    for (int i = 0; i < 100; ++i) text += fmt::format("{},{},20\n", i, (i * 37) % 100 < beyond ? 5000 : 100);
    const auto read = read_given({{"model", "llama-2-7b"}, {"job", "serve"}, {"trace", file_of("beyond.csv", text)}});
    ASSERT_EQ(read.has_value(), beyond <= 50) << beyond;
    if (!read) continue;
    EXPECT_EQ(read->work.trace->arrivals.size(), static_cast<std::size_t>(100 - beyond));
    EXPECT_EQ(read->job.serve.isl, 100) << "the mean of those that are served";
    const bool stated = std::ranges::any_of(read->assumed, [&](const std::string& text_of) {
      return text_of.starts_with(fmt::format("{} of 100 requests of the trace ({} %)", beyond, beyond));
    });
    EXPECT_EQ(stated, beyond > 0) << beyond;
  }
}

TEST(Lengths, ErrorsShowACorrectValue) {
  const auto mistake = read_given({{"model", "llama-3.2-1b"}, {"job", "serve"}, {"isl", "1k,p96=8k"}});
  ASSERT_FALSE(mistake);
  EXPECT_THAT(describe(mistake.error()), HasSubstr("1k,p95=8k"));
  EXPECT_FALSE(read_given({{"model", "llama-3.2-1b"}, {"job", "serve"}, {"isl", "1k,p95"}}));
  EXPECT_FALSE(read_given({{"model", "llama-3.2-1b"}, {"job", "serve"}, {"isl", "1k,p95=8k"}, {"mix", "10:10=1"}}));
  EXPECT_FALSE(read_given({{"model", "llama-3.2-1b"}, {"job", "serve"}, {"isl", "1k"}, {"mix", "10:10=1"}}));
}

// Longer tails never cost less.
TEST(Lengths, VaryingLengthsCostNoLessThanFixedLengths) {
  const auto cost = [&](const char* isl) {
    const Checked<Request> request = read_given({{"model", "llama-3.1-8b"},
                                                 {"job", "serve"},
                                                 {"rate", "10/s"},
                                                 {"isl", isl},
                                                 {"osl", "200"},
                                                 {"ttft-slo", "2s"},
                                                 {"gpu", "l40s,h100-sxm"},
                                                 {"top", "1"}});
    return in_usd(recommend(*request, built_in_prices(), built_in_constants()).plans.at(0).cost);
  };
  EXPECT_LE(cost("1k,fixed"), cost("1k"));
  EXPECT_LE(cost("1k"), cost("1k,p95=8k"));
}

TEST(RateProfile, ErrorsHaveAPlace) {
  const auto rates = read_rate_profile(file_of("day.csv", day(1, 10)));
  ASSERT_TRUE(rates);
  EXPECT_EQ(rates->size(), 24u);
  EXPECT_EQ((*rates)[12], 10);
  EXPECT_FALSE(read_rate_profile(file_of("short.csv", "hour,rate\n0,1\n1,2\n")));
  const auto skipped = read_rate_profile(file_of("skipped.csv", "hour,rate\n0,1\n2,2\n"));
  ASSERT_FALSE(skipped);
  EXPECT_THAT(describe(skipped.error()), HasSubstr("count up from 0"));
}

// Sized for noon; nights take fewer machines, and never more than noon.
TEST(RateProfile, NightsTakeFewerMachines) {
  const Checked<Request> request = read_given({{"model", "llama-3.1-8b"},
                                               {"job", "serve"},
                                               {"rate-profile", file_of("day.csv", day(2, 200))},
                                               {"max-gpus", "256"},
                                               {"ttft-slo", "1s"},
                                               {"gpu", "l40s"},
                                               {"top", "1"}});
  ASSERT_TRUE(request) << describe(request.error());
  const Recommendation found = recommend(*request, built_in_prices(), built_in_constants());
  ASSERT_FALSE(found.plans.empty());
  const Plan& plan = found.plans.front();
  ASSERT_EQ(plan.machines_by_hour.size(), 24u);
  EXPECT_EQ(plan.machines_by_hour[12], plan.machines);
  EXPECT_LT(plan.machines_by_hour[0], plan.machines);
  EXPECT_GE(plan.machines_by_hour[0] * plan.replicas / plan.machines, 2) << "one replica to spare at night, too";
}

// The plan of a full day, with machines in the hours with requests only.
TEST(HoursPerDay, NoMachinesRunInHoursWithoutRequests) {
  for (const int hours : {1, 9, 23}) {
    const Checked<Request> request = read_given({{"model", "llama-3.1-8b"},
                                                 {"job", "serve"},
                                                 {"rate", "20"},
                                                 {"hours-per-day", std::to_string(hours)},
                                                 {"gpu", "l40s"},
                                                 {"top", "1"}});
    ASSERT_TRUE(request) << describe(request.error());
    const Plan plan = recommend(*request, built_in_prices(), built_in_constants()).plans.at(0);
    EXPECT_EQ(std::count(plan.machines_by_hour.begin(), plan.machines_by_hour.end(), plan.machines), hours);
    EXPECT_EQ(std::count(plan.machines_by_hour.begin(), plan.machines_by_hour.end(), 0), 24 - hours);
  }
}

// A rate per day is the traffic of the whole day, however few its hours are.
TEST(HoursPerDay, ARatePerDayIsTheTrafficOfTheDay) {
  for (const int hours : {1, 6, 12, 23, 24}) {
    const Given given = {{"model", "llama-3.1-8b"}, {"job", "serve"}, {"hours-per-day", std::to_string(hours)}};
    for (const auto& [rate, per_day] : std::map<std::string, double>{{"8640/d", 8640}, {"0.1/s", 360.0 * hours}}) {
      Given one = given;
      one.emplace_back("rate", rate);
      EXPECT_NEAR(in_requests_per_s(request_of(one).work.rate) * 3600 * hours, per_day, 1e-6) << rate << " " << hours;
    }
  }
}

// Long requests that are one in twenty meet the limit on their own, not only averaged with the short ones.
TEST(Mix, EveryKindMeetsItsLimits) {
  const Checked<Request> request = read_given({{"model", "llama-3.1-8b"},
                                               {"job", "serve"},
                                               {"rate", "10/s"},
                                               {"mix", "256:100=0.96,8000:100=0.04"},
                                               {"ttft-slo", "2s"},
                                               {"gpu", "l40s,h100-sxm"},
                                               {"top", "2"}});
  const Recommendation found = recommend(*request, built_in_prices(), built_in_constants());
  ASSERT_FALSE(found.plans.empty());
  const perf::ModelWork work = perf::work_of(request->model);
  for (const Plan& p : found.plans) {
    const capacity::Service service = service_of(*request, work, 10);
    model::Job job = request->job;
    job.precision = p.job.precision;
    job.parallel.gpus = job.parallel.tensor = p.job.parallel.tensor;
    const capacity::Planner planner(
        service, {*capacity::token_replica({built_in_constants(), request->model, work}, job, *p.offer.gpu,
                                           perf::gpu_speed(built_in_constants(), *p.offer.gpu),
                                           perf::cluster_of(*p.offer.machine, *p.offer.gpu))});
    capacity::Configuration c;
    c.groups = {{0, p.replicas}};
    c.engine.max_sequences = p.sequences;
    c.engine.token_budget = p.token_budget;
    const auto again = planner.assess(c, {20'000, 5});
    ASSERT_TRUE(again);
    ASSERT_EQ(again->profile.kinds.size(), 2u);
    for (const auto& kind : again->profile.kinds)
      EXPECT_LE(sim::value_of(kind.ttft, request->limits.slo_percentile) * 1e-9, 2 * 1.15);
    EXPECT_GT(sim::value_of(again->profile.kinds[1].ttft, sim::Statistic::kP50),
              sim::value_of(again->profile.kinds[0].ttft, sim::Statistic::kP50));
  }
}

// Engines of models that generate text take each document as a request, so no latency of a query is known.
TEST(ReadTraffic, SeveralDocumentsPerQueryNeedAModelThatReadsBatches) {
  for (const auto& [model, applies] : {std::pair{"bge-m3", true}, {"llama-3.1-8b", false}, {"qwen3-8b", false}}) {
    Given given = {{"model", model}, {"job", "serve"}, {"rate", "2/s"}, {"docs-per-query", "40"}};
    const auto read = read_given(given);
    EXPECT_EQ(read.has_value(), applies) << model;
    given.back().second = "1";
    EXPECT_TRUE(read_given(given)) << model;
  }
}

// TPOT counts the tokens after the first, so a limit on it is refused where there are none, and only there.
TEST(ReadLimits, TpotNeedsASecondToken) {
  for (const auto& [model, lengths, value, applies] : {std::tuple{"llama-3.1-8b", "osl", "1", false},
                                                       {"llama-3.1-8b", "osl", "1,fixed", false},
                                                       {"llama-3.1-8b", "osl", "2", true},
                                                       {"llama-3.1-8b", "mix", "1000:1=1", false},
                                                       {"llama-3.1-8b", "mix", "1000:1=1,200:1=2", false},
                                                       {"llama-3.1-8b", "mix", "1000:1=1,200:9=2", true},
                                                       {"bge-m3", "", "", false},
                                                       {"sdxl", "", "", false}}) {
    Given given = {{"model", model}, {"job", "serve"}, {"rate", "2/s"}, {"tpot-slo", "30ms"}};
    if (*lengths != '\0') given.emplace_back(lengths, value);
    const auto read = read_given(given);
    EXPECT_EQ(read.has_value(), applies) << model << " " << value;
    given.erase(given.begin() + 3);
    EXPECT_TRUE(read_given(given)) << model << " " << value;
  }
}

}  // namespace
}  // namespace rightsize::plan
