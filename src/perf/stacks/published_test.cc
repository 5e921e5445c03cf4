// Regression tests: predictions that users reported as wrong, with the figures they published.
#include <gtest/gtest.h>

#include "catalog/test_catalog.h"
#include "perf/perf.h"
#include "perf/test_constants.h"
#include "presets/presets.h"

namespace rightsize::perf {
namespace {

struct Asked {
  const char* model;
  const char* gpu;
  model::Stack stack = model::Stack::kVllm;
  model::Precision precision = model::Precision::kBf16;
  int tensor = 1;
  std::int64_t isl = 1024, osl = 1024, concurrency = 64;
};

ServeEstimate served(const Asked& a) {
  const model::ModelShape shape = *model::find_model(a.model);
  const catalog::Gpu& gpu = **built_in_catalog().find_gpu(a.gpu);
  model::Job job;
  job.kind = model::JobKind::kServe;
  job.stack = a.stack, job.precision = a.precision;
  job.parallel.gpus = job.parallel.tensor = a.tensor;
  job.serve.isl = a.isl, job.serve.osl = a.osl, job.serve.concurrency = a.concurrency;
  const ServeLoad load{.kv_tokens = kv_token_capacity(shape, job, gpu), .rate = {}};
  const auto estimate = estimate_serving(built_in_constants(), work_of(shape), job,
                                         gpu_speed(built_in_constants(), gpu), default_cluster(gpu), load);
  EXPECT_TRUE(estimate) << a.model;
  return *estimate;
}

using model::Precision;
using model::Stack;

// 34.6 ms per token were published for this setup; the prediction was 169.6 ms.
TEST(Published, DeepSeekR1InFp8OnEightH200) {
  const ServeEstimate e = served({"deepseek-r1", "h200-sxm", Stack::kSglang, Precision::kFp8, 8});
  EXPECT_GT(in_milliseconds(e.tpot), 34.6 * 0.6);
  EXPECT_LT(in_milliseconds(e.tpot), 34.6 * 1.6);
}

// A mixture in 8 bits reads half the bytes, so it is not slower than in 16 bits. (A single request may be slightly
// slower because of quantization kernels.)
TEST(Published, Fp8MixturesAreNotSlower) {
  for (const char* gpu : {"h200-sxm", "h100-sxm", "b200-sxm"}) {
    for (std::int64_t running : {1, 16, 128}) {
      const auto tpot = [&](Precision p) {
        return served({"qwen3-30b-a3b", gpu, Stack::kVllm, p, 1, 1024, 256, running}).tpot;
      };
      EXPECT_LE(tpot(Precision::kFp8), tpot(Precision::kBf16) * (running == 1 ? 1.15 : 1.0)) << gpu << " " << running;
    }
  }
}

// gpt-oss-120b runs 1.5 to 2.1 times as fast on a B200 as on an H200.
TEST(Published, NewerGpusAreFasterForMixtures) {
  for (std::int64_t running : {4, 32, 64}) {
    const auto tpot = [&](const char* gpu) {
      return served({"gpt-oss-120b", gpu, Stack::kTrtLlm, Precision::kFp4, 1, 1024, 1024, running}).tpot;
    };
    const double faster = tpot("h200-sxm") / tpot("b200-sxm");
    EXPECT_GT(faster, 1.3) << running;
    EXPECT_LT(faster, 2.6) << running;
  }
}

// gpt-oss-120b served 256 requests of 9,216 tokens on one B200 without a queue.
TEST(Published, WindowedLayersCacheOnlyTheirWindow) {
  const ServeEstimate e = served({"gpt-oss-120b", "b200-sxm", Stack::kTrtLlm, Precision::kFp4, 1, 1024, 8192, 256});
  EXPECT_FALSE(e.full);
  EXPECT_LT(in_seconds(e.ttft), 1);
}

// Products of a long prompt stay below what the GPU can do.
TEST(Published, PrefillStaysBelowThePeak) {
  for (const char* gpu : {"h100-sxm", "a100-80gb-sxm", "a10g", "h200-sxm"}) {
    const ServeEstimate e = served({"llama-3.1-8b", gpu, Stack::kVllm, Precision::kBf16, 1, 10000, 10, 1});
    const double flops = 2 * 7.5e9 * 9500;  // of the layers; drawn lengths are 95 % of the nominal ones
    const GpuSpeed speed = gpu_speed(built_in_constants(), **built_in_catalog().find_gpu(gpu));
    EXPECT_LT(flops / in_seconds(e.prefill) / in_flop_per_s(speed.half), 0.97) << gpu;
  }
}

// fp8 also has its own rate on GPUs without benchmarks: at most twice that of bf16.
TEST(Published, Fp8OnUnmeasuredVendorsFollowsTheGpu) {
  const auto prefill = [&](Precision p) {
    return served({"llama-3.1-70b", "mi300x", Stack::kVllm, p, 1, 8000, 10, 1}).prefill;
  };
  const double faster = prefill(Precision::kBf16) / prefill(Precision::kFp8);
  EXPECT_GT(faster, 1.1);
  EXPECT_LT(faster, 2.05);
}

// The time that unmerged adapters of experts add to a pass, as measured per layer
// (data/measurements/adapters-h200.csv).
TEST(Published, AdaptersOfExpertsTakeTheMeasuredTimePerLayer) {
  struct Measured {
    const char* model;
    double layers, added_ms;
  };
  for (const Measured& m : {Measured{"qwen3-30b-a3b", 48, 6.9603 - 4.6935}, {"mixtral-8x7b", 32, 24.2697 - 20.1973}}) {
    const catalog::Gpu& gpu = **built_in_catalog().find_gpu("h200-sxm");
    const ModelWork work = work_of(*model::find_model(m.model));
    auto passes = [&](model::LoraTargets targets) {
      model::Job job;
      job.stack = Stack::kTorchTitan, job.precision = Precision::kMixedBf16;
      job.batch = 1, job.sequence = 8192;
      job.train.method = model::Method::kLora, job.train.lora_targets = targets, job.train.lora_rank = 16;
      const auto e = estimate_training(built_in_constants(), work, job, gpu_speed(built_in_constants(), gpu),
                                       default_cluster(gpu));
      EXPECT_TRUE(e) << m.model;
      return in_milliseconds(e->parts[0].time + e->parts[1].time);
    };
    const double added = passes(model::LoraTargets::kAllLinear) - passes(model::LoraTargets::kAttention);
    EXPECT_NEAR(added / m.layers, m.added_ms, 0.3 * m.added_ms) << m.model;
  }
}

Seconds trained(const char* name, model::Method method, std::int64_t sequence, const char* gpu_name = "h100-sxm") {
  const catalog::Gpu& gpu = **built_in_catalog().find_gpu(gpu_name);
  model::Job job;
  job.stack = Stack::kMegatron, job.precision = Precision::kFp8;
  job.batch = 1, job.sequence = sequence;
  job.train.method = method, job.train.lora_rank = 16;
  job.train.lora_targets = model::LoraTargets::kAttention;
  const auto estimate = estimate_training(built_in_constants(), work_of(*model::find_model(name)), job,
                                          gpu_speed(built_in_constants(), gpu), default_cluster(gpu));
  EXPECT_TRUE(estimate);
  return estimate->step;
}

// Frozen weights have no third product and no gradients to accumulate in every micro-batch: LoRA gains more in shorter
// micro-batches.
TEST(Published, FrozenWeightsGainMoreInShortMicroBatches) {
  const auto gain = [](std::int64_t sequence) {
    return trained("llama-2-70b", model::Method::kFull, sequence) /
           trained("llama-2-70b", model::Method::kLora, sequence);
  };
  EXPECT_GT(gain(8192), 1.3);
  EXPECT_GT(gain(2048), gain(8192) * 1.05);
}

// MLPerf training: 8,192 tokens per GPU, samples per second on eight GPUs (results of 2025, with the submissions'
// settings), within 20 %.
TEST(Published, LoraOfLlama70bAsInMlperf) {
  const std::pair<const char*, double> published[] = {{"b200-sxm", 5.25}, {"gb200", 5.39}, {"mi325x", 2.77}};
  for (const auto& [gpu, samples] : published) {
    const double predicted = 8.0 / in_seconds(trained("llama-2-70b", model::Method::kLora, 8192, gpu));
    EXPECT_NEAR(predicted / samples, 1.0, 0.2) << gpu;
  }
}

}  // namespace
}  // namespace rightsize::perf
