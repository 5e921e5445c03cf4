#include "memory/kept_replays.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "presets/presets.h"

namespace rightsize::memory {
namespace {

model::Job any_job() {
  model::Job job;
  job.batch = *rc::gen::inRange(1, 5);
  job.sequence = std::int64_t{128} * *rc::gen::inRange(1, 5);
  job.precision = *rc::gen::element(model::Precision::kBf16, model::Precision::kAmpBf16);
  job.train.method = *rc::gen::element(model::Method::kFull, model::Method::kLora);
  job.train.recompute = *rc::gen::element(model::Recompute::kNone, model::Recompute::kFull);
  job.train.lora_rank = *rc::gen::element(8, 16);
  job.train.fused_kernels = *rc::gen::arbitrary<bool>();
  job.parallel.gpus = *rc::gen::element(1, 2, 8);
  job.parallel.zero = job.parallel.gpus > 1 ? *rc::gen::element(0, 3) : 0;
  job.parallel.pipeline = *rc::gen::element(1, 1, 2, 4);
  job.parallel.pipeline_interleave = job.parallel.pipeline > 1 ? *rc::gen::element(1, 3) : 1;
  job.parallel.gpus *= job.parallel.pipeline;
  job.train.accumulation = *rc::gen::inRange(1, 12);
  return job;
}

RC_GTEST_PROP(KeptReplays, EqualANewReplay, ()) {
  const auto shape = model::find_model(*rc::gen::element<std::string>("gpt2", "bert-base", "qwen2.5-0.5b"));
  RC_ASSERT(shape.has_value());
  const model::Job job = any_job();
  for (int turn = 0; turn < 2; ++turn) {
    const tape::TrainingPeak kept = peak_of(*shape, job), fresh = tape::replay_training(*shape, job);
    RC_ASSERT(in_bytes(kept.peak_allocated) == in_bytes(fresh.peak_allocated));
    RC_ASSERT(in_bytes(kept.peak_reserved) == in_bytes(fresh.peak_reserved));
  }
  const tape::TrainingSurface fresh(*shape, job);
  for (const double batch : {1.0, 7.0}) {
    RC_ASSERT(in_bytes(surface_of(*shape, job)->at(batch, job.parallel.data())) ==
              in_bytes(fresh.at(batch, job.parallel.data())));
  }
}

TEST(KeptReplays, TheSameModelTwiceIsTheSameObject) {
  const auto once = model::find_model("gpt2"), again = model::find_model("gpt2");
  ASSERT_TRUE(once && again);
  EXPECT_EQ(once->forward, again->forward);
}

}  // namespace
}  // namespace rightsize::memory
