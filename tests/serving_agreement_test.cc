// The simulator of continuous batching, fed with steps fitted to the speed model, against the speed model's own
// formulas.
#include <cmath>

#include <gtest/gtest.h>

#include "model/presets.h"
#include "perf/perf.h"
#include "sim/continuous_batching.h"

namespace rightsize {
namespace {

const perf::Constants& constants() {
  static const perf::Constants kConstants = *perf::load_constants("");
  return kConstants;
}
const catalog::Catalog& facts() {
  static const catalog::Catalog kCatalog = *catalog::load_catalog("");
  return kCatalog;
}

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
  perf::ServeLoad load;
  perf::StepFit fit;

  explicit Fitted(const Case& c) : shape(*model::find_model(c.model)) {
    const catalog::Gpu& gpu = **facts().find_gpu(c.gpu);
    job.kind = model::JobKind::kServe;
    job.stack = c.stack;
    job.parallel.gpus = job.parallel.tensor = c.tensor;
    job.serve.isl = c.isl, job.serve.osl = c.osl;
    work = perf::work_of(shape);
    speed = perf::gpu_speed(constants(), gpu);
    cluster = perf::default_cluster(gpu);
    load.kv_tokens = perf::kv_token_capacity(shape, job, gpu);
    load.slot_rule = false;  // the simulator's engine admits whatever fits
    const auto found = perf::fit_engine_step(constants(), work, job, speed, cluster, load, 256);
    EXPECT_TRUE(found) << c.model;
    if (found) fit = *found;
  }

  sim::ContinuousServer server() const {
    auto ns = [](Seconds time) { return in_seconds(time) * 1e9; };
    return {{{.base = ns(fit.base),
              .prefill = ns(fit.prompt_token),
              .sequence = ns(fit.sequence),
              .context = ns(fit.context_token),
              .request = ns(fit.request),
              .kv_tokens = static_cast<std::int64_t>(load.kv_tokens),
              .experts = ns(fit.experts),
              .expert_chance = fit.expert_chance}},
            {}};
  }
};

TEST(StepFit, IsCloseToTheStepsItReplaces) {
  for (const Case& c : kCases) {
    const Fitted f(c);
    EXPECT_GT(in_seconds(f.fit.base), 0) << c.model;
    EXPECT_GE(in_seconds(f.fit.sequence), 0) << c.model;
    EXPECT_GE(in_seconds(f.fit.context_token), 0) << c.model;
    EXPECT_GT(in_seconds(f.fit.prompt_token), 0) << c.model;
    EXPECT_LT(f.fit.worst_step_error, 0.15) << c.model << " on " << c.gpu;
    RecordProperty(std::string(c.model) + "_" + c.gpu, std::to_string(f.fit.worst_step_error));
  }
}

// Open loop, from one request at a time to four tenths of what is possible: means of the simulation inside the interval
// that the speed model gives its own numbers. In between, at about one request in flight on average, the formula takes
// the step of that one, while in the simulation a request has as many beside it: a mixture, which reads twice the
// experts for two, then differs more.
TEST(StepFit, SimulationAgreesWithTheFormulas) {
  for (const Case& c : kCases) {
    const Fitted f(c);
    const sim::RequestShape shape{static_cast<double>(c.isl) * 0.95, static_cast<double>(c.osl) * 0.95, false};
    const double most = sim::capacity(f.server(), shape);
    for (double share : {0.002, 0.2, 0.4}) {
      perf::ServeLoad load = f.load;
      load.rate = requests_per_s(share * most);
      const auto formula = perf::estimate_serving(constants(), f.work, f.job, f.speed, f.cluster, load);
      ASSERT_TRUE(formula) << c.model;
      const auto run =
          sim::simulate(f.server(), sim::Poisson{share * most}, shape, {4'000, 1, 0, sim::Statistic::kMean});
      ASSERT_TRUE(run) << c.model;
      const double ttft = value_of(run->ttft, sim::Statistic::kMean) * 1e-9 / in_seconds(formula->ttft);
      const double tpot = value_of(run->tpot, sim::Statistic::kMean) * 1e-9 / in_seconds(formula->tpot);
      const std::string what = std::string(c.model) + " on " + c.gpu + " at " + std::to_string(share);
      EXPECT_GT(ttft, formula->ttft_interval.low) << what;
      EXPECT_LT(ttft, formula->ttft_interval.high) << what;
      EXPECT_GT(tpot, formula->tpot_interval.low) << what;
      EXPECT_LT(tpot, formula->tpot_interval.high) << what;
    }
  }
}

}  // namespace
}  // namespace rightsize
