// Preference training (DPO): two sequences for every pair, and a frozen reference model unless the base serves as one.
#include <gtest/gtest.h>

#include "memory/memory.h"
#include "memory/train.h"
#include "memory/weight_bytes.h"
#include "presets/presets.h"

namespace rightsize::memory {
namespace {

model::Job pairs_of(std::int64_t batch, model::Method method) {
  model::Job job;
  job.batch = batch, job.sequence = 512;
  job.train.method = method;
  job.train.preference = true;
  return job;
}

model::Job sequences_of(model::Job job) {
  job.batch *= 2;
  job.train.preference = false;
  return job;
}

TEST(PreferenceTraining, NeedsTheMemoryOfTwoSequencesAndAReference) {
  for (const char* name : {"llama-3.2-1b", "qwen2.5-0.5b", "gpt2"}) {
    const model::ModelShape shape = *model::find_model(name);
    for (const std::int64_t batch : {1, 3}) {
      const model::Job full = pairs_of(batch, model::Method::kFull);
      const Bytes reference = model_weight_bytes(shape, full.precision, full.parallel, false);
      const Bytes plain = estimate_training(shape, sequences_of(full)).device;
      EXPECT_NEAR(in_gib(estimate_training(shape, full).device - plain), in_gib(reference), 1e-6) << name;
      const model::Job lora = pairs_of(batch, model::Method::kLora);
      EXPECT_EQ(estimate_training(shape, lora).device, estimate_training(shape, sequences_of(lora)).device) << name;
    }
  }
}

// The fast form for searches counts the same reference.
TEST(PreferenceTraining, TheSearchSeesTheReferenceToo) {
  const model::ModelShape shape = *model::find_model("llama-3.2-1b");
  for (const int zero : {0, 3}) {
    model::Job job = pairs_of(1, model::Method::kFull);
    job.parallel.gpus = 4, job.parallel.zero = zero;
    const TrainingNeeds pairs(shape, job), sequences(shape, sequences_of(job));
    const Bytes more = pairs.high(2, 4) - sequences.high(4, 4);
    const Bytes reference = model_weight_bytes(shape, job.precision, job.parallel, false) / (zero == 3 ? 4.0 : 1.0);
    EXPECT_GE(more, reference * 0.999);
    EXPECT_LE(more, reference * 1.2) << "the interval of the estimate";
  }
}

}  // namespace
}  // namespace rightsize::memory
