#include "perf/job_time.h"

#include <cmath>

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "catalog/test_catalog.h"
#include "perf/test_constants.h"
#include "presets/presets.h"

namespace rightsize::perf {
namespace {

const SustainedRates& rates(const char* name) {
  static const SpeedTable kTable(built_in_catalog(), built_in_constants());
  return *kTable.find(**built_in_catalog().find_gpu(name));
}

TEST(JobTime, EveryKindOfJobHasATime) {
  const catalog::Gpu& gpu = **built_in_catalog().find_gpu("h100-sxm");
  model::Job train;
  train.sequence = 2048;
  model::Job serve;
  serve.kind = model::JobKind::kServe;
  serve.stack = model::Stack::kVllm;
  model::Job batch;
  batch.kind = model::JobKind::kServe;
  batch.sequence = 128;
  EXPECT_GT(in_seconds(job_time(built_in_constants(), *model::find_model("llama-3.1-8b"), train, gpu)->unit), 0);
  EXPECT_GT(in_seconds(job_time(built_in_constants(), *model::find_model("llama-3.1-8b"), serve, gpu)->unit), 0);
  EXPECT_GT(in_seconds(job_time(built_in_constants(), *model::find_model("bert-large"), batch, gpu)->unit), 0);
  const Seconds kept = job_time(built_in_constants(), *model::find_model("llama-3.1-8b"), train, gpu)->unit;
  train.train.offload = model::Offload::kOptimizer;
  EXPECT_GT(job_time(built_in_constants(), *model::find_model("llama-3.1-8b"), train, gpu)->unit, kept)
      << "copies take time";
}

TEST(JobSlowdown, IsTheRatioOfTheEstimatesAndOneOnTheSameGpu) {
  const model::ModelShape model = *model::find_model("llama-3.1-8b");
  model::Job job;
  job.sequence = 4096;
  const auto step = [&](const char* gpu) {
    const catalog::Gpu& row = **built_in_catalog().find_gpu(gpu);
    return estimate_training(built_in_constants(), work_of(model), job, gpu_speed(built_in_constants(), row),
                             default_cluster(row))
        ->step;
  };
  const Slowdown slow = *job_slowdown(built_in_constants(), model, job, rates("h100-sxm"), rates("l4"));
  EXPECT_NEAR(slow.arithmetic, step("l4") / step("h100-sxm"), 1e-9);
  EXPECT_EQ(slow.arithmetic, slow.memory);
  const Slowdown same = *job_slowdown(built_in_constants(), model, job, rates("l4"), rates("l4"));
  EXPECT_EQ(same.arithmetic, 1);
  EXPECT_EQ(same.width, 0);
}

}  // namespace
}  // namespace rightsize::perf
