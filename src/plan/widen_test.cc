// Our default limits never hide a plan, and owned machines and switched-off hours are accounted for.
#include "plan/widen.h"

#include <cmath>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "plan/hardware.h"
#include "plan/test_requests.h"

namespace rightsize::plan {
namespace {

using testing::HasSubstr;

Recommendation widely(Request& request) { return recommend_widely(request, built_in_prices(), built_in_constants()); }

// A plan that is possible within a user's limit is also possible without it, and costs at most 10 % more.
RC_GTEST_PROP(Widen, OurLimitHidesNoPlan, ()) {
  const int days = *rc::gen::inRange(2, 40);
  const double tokens = std::pow(10, *rc::gen::inRange(95, 130) / 10.0);
  const Given given = {
      {"model", *rc::gen::element<std::string>("llama-3.1-8b", "qwen2.5-32b", "llama-3.1-70b")},
      {"tokens", std::to_string(std::llround(tokens))},
      {"gpu", *rc::gen::element<std::string>("h100-sxm,b200-sxm", "h200-sxm", "a100-80gb-sxm,h100-sxm")},
      {"deadline", std::to_string(days) + "d"}};
  Given with_limit = given;
  with_limit.emplace_back("max-gpus", *rc::gen::element<std::string>("64", "256", "2048"));
  Request open = request_of(given), limited = request_of(with_limit);
  limited.plans_only = true, open.plans_only = true;
  const Recommendation found = widely(open), within = widely(limited);
  RC_ASSERT(limited.limits.max_gpus == std::stoi(with_limit.back().second));
  if (within.best() == nullptr) return;
  RC_ASSERT(found.best() != nullptr);
  RC_ASSERT(open.limits.max_gpus >= found.best()->gpus);
  if (within.best()->gpus <= open.limits.max_gpus) RC_ASSERT(found.best()->cost <= within.best()->cost * 1.1);
}

TEST(Widen, ThousandsOfGpusMeetTheDeadlineOfALargeRun) {
  Request request = request_of({{"model", "llama-3.1-405b"}, {"tokens", "15T"}, {"deadline", "60d"}});
  request.plans_only = true;
  const Recommendation found = widely(request);
  ASSERT_NE(found.best(), nullptr);
  EXPECT_LE(found.best()->elapsed(), days(60));
  EXPECT_GT(found.best()->gpus, 1000);
  EXPECT_GE(request.limits.max_gpus, found.best()->gpus);
  // Every replica gets a sample in each step.
  const model::Job& job = found.best()->job;
  EXPECT_LE(job.batch * job.parallel.data() * job.train.accumulation, request.global_batch);
}

// A larger limit only adds numbers of machines, no gap exceeds one eighth, and machines with more GPUs are left out.
RC_GTEST_PROP(MachineCounts, SparseNumbersAreNested, ()) {
  MachineClass machines;
  machines.networked = true;
  machines.gpus = *rc::gen::element(1, 2, 4, 8);
  PlanLimits limits;
  limits.max_gpus = *rc::gen::inRange(1, 65'536);
  const bool together = *rc::gen::arbitrary<bool>();
  const std::vector<int> all = machine_counts(machines, limits, together, true);
  RC_ASSERT(all.empty() == (machines.gpus > limits.max_gpus));
  for (const int count : all) RC_ASSERT(count * machines.gpus <= limits.max_gpus);
  if (all.empty() || !together) return;
  RC_ASSERT(all.front() == 1);
  for (std::size_t i = 1; i < all.size(); ++i) {
    RC_ASSERT(all[i] > all[i - 1]);
    RC_ASSERT(all[i] - all[i - 1] <= std::max(1, all[i - 1] / 8));
  }
  limits.max_gpus *= 2;
  const std::vector<int> more = machine_counts(machines, limits, true, true);
  RC_ASSERT(std::includes(more.begin(), more.end(), all.begin(), all.end()));
}

TEST(OwnMachines, AMixedFleetIsAListAndEachKindIsAPlan) {
  const Request request = request_of({{"model", "llama-3.1-8b"},
                                      {"tokens", "1B"},
                                      {"on-prem", "4xl40s=60000USD, 8xa100-80gb-sxm"},
                                      {"on-prem-machines", "2,3"}});
  ASSERT_EQ(request.own.size(), 2U);
  EXPECT_EQ(request.own[0].gpu, "l40s");
  EXPECT_EQ(request.own[0].machines, 2);
  EXPECT_EQ(request.own[1].gpus, 8);
  EXPECT_EQ(request.own[1].machines, 3);
  EXPECT_EQ(request.own[1].price, usd(0));
  EXPECT_FALSE(
      read_given({{"model", "llama-3.1-8b"}, {"tokens", "1B"}, {"on-prem", "4xl40s"}, {"on-prem-machines", "2,3"}}));
}

// Machines that are too small are named, with the reason and the setting that helps.
TEST(OwnMachines, RejectedOnesAreNamedWithWhatWouldHelp) {
  catalog::Catalog catalog = built_in_catalog();
  Request request = request_of({{"model", "qwen2.5-32b"},
                                {"rate", "3/s"},
                                {"isl", "2000"},
                                {"osl", "400"},
                                {"ttft-slo", "2s"},
                                {"tpot-slo", "60ms"},
                                {"on-prem", "4xl40s=60000USD"},
                                {"on-prem-machines", "2"}});
  ASSERT_TRUE(market::add_own_hardware(catalog, request.own));
  const market::PriceBook book(catalog);
  const Recommendation found = recommend_widely(request, book, built_in_constants());
  ASSERT_TRUE(found.unused_own);
  EXPECT_FALSE(found.unused_own->plan);
  ASSERT_TRUE(found.unused_own->change);
  EXPECT_EQ(found.unused_own->change->plan.offer.machine->provider, market::kOwn);
  EXPECT_THAT(found.unused_own->change->flags, HasSubstr("--precision"));
}

// A job that runs half of the day takes twice as long and costs the same.
TEST(HoursPerDay, JobsTakeLongerAndCostTheSame) {
  const Given given = {{"model", "llama-3.1-8b"}, {"tokens", "1B"}, {"gpu", "h100-sxm"}};
  Given part = given;
  part.emplace_back("hours-per-day", "12");
  Request all_day = request_of(given), half = request_of(part);
  all_day.plans_only = half.plans_only = true;
  const Recommendation a = widely(all_day), b = widely(half);
  EXPECT_EQ(half.work.kind, WorkKind::kTraining);
  EXPECT_NEAR(in_hours(b.best()->elapsed()), 2 * in_hours(a.best()->elapsed()), 1e-6);
  EXPECT_EQ(a.best()->cost, b.best()->cost);
  part.emplace_back("deadline", fmt::format("{:g}h", 1.5 * in_hours(a.best()->elapsed())));
  Request hurried = request_of(part);
  hurried.plans_only = true;
  const Recommendation c = widely(hurried);
  ASSERT_NE(c.best(), nullptr);
  EXPECT_LE(c.best()->elapsed(), *hurried.limits.deadline);
}

// Cost, budget and cost per token are for machines that follow the hours; committed machines are paid all the time.
RC_GTEST_PROP(HoursPerDay, ServicesCostWhatTheirMachinesRun, ()) {
  const int hours = *rc::gen::inRange(1, 24);
  const Given given = {{"model", "llama-3.1-8b"},
                       {"rate", *rc::gen::element<std::string>("2/s", "11/s")},
                       {"hours-per-day", std::to_string(hours)},
                       {"gpu", "l40s,h100-sxm"}};
  Request request = request_of(given);
  request.plans_only = true;
  const Recommendation found = widely(request);
  RC_ASSERT(found.best() != nullptr);
  for (const Plan& plan : found.plans) {
    RC_ASSERT(plan.machines_by_hour.size() == 24U);
    const double share = hours / 24.0;
    RC_ASSERT(std::abs(plan.cost / (plan.rate() * kMonth) - share) < 1e-9);
    const double tokens = plan.units_per_second * share * in_seconds(kMonth);
    RC_ASSERT(std::abs(plan.usd_per_million_units() * tokens / 1e6 / in_usd(plan.cost) - 1) < 1e-9);
  }
  request.limits.budget = found.best()->cost * 1.001;
  RC_ASSERT(widely(request).best() != nullptr);
}

// A query waits for all of its documents.
TEST(Rerank, MoreDocumentsTakeLongerThanOneAndAtLeastOneBatchOfThem) {
  const auto of = [](const char* documents) {
    Request request = request_of({{"model", "bge-m3"},
                                  {"job", "serve"},
                                  {"rate", "5/s"},
                                  {"isl", "400"},
                                  {"docs-per-query", documents},
                                  {"gpu", "l40s"},
                                  {"ttft-slo", "2s"}});
    request.plans_only = true;
    const Recommendation found = widely(request);
    EXPECT_NE(found.best(), nullptr);
    return *found.best();
  };
  const Plan one = of("1"), fifty = of("50"), more = of("200");
  EXPECT_GT(fifty.ttft, one.ttft * 3.0);
  EXPECT_GT(more.ttft, fifty.ttft * 2.0);
  EXPECT_GE(more.cost, one.cost);
  const perf::ModelWork work =
      perf::work_of(request_of({{"model", "bge-m3"}, {"job", "serve"}, {"rate", "1/s"}, {"isl", "400"}}).model);
  model::Job job = fifty.job;
  job.batch = 50;
  const auto pass =
      perf::estimate_batch(built_in_constants(), work, job, perf::gpu_speed(built_in_constants(), *fifty.offer.gpu));
  EXPECT_GE(fifty.ttft, pass->batch * 0.99);
}

// The tokens of images are the same in every prompt.
TEST(Lengths, OnlyTextVaries) {
  const Request with = request_of(
      {{"model", "qwen2.5-vl-7b"}, {"rate", "4/s"}, {"isl", "300"}, {"images", "2"}, {"resolution", "1024x768"}});
  const Request without = request_of({{"model", "qwen2.5-vl-7b"}, {"rate", "4/s"}, {"isl", "300"}});
  const double images = static_cast<double>(with.job.image.tokens);
  ASSERT_GT(images, 1000);
  const double text = request_lengths(without).size_at(sim::Statistic::kP95);
  EXPECT_NEAR(request_lengths(with).size_at(sim::Statistic::kP95), images + text, 0.02 * (images + text));
}

TEST(MaxModelLen, CutsLengthsAndKeepsTheMean) {
  const Given given = {{"model", "llama-3.1-8b"}, {"rate", "4/s"}, {"isl", "1000"}, {"osl", "200"}};
  Given cut = given;
  cut.emplace_back("max-model-len", "4096");
  const Request free = request_of(given), limited = request_of(cut);
  EXPECT_EQ(limited.job.serve.isl, free.job.serve.isl);
  EXPECT_EQ(request_lengths(limited).longest, 4096);
  EXPECT_LE(request_lengths(limited).longest_size(), 4096);
  cut.back().second = "1000";
  EXPECT_FALSE(read_given(cut));
  cut.back().second = "1M";
  EXPECT_FALSE(read_given(cut));
}

}  // namespace
}  // namespace rightsize::plan
