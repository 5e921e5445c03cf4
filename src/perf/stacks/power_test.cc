// Power and energy of any job: bounds, caps, and the cost of a cap.
#include <random>

#include <gtest/gtest.h>

#include "base/csv.h"
#include "base/file.h"
#include "base/parse_units.h"
#include "catalog/test_catalog.h"
#include "perf/perf.h"
#include "perf/test_constants.h"
#include "presets/presets.h"

namespace rightsize::perf {
namespace {

using model::Job;
using model::JobKind;

// A job of a random kind; its time under a cap, and its power.
struct Measured {
  Seconds time;  // of a unit of work
  PowerEstimate power;
};

class RandomJobs {
 public:
  explicit RandomJobs(unsigned seed) : random_(seed) {}

  template <class T>
  const T& of(const std::vector<T>& values) {
    return values[random_() % values.size()];
  }
  double between(double low, double high) {
    return low * std::pow(high / low, std::uniform_real_distribution<>()(random_));
  }

  // GPUs with a published power.
  GpuSpeed gpu() {
    while (true) {
      const catalog::Gpu& gpu = of(built_in_catalog().gpus);
      const bool modelled = gpu.vendor == "NVIDIA" && gpu.half_rate() && gpu.tdp && gpu.memory >= gib(40);
      if (modelled) return gpu_speed(built_in_constants(), gpu);
    }
  }

  Result<Measured> run(const GpuSpeed& gpu) const {
    const ModelWork& work = *work_;
    if (job_.kind == JobKind::kTrain) {
      RIGHTSIZE_TRY(const TrainEstimate e, estimate_training(built_in_constants(), work, job_, gpu, Cluster{}));
      return Measured{e.step, e.power};
    }
    if (serves_batches(work)) {
      RIGHTSIZE_TRY(const BatchEstimate e, estimate_batch(built_in_constants(), work, job_, gpu));
      return Measured{e.batch, e.power};
    }
    RIGHTSIZE_TRY(const ServeEstimate e,
                  estimate_serving(built_in_constants(), work, job_, gpu, Cluster{}, {.kv_tokens = 4e5, .rate = {}}));
    return Measured{tokens(1) / e.output_per_gpu, e.power};
  }

  void draw() {
    static const std::vector<ModelWork> kWorks = [] {
      std::vector<ModelWork> works;
      for (const char* name : {"llama-3.1-8b", "qwen3-30b-a3b", "resnet-50", "vit-l-16", "bert-large", "llama-3.2-1b"})
        works.push_back(work_of(*model::find_model(name)));
      return works;
    }();
    work_ = &of(kWorks);
    job_ = {};
    job_.batch = std::llround(between(1, 64));
    job_.sequence = std::llround(between(128, 4096));
    const bool train = random_() % 3 == 0;
    job_.kind = train ? JobKind::kTrain : JobKind::kServe;
    job_.precision = model::Precision::kBf16;
    job_.stack =
        train || !work_->decoder ? model::Stack::kHf : of<model::Stack>({model::Stack::kVllm, model::Stack::kHf});
    if (train && work_->experts > 0) work_ = &kWorks.front();
    job_.serve.isl = std::llround(between(64, 4096)), job_.serve.osl = std::llround(between(1, 1024));
    job_.serve.concurrency = std::llround(between(1, 64));
  }

 private:
  std::mt19937 random_;
  const ModelWork* work_ = nullptr;
  Job job_;
};

TEST(Power, IsBetweenIdleAndTheLimit) {
  RandomJobs jobs(1);
  int seen = 0;
  for (int i = 0; i < 300; ++i) {
    jobs.draw();
    const GpuSpeed gpu = jobs.gpu();
    const Result<Measured> run = jobs.run(gpu);
    if (!run) continue;
    ++seen;
    const PowerEstimate& p = run->power;
    EXPECT_GE(p.mean, gpu.power.idle);
    EXPECT_LE(p.mean, gpu.power.limit);
    EXPECT_LE(p.mean * p.high, gpu.power.limit * 1.000001);
    EXPECT_GE(p.mean * p.low, gpu.power.idle * 0.999999);
    EXPECT_LE(p.low, 1);
    EXPECT_GE(p.high, 1);
    EXPECT_GT(p.clock, 0);
    EXPECT_LE(p.clock, 1);
  }
  EXPECT_GT(seen, 200);
}

TEST(Power, ALowerCapNeverSpeedsAnythingUp) {
  RandomJobs jobs(2);
  for (int i = 0; i < 120; ++i) {
    jobs.draw();
    GpuSpeed gpu = jobs.gpu();
    Result<Measured> last = jobs.run(gpu);
    if (!last) continue;
    for (double share : {0.9, 0.75, 0.6, 0.45, 0.35}) {
      gpu.power.cap = gpu.power.limit * share;
      const Result<Measured> run = jobs.run(gpu);
      ASSERT_TRUE(run);
      EXPECT_GE(run->time, last->time * 0.9999);
      EXPECT_LE(run->power.mean, gpu.power.cap * 1.000001);
      EXPECT_LE(run->power.clock, last->power.clock + 1e-9);
      last = run;
    }
  }
}

// A decode step with few requests is memory-bound, and a cap does not lower the memory clock.
TEST(Power, WorkBoundByMemoryKeepsItsSpeedUnderAModerateCap) {
  const ModelWork work = work_of(*model::find_model("llama-3.1-8b"));
  for (const char* name : {"h100-sxm", "h200-sxm", "b200-sxm", "a100-80gb-sxm"}) {
    GpuSpeed gpu = gpu_speed(built_in_constants(), **built_in_catalog().find_gpu(name));
    Job job;
    job.kind = JobKind::kServe, job.stack = model::Stack::kVllm, job.precision = model::Precision::kBf16;
    job.serve.isl = 200, job.serve.osl = 800, job.serve.concurrency = 4;
    const ServeLoad load{.kv_tokens = 1e5, .rate = {}};
    const auto run = [&] { return *estimate_serving(built_in_constants(), work, job, gpu, Cluster{}, load); };
    const ServeEstimate free = run();
    gpu.power.cap = free.power.mean * 0.85;
    const ServeEstimate capped = run();
    EXPECT_LT(capped.power.mean, free.power.mean) << name;
    EXPECT_LT(capped.tpot, free.tpot * 1.03) << name;
    // The same cap slows down a compute-bound prompt far more.
    job.serve.isl = 4000, job.serve.osl = 1, job.serve.concurrency = 16;
    gpu.power.cap = {};
    const ServeEstimate prompts = run();
    gpu.power.cap = prompts.power.mean * 0.7;
    EXPECT_GT(run().prefill, prompts.prefill * 1.05) << name;
  }
}

// Energy of the A100 over its clocks (Perseus, ml-energy/zeus sosp24_data, GPT-3 175B forward, read 2026-11-17): power
// and time relative to those at the highest clock that its limit allows.
TEST(Power, TimeUnderACapFollowsPublishedClocks) {
  struct Point {
    double clock, time, energy;
  };
  constexpr Point kForward[] = {{1335, 0.05124, 23.166},
                                {1200, 0.05606, 19.260},
                                {1065, 0.06279, 17.534},
                                {960, 0.06945, 17.855},
                                {855, 0.07773, 18.239}};
  GpuSpeed gpu = gpu_speed(built_in_constants(), **built_in_catalog().find_gpu("a100-80gb-sxm"));
  const ModelWork work = work_of(*model::find_model("llama-3.1-8b"));
  Job job;
  job.kind = JobKind::kServe, job.stack = model::Stack::kVllm, job.precision = model::Precision::kBf16;
  job.serve.isl = 4000, job.serve.osl = 1, job.serve.concurrency = 16;
  const ServeLoad load{.kv_tokens = 2e5, .rate = {}};
  const auto run = [&] { return *estimate_serving(built_in_constants(), work, job, gpu, Cluster{}, load); };
  const ServeEstimate free = run();
  const double first = kForward[0].energy / kForward[0].time;
  for (const Point& point : kForward) {
    const double share = point.energy / point.time / first;
    if (share > 0.99) continue;
    gpu.power.cap = free.power.mean * (share / gpu.power.held);
    EXPECT_NEAR(run().prefill / free.prefill, point.time / kForward[0].time, 0.1 * point.time / kForward[0].time)
        << point.clock;
  }
}

// ResNet-50 under power limits on three GPUs that were not used to fit the power model, except for the constant power
// of GDDR (A40). Limits are compared as shares of the power without one.
TEST(Power, TimeUnderALimitFollowsPublishedRuns) {
  const std::string file = std::string(RIGHTSIZE_SOURCE_DIR) + "/tests/fixtures/energy/capped-runs.csv";
  const Checked<Csv> csv = Csv::parse(file, *read_file(file));
  ASSERT_TRUE(csv);
  const ModelWork work = work_of(*model::find_model("resnet-50"));
  const auto number = [&](const CsvRow& row, const char* name) { return *parse_number(csv->cell(row, name)); };
  double free_watts = 0, free_seconds = 0, sum = 0;
  TrainEstimate free;
  GpuSpeed gpu;
  int rows = 0;
  for (const CsvRow& row : csv->rows()) {
    Job job;
    job.kind = JobKind::kTrain, job.stack = model::Stack::kHf, job.precision = model::Precision::kAmpFp16;
    job.train.optimizer = model::Optimizer::kSgd;
    job.batch = std::llround(number(row, "batch"));
    const double limit = number(row, "limit_w"), drawn = number(row, "watts"), seconds = number(row, "seconds");
    const std::string name(csv->cell(row, "gpu"));
    const bool highest = name == "a40" ? limit == 300 : name == "quadro-rtx-6000" ? limit == 260 : limit == 250;
    if (highest) {
      gpu = gpu_speed(built_in_constants(), **built_in_catalog().find_gpu(name));
      free = *estimate_training(built_in_constants(), work, job, gpu, Cluster{});
      free_watts = drawn, free_seconds = seconds;
      continue;
    }
    gpu.power.cap = free.power.mean * (drawn / free_watts / gpu.power.held);
    const TrainEstimate capped = *estimate_training(built_in_constants(), work, job, gpu, Cluster{});
    gpu.power.cap = {};
    const double error = (capped.step / free.step) / (seconds / free_seconds) - 1;
    // Deeper limits slow the A40 and the V100 down more than the model expects (docs/energy.md).
    constexpr double kModerate = 0.7;
    if (drawn >= kModerate * free_watts) {
      EXPECT_LT(std::abs(error), 0.1) << name << " batch " << job.batch << " limit " << limit << ": " << error;
    }
    sum += std::abs(error), ++rows;
  }
  EXPECT_LT(sum / rows, 0.06);
}

}  // namespace
}  // namespace rightsize::perf
