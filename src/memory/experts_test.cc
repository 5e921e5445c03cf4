// Memory of models whose experts are divided over GPUs.
#include <gtest/gtest.h>

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

// Whatever ZeRO and expert parallelism divide, all GPUs together hold every optimizer state once.
TEST(ExpertParallel, OptimizerStatesAreDividedOnce) {
  for (const char* name : {"qwen3-30b-a3b", "mixtral-8x7b"}) {
    const model::ModelShape shape = *model::find_model(name);
    for (int zero : {1, 3}) {
      // Two moments and a 32-bit master copy, which are the weights themselves when these are sharded.
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

}  // namespace
}  // namespace rightsize::memory
