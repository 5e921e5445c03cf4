// Compares simulations of replicas, with steps fitted to the speed model, with the speed model's own formulas.
#include "capacity/replica.h"

#include <cmath>

#include <gtest/gtest.h>

#include "capacity/planner.h"
#include "capacity/screen.h"
#include "catalog/test_catalog.h"
#include "perf/stacks/engine_step.h"
#include "perf/test_constants.h"
#include "presets/presets.h"

namespace rightsize::capacity {
namespace {

struct Case {
  const char* model;
  const char* gpu;
  int tensor;
  model::Stack stack;
  std::int64_t isl, osl;
};
const Case kCases[] = {{"llama-3.1-8b", "h100-sxm", 1, model::Stack::kVllm, 1024, 256},
                       {"llama-3.1-8b", "h200-sxm", 1, model::Stack::kTrtLlm, 512, 600},
                       {"llama-3.1-70b", "h100-sxm", 4, model::Stack::kVllm, 2048, 256},
                       {"mixtral-8x7b", "h100-sxm", 2, model::Stack::kVllm, 512, 256},
                       {"qwen2.5-1.5b", "l4", 1, model::Stack::kVllm, 512, 128}};

struct Fitted {
  model::ModelShape shape;
  model::Job job;
  perf::ModelWork work;
  perf::GpuSpeed speed;
  perf::Cluster cluster;
  const catalog::Gpu& gpu;
  Replica replica;

  explicit Fitted(const Case& c) : shape(*model::find_model(c.model)), gpu(**built_in_catalog().find_gpu(c.gpu)) {
    job.kind = model::JobKind::kServe;
    job.stack = c.stack;
    job.parallel.gpus = job.parallel.tensor = c.tensor;
    job.serve.isl = c.isl, job.serve.osl = c.osl;
    work = perf::work_of(shape);
    speed = perf::gpu_speed(built_in_constants(), gpu);
    cluster = perf::default_cluster(gpu);
    const auto made = token_replica({built_in_constants(), shape, work}, job, gpu, speed, cluster);
    EXPECT_TRUE(made) << c.model;
    if (made) replica = *made;
  }
};

TEST(StepFit, FitIsCloseToTheStepsItReplaces) {
  for (const Case& c : kCases) {
    const Fitted f(c);
    EXPECT_GT(in_seconds(f.replica.fit->base), 0) << c.model;
    EXPECT_GE(in_seconds(f.replica.fit->sequence), 0) << c.model;
    EXPECT_GE(in_seconds(f.replica.fit->context_token), 0) << c.model;
    EXPECT_GT(in_seconds(f.replica.fit->prompt_token), 0) << c.model;
    EXPECT_LT(f.replica.fit->worst_step_error, 0.15) << c.model << " on " << c.gpu;
    RecordProperty(std::string(c.model) + "_" + c.gpu, std::to_string(f.replica.fit->worst_step_error));
  }
}

// Open loop, from one request at a time to 40 % of capacity: the simulated means are inside the speed model's interval,
// or 5 % below it (in the formula the prompts of a burst wait for each other, while the simulated engine processes them
// in one step). At about one request in flight on average, the formula uses the step of one request, while in the
// simulation requests often overlap. A mixture, which reads twice the experts for two requests, then differs more.
TEST(StepFit, SimulationAgreesWithTheFormulas) {
  for (const Case& c : kCases) {
    const Fitted f(c);
    const sim::RequestShape lengths{static_cast<double>(c.isl) * 0.95, static_cast<double>(c.osl) * 0.95, false};
    const double most = in_requests_per_s(sim::capacity({{f.replica.step}, {}}, lengths));
    for (double share : {0.002, 0.2, 0.4}) {
      Service service;
      service.arrivals = sim::Poisson{requests_per_s(share * most)};
      service.lengths = lengths;
      const auto formula = perf::estimate_serving(built_in_constants(), f.work, f.job, f.speed, f.cluster,
                                                  load_of(f.shape, f.job, f.gpu, requests_per_s(share * most)));
      ASSERT_TRUE(formula) << c.model;
      Configuration one;
      one.groups = {{0, 1}};
      const auto run = Planner(service, {f.replica}).assess(one, {4'000, 1});
      ASSERT_TRUE(run) << c.model;
      const double ttft = run->value(Quantity::kTtft, Statistic::kMean) / formula->ttft;
      const double tpot = run->value(Quantity::kTpot, Statistic::kMean) / formula->tpot;
      const std::string what = std::string(c.model) + " on " + c.gpu + " at " + std::to_string(share);
      EXPECT_GT(ttft, formula->ttft_interval.low * 0.85) << what;
      EXPECT_LT(ttft, formula->ttft_interval.high) << what;
      EXPECT_GT(tpot, formula->tpot_interval.low) << what;
      EXPECT_LT(tpot, formula->tpot_interval.high) << what;
    }
  }
}

// The step of a service is fitted at its mean length, but the tail of TTFT comes from prompts several times as long.
TEST(StepFit, LongPromptsMatchTheFormulas) {
  for (const Case& c : kCases) {
    const Fitted f(c);
    for (std::int64_t times : {2, 4, 8}) {
      Case longer = c;
      longer.isl *= times;
      const Fitted own(longer);
      const double prompt = 0.95 * static_cast<double>(longer.isl);
      const auto ttft = [&](const sim::StepCost& step) { return step.request + step.base + step.prompts(prompt); };
      const double ratio = ttft(f.replica.step) / ttft(own.replica.step);
      EXPECT_GT(ratio, 0.85) << c.model << " on " << c.gpu << ", " << times << " times the mean";
      EXPECT_LT(ratio, 1.2) << c.model << " on " << c.gpu << ", " << times << " times the mean";
    }
  }
}

// A single request on separate workers takes the time of the formulas in `estimate --disaggregated`.
TEST(SeparateWorkers, OneRequestMatchesTheFormulas) {
  Fitted f({"llama-3.1-70b", "h100-sxm", 4, model::Stack::kVllm, 2048, 256});
  f.job.serve.disaggregated = model::Disaggregated{2, 2, 1, 4};
  f.job.parallel.gpus = 8;
  const Result<Replica> made = token_replica({built_in_constants(), f.shape, f.work}, f.job, f.gpu, f.speed, f.cluster);
  ASSERT_TRUE(made) << made.error().message;
  EXPECT_EQ(made->gpus, 8);
  Service service;
  service.arrivals = sim::Poisson{requests_per_s(0.02)};
  service.lengths = {2048, 256, false};
  const Planner planner(service, {*made});
  Configuration c;
  c.groups = {{0, 1}};
  const auto found = planner.assess(c, {400, 1});
  ASSERT_TRUE(found);
  f.job.serve.concurrency = 1;
  const auto formulas =
      perf::estimate_serving(built_in_constants(), f.work, f.job, f.speed, f.cluster, load_of(f.shape, f.job, f.gpu));
  ASSERT_TRUE(formulas);
  EXPECT_NEAR(found->value(Quantity::kTpot, Statistic::kMean) / formulas->tpot, 1, 0.1);
  EXPECT_NEAR(found->value(Quantity::kTtft, Statistic::kMean) / formulas->ttft, 1, 0.25);
  EXPECT_GE(found->value(Quantity::kTtft, Statistic::kMean),
            unloaded(service, *made, {Quantity::kTtft, Statistic::kMean, {}}));
}

// Two pools carry the load that the screen predicts, and its means are near the simulated ones.
TEST(SeparateWorkers, TheScreenIsNearTheSimulation) {
  Fitted f({"llama-3.1-8b", "h100-sxm", 1, model::Stack::kVllm, 2048, 256});
  f.job.serve.disaggregated = model::Disaggregated{2, 1, 2, 1};
  f.job.parallel.gpus = 4;
  const Result<Replica> made = token_replica({built_in_constants(), f.shape, f.work}, f.job, f.gpu, f.speed, f.cluster);
  ASSERT_TRUE(made);
  Service service;
  service.lengths = {2048, 256, false};
  service.slos = {{Quantity::kTpot, Statistic::kMean, milliseconds(20)}};
  const double rate = screened_rate(service, *made);
  ASSERT_GT(rate, 0);
  service.arrivals = sim::Poisson{requests_per_s(0.8 * rate)};
  Configuration c;
  c.groups = {{0, 1}};
  const auto found = Planner(service, {*made}).assess(c, {8000, 1});
  ASSERT_TRUE(found);
  EXPECT_LE(found->value(Quantity::kTpot, Statistic::kMean), milliseconds(20) * 1.05);
  EXPECT_NEAR(found->value(Quantity::kLatency, Statistic::kMean) / screened_latency(service, *made, 0.8 * rate), 1,
              0.2);
}

}  // namespace
}  // namespace rightsize::capacity
