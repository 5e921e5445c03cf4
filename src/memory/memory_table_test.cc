#include "memory/memory_table.h"

#include <gtest/gtest.h>

#include "catalog/catalog.h"
#include "presets/presets.h"

namespace rightsize::memory {
namespace {

// Computing needs on all cores gives the same results as one by one.
TEST(MemoryTable, FindsTheSameTogetherAndAlone) {
  const catalog::Catalog catalog = *catalog::load_catalog("");
  const model::ModelShape shape = *model::find_model("llama-3.2-1b");
  std::vector<model::Job> jobs;
  for (const std::int64_t batch : {1, 2, 4}) {
    for (const model::Recompute recompute : {model::Recompute::kNone, model::Recompute::kFull}) {
      jobs.emplace_back();
      jobs.back().batch = batch;
      jobs.back().sequence = 2048;
      jobs.back().train.recompute = recompute;
    }
  }
  MemoryTable together(shape), alone(shape);
  std::vector<MemoryTable::Asked> asked;
  const std::vector<const catalog::Gpu*> gpus = {*catalog.find_gpu("h100-sxm"), *catalog.find_gpu("mi300x")};
  for (const catalog::Gpu* gpu : gpus) {
    for (const model::Job& job : jobs) asked.push_back({&job, gpu});
  }
  together.find_together(asked);
  for (const MemoryTable::Asked& one : asked) {
    const MemoryNeed &a = together.need(*one.job, *one.gpu), &b = alone.need(*one.job, *one.gpu);
    EXPECT_EQ(in_bytes(a.low), in_bytes(b.low));
    EXPECT_EQ(in_bytes(a.device), in_bytes(b.device));
    EXPECT_EQ(in_bytes(a.high), in_bytes(b.high));
  }
}

// Jobs that differ in a setting that a search tries are different: the loss, recomputation, the batch.
TEST(MemoryTable, KeepsJobsApart) {
  const catalog::Catalog catalog = *catalog::load_catalog("");
  const catalog::Gpu& gpu = **catalog.find_gpu("h100-sxm");
  const model::ModelShape shape = *model::find_model("qwen2.5-1.5b");
  MemoryTable table(shape);
  for (const model::CrossEntropy loss :
       {model::CrossEntropy::kEager, model::CrossEntropy::kChunked, model::CrossEntropy::kFused}) {
    for (const model::Recompute recompute : {model::Recompute::kNone, model::Recompute::kFull}) {
      model::Job job;
      job.batch = 4, job.sequence = 4096;
      job.train.recompute = recompute, job.train.cross_entropy = loss;
      EXPECT_EQ(in_bytes(table.need(job, gpu).high), in_bytes(estimate_memory(shape, job, &gpu).high));
      EXPECT_EQ(in_bytes(table.high(job)), in_bytes(MemoryTable(shape).high(job)));
    }
  }
}

}  // namespace
}  // namespace rightsize::memory
