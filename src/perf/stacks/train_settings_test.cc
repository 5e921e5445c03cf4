// Effects that training settings must have on the step time, on any stack, model and GPU.
#include <gtest/gtest.h>

#include "perf/perf.h"
#include "presets/presets.h"

namespace rightsize::perf {
namespace {

using model::Job;

class TrainSettingsTest : public testing::Test {
 protected:
  static TrainEstimate estimate(const char* name, const Job& job, const char* gpu, Watts cap = {}) {
    static const Constants constants = *load_constants("");
    static const catalog::Catalog catalog = *catalog::load_catalog("");
    const catalog::Gpu& found = **catalog.find_gpu(gpu);
    GpuSpeed speed = gpu_speed(constants, found);
    speed.power.cap = cap;
    const Result<TrainEstimate> made =
        estimate_training(constants, work_of(*model::find_model(name)), job, speed, default_cluster(found));
    EXPECT_TRUE(made) << name << (made ? "" : made.error().message);
    return *made;
  }
};

TEST_F(TrainSettingsTest, RecomputingTheForwardPassTakesItsTimeAgain) {
  for (const char* name : {"vit-l-16", "vit-b-16", "resnet-50", "swin-t", "llama-3.2-1b"}) {
    Job job;
    job.batch = 16, job.sequence = 512;
    const Seconds without = estimate(name, job, "h100-sxm").device;
    job.train.recompute = model::Recompute::kFull;
    const double longer = estimate(name, job, "h100-sxm").device / without;
    EXPECT_GT(longer, 1.15) << name;
    EXPECT_LT(longer, 1.5) << name;
  }
}

// A pair is two sequences: trained, and read once more by the reference model.
TEST_F(TrainSettingsTest, PreferencePairsTakeAThirdMoreThanTheirSequences) {
  for (const model::Stack stack : {model::Stack::kHf, model::Stack::kTorchTitan, model::Stack::kMegatron}) {
    Job pairs;
    pairs.stack = stack, pairs.batch = 2, pairs.sequence = 1024;
    if (stack != model::Stack::kHf) pairs.precision = model::Precision::kMixedBf16;
    pairs.train.preference = true;
    Job sequences = pairs;
    sequences.batch = 4, sequences.train.preference = false;
    const TrainEstimate with = estimate("llama-3.2-1b", pairs, "h100-sxm");
    const TrainEstimate without = estimate("llama-3.2-1b", sequences, "h100-sxm");
    EXPECT_GT(with.step / without.step, 1.1);
    EXPECT_LT(with.step / without.step, 1.5);
    EXPECT_LT(with.tokens_per_gpu, without.tokens_per_gpu);
    EXPECT_DOUBLE_EQ(with.tokens_per_gpu / without.tokens_per_gpu, without.step / with.step);
    Seconds sum;
    for (const TimePart& part : with.parts) sum += part.time;
    EXPECT_NEAR(sum / with.step, 1, 0.02);
  }
}

// MFU compares with the data sheet, so a slower clock cannot raise it.
TEST_F(TrainSettingsTest, APowerCapLowersMfuAsMuchAsSpeed) {
  Job job;
  job.batch = 4, job.sequence = 2048;
  for (const char* gpu : {"h100-sxm", "a100-80gb-sxm", "mi300x"}) {
    const TrainEstimate free = estimate("llama-3.2-1b", job, gpu);
    for (const double watts : {250.0, 350.0, 500.0}) {
      const TrainEstimate capped = estimate("llama-3.2-1b", job, gpu, rightsize::watts(watts));
      EXPECT_NEAR(capped.mfu / free.mfu, free.step / capped.step, 1e-9) << gpu << " " << watts;
    }
  }
}

}  // namespace
}  // namespace rightsize::perf
