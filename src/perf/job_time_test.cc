#include "perf/job_time.h"

#include <cmath>

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "presets/presets.h"

namespace rightsize::perf {
namespace {

const catalog::Catalog& facts() {
  static const catalog::Catalog kCatalog = *catalog::load_catalog("");
  return kCatalog;
}
const Constants& constants() {
  static const Constants kConstants = *load_constants("");
  return kConstants;
}
const SustainedRates& rates(const char* name) {
  static const SpeedTable kTable(facts(), constants());
  return *kTable.find(**facts().find_gpu(name));
}

TEST(JobTime, EveryKindOfJobHasATime) {
  const catalog::Gpu& gpu = **facts().find_gpu("h100-sxm");
  model::Job train;
  train.sequence = 2048;
  model::Job serve;
  serve.kind = model::JobKind::kServe;
  serve.stack = model::Stack::kVllm;
  model::Job batch;
  batch.kind = model::JobKind::kServe;
  batch.sequence = 128;
  EXPECT_GT(in_seconds(job_time(constants(), *model::find_model("llama-3.1-8b"), train, gpu)->unit), 0);
  EXPECT_GT(in_seconds(job_time(constants(), *model::find_model("llama-3.1-8b"), serve, gpu)->unit), 0);
  EXPECT_GT(in_seconds(job_time(constants(), *model::find_model("bert-large"), batch, gpu)->unit), 0);
  const Seconds kept = job_time(constants(), *model::find_model("llama-3.1-8b"), train, gpu)->unit;
  train.train.offload = model::Offload::kOptimizer;
  EXPECT_GT(job_time(constants(), *model::find_model("llama-3.1-8b"), train, gpu)->unit, kept) << "copies take time";
}

TEST(JobSlowdown, IsTheRatioOfTheEstimatesAndOneOnTheSameGpu) {
  const model::ModelShape model = *model::find_model("llama-3.1-8b");
  model::Job job;
  job.sequence = 4096;
  const auto step = [&](const char* gpu) {
    const catalog::Gpu& row = **facts().find_gpu(gpu);
    return estimate_training(constants(), work_of(model), job, gpu_speed(constants(), row), default_cluster(row))->step;
  };
  const Slowdown slow = *job_slowdown(constants(), model, job, rates("h100-sxm"), rates("l4"));
  EXPECT_NEAR(slow.arithmetic, step("l4") / step("h100-sxm"), 1e-9);
  EXPECT_EQ(slow.arithmetic, slow.memory);
  const Slowdown same = *job_slowdown(constants(), model, job, rates("l4"), rates("l4"));
  EXPECT_EQ(same.arithmetic, 1);
  EXPECT_EQ(same.width, 0);
}

}  // namespace
}  // namespace rightsize::perf
