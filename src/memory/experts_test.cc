// Memory of models with expert parallelism, and of published runs.
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "base/csv.h"
#include "base/file.h"
#include "catalog/test_catalog.h"
#include "memory/memory.h"
#include "memory/tape/training_tape.h"
#include "presets/presets.h"

namespace rightsize::memory {
namespace {

model::Job expert_job(int zero, int gpus, int expert) {
  model::Job job;
  job.stack = model::Stack::kMegatron;
  job.precision = model::Precision::kMixedBf16;
  job.train.recompute = model::Recompute::kFull;
  job.batch = 1, job.sequence = 512;
  job.parallel.zero = zero, job.parallel.gpus = gpus, job.parallel.expert = expert;
  return job;
}

// With any ZeRO stage and expert parallelism, all GPUs together hold every optimizer state once.
TEST(ExpertParallel, OptimizerStatesAreDividedOnce) {
  for (const char* name : {"qwen3-30b-a3b", "mixtral-8x7b"}) {
    const model::ModelShape shape = *model::find_model(name);
    for (int zero : {1, 3}) {
      // Two moments and a 32-bit master copy; with sharded weights, the weights themselves are the master copy.
      const double all = (zero == 3 ? 8.0 : 12.0) * static_cast<double>(shape.parameters());
      for (int gpus : {8, 32}) {
        for (int expert : {1, 2, 8}) {
          const MemoryNeed need = estimate_memory(shape, expert_job(zero, gpus, expert), nullptr);
          const double held = in_bytes(need.parts[Part::kOptimizer]) * gpus;
          EXPECT_GE(held, all * 0.999) << name << " zero " << zero << " gpus " << gpus << " ep " << expert;
          EXPECT_LE(held, all * 1.05) << name << " zero " << zero << " gpus " << gpus << " ep " << expert;
        }
      }
    }
  }
}

TEST(ExpertParallel, TheSurfaceFollowsTheReplay) {
  const model::ModelShape shape = *model::find_model("qwen3-30b-a3b");
  const tape::TrainingSurface surface(shape, expert_job(1, 16, 8));
  for (int gpus : {8, 16, 64}) {
    const double replayed = in_gib(estimate_memory(shape, expert_job(1, gpus, 8), nullptr).peak_allocated);
    EXPECT_NEAR(in_gib(surface.at(1, gpus)) / replayed, 1, 0.03) << gpus;
  }
}

// The first layers of a mixture have no experts, so neither end of a pipeline is the fullest stage.
TEST(ExpertParallel, TheSurfaceFollowsEveryStage) {
  const model::ModelShape shape = *model::find_model("deepseek-v3");
  for (int pipeline : {1, 4, 16}) {
    model::Job job = expert_job(1, 512, 8);
    job.parallel.pipeline = pipeline;
    job.train.accumulation = 64;
    const tape::TrainingSurface surface(shape, job);
    const double replayed = in_gib(estimate_memory(shape, job, nullptr).peak_allocated);
    EXPECT_NEAR(in_gib(surface.at(1, job.parallel.data())) / replayed, 1, 0.03) << pipeline;
  }
}

// More groups never need more memory per GPU; the tensors live at the peak may differ.
RC_GTEST_PROP(ExpertParallel, MoreGroupsNeverNeedMore, ()) {
  const model::ModelShape shape =
      *model::find_model(*rc::gen::element<std::string>("qwen3-30b-a3b", "mixtral-8x7b", "deepseek-v3"));
  const int tensor = *rc::gen::element(1, 2, 4), zero = *rc::gen::element(0, 1, 3);
  const int fewer = *rc::gen::element(1, 2, 4), more = fewer * 2;
  model::Job job = expert_job(zero, 64, fewer);
  job.stack = *rc::gen::element(model::Stack::kMegatron, model::Stack::kTorchTitan);
  job.parallel.tensor = tensor;
  job.parallel.pipeline = *rc::gen::element(1, 4);
  job.precision = *rc::gen::element(model::Precision::kMixedBf16, model::Precision::kFp8);
  job.train.recompute = *rc::gen::element(model::Recompute::kNone, model::Recompute::kFull);
  const MemoryNeed few = estimate_memory(shape, job, nullptr);
  job.parallel.expert = more;
  const MemoryNeed many = estimate_memory(shape, job, nullptr);
  RC_ASSERT(in_bytes(many.peak_allocated) <= in_bytes(few.peak_allocated) * 1.001);
}

// Published runs did run, so their need must fit their GPU, unless they save memory in ways that we do not model.
TEST(PublishedRuns, FitTheirGpus) {
  const std::string folder = std::string(RIGHTSIZE_SOURCE_DIR) + "/data/measurements/";
  for (const std::string file : {"train-megatron.csv", "train-megatron-mixtures.csv"}) {
    const Csv csv = *Csv::parse(file, *read_file(folder + file));
    int checked = 0;
    for (const CsvRow& row : csv.rows()) {
      if (!csv.cell(row, "also").empty()) continue;
      const std::string model(csv.cell(row, "model"));
      const auto shape = model::find_model(model.ends_with(".json") ? folder + "models/" + model : model);
      ASSERT_TRUE(shape) << model;
      std::vector<model::Setting> settings;
      for (const std::string& name : model::job_settings()) {
        const std::string_view cell = csv.cell(row, name);
        if (!cell.empty()) settings.push_back({name, std::string(cell), {}});
      }
      const auto job = model::parse_job(settings);
      ASSERT_TRUE(job) << file << ":" << row.line;
      const catalog::Gpu& gpu = **built_in_catalog().find_gpu(csv.cell(row, "gpu"));
      const Fit fit = fits(estimate_memory(*shape, *job, &gpu), gpu);
      EXPECT_NE(fit.verdict, Verdict::kNo) << file << ":" << row.line << ": " << in_gib(fit.headroom) << " GiB";
      ++checked;
    }
    EXPECT_GE(checked, 20) << file;
  }
}

}  // namespace
}  // namespace rightsize::memory
