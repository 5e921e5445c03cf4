// For all settings, no kernel exceeds the data sheet, and a GPU that is better in every figure is not slower.
#include <random>

#include <gtest/gtest.h>

#include "catalog/test_catalog.h"
#include "perf/perf.h"
#include "perf/test_constants.h"
#include "presets/presets.h"

namespace rightsize::perf {
namespace {

using catalog::Gpu;
using catalog::NumberFormat;
using model::Job;
using model::JobKind;
using model::Precision;
using model::Stack;

// At least as good in every figure of the data sheet.
bool at_least_as_good(const Gpu& gpu, const Gpu& than) {
  if (gpu.vendor != than.vendor || gpu.memory < than.memory || gpu.bandwidth < than.bandwidth) return false;
  if (gpu.nvlink_kind != than.nvlink_kind && gpu.nvlink_kind != "switch") return false;
  if (gpu.nvlink.value_or(BytesPerSecond{}) < than.nvlink.value_or(BytesPerSecond{})) return false;
  if (gpu_speed(built_in_constants(), gpu).host_link < gpu_speed(built_in_constants(), than).host_link) return false;
  for (int i = 0; i < catalog::kNumberFormats; ++i) {
    const auto format = static_cast<NumberFormat>(i);
    const auto rate = [&](const Gpu& of) {
      return of.peak(format).supported ? of.peak(format).dense.value_or(FlopsPerSecond{}) : FlopsPerSecond{};
    };
    if (format != NumberFormat::kFp64 && rate(gpu) < rate(than)) return false;
  }
  return true;
}

std::vector<const Gpu*> common_gpus() {
  std::vector<const Gpu*> gpus;
  for (const Gpu& gpu : built_in_catalog().gpus) {
    if ((gpu.vendor == "NVIDIA" || gpu.vendor == "AMD") && gpu.half_rate() && gpu.memory >= gib(16))
      gpus.push_back(&gpu);
  }
  return gpus;
}

class Draw {
 public:
  explicit Draw(unsigned seed) : random_(seed) {}
  template <class T>
  T of(std::initializer_list<T> values) {
    return values.begin()[random_() % values.size()];
  }
  const Gpu& gpu(const std::vector<const Gpu*>& gpus) { return *gpus[random_() % gpus.size()]; }
  std::int64_t between(double low, double high) {
    return std::llround(low * std::pow(high / low, std::uniform_real_distribution<>()(random_)));
  }

 private:
  std::mt19937 random_;
};

TEST(Physics, KernelsStayBelowTheDataSheet) {
  Draw draw(1);
  const auto gpus = common_gpus();
  for (int i = 0; i < 20'000; ++i) {
    const GpuSpeed gpu = gpu_speed(built_in_constants(), draw.gpu(gpus));
    const auto format = draw.of({WeightFormat::kHalf, WeightFormat::kFp8, WeightFormat::kFp4, WeightFormat::kInt8,
                                 WeightFormat::kInt4, WeightFormat::kMx4});
    const Matmul size{static_cast<double>(draw.between(1, 32768)), static_cast<double>(draw.between(64, 65536)),
                      static_cast<double>(draw.between(64, 32768))};
    const double tokens = static_cast<double>(draw.between(1, 32768));
    const OpTime ops[] = {matmul_time(gpu, size, format), grouped_matmul_time(gpu, 8, size, format),
                          prefill_attention_time(gpu, {1, tokens, 32, 8, draw.of({64.0, 128.0, 256.0}), true}),
                          decode_attention_time(gpu, {8, tokens, 32, 8, 128, draw.of({1.0, 2.0}), 0, 0})};
    const FlopsPerSecond fastest = std::max({gpu.half, gpu.fp8, gpu.fp4});
    for (const OpTime& op : ops) {
      ASSERT_LE(op.traffic / op.time, gpu.bandwidth * kMostBandwidth * 1.000001);
      ASSERT_LE(op.flops / op.time, fastest * kMostArithmetic * 1.000001);
      ASSERT_GE(op.time, op.ideal);
      ASSERT_GE(op.with_losses(0.1), op.ideal);
    }
  }
}

// Large prompts in 16 bits, in every engine on every GPU. Regression: estimates reached 1.3 times the peak.
TEST(Physics, PrefillStaysBelowThePeak) {
  const model::ModelShape shape = *model::find_model("llama-3.1-8b");
  const ModelWork work = work_of(shape);
  for (const Gpu* gpu : common_gpus()) {
    for (const Stack stack : {Stack::kVllm, Stack::kSglang, Stack::kTrtLlm}) {
      Job job;
      job.kind = JobKind::kServe, job.stack = stack;
      job.serve.isl = 8000, job.serve.osl = 100, job.serve.concurrency = 1;
      const ServeLoad load{.kv_tokens = kv_token_capacity(shape, job, *gpu), .rate = {}};
      const auto e = estimate_serving(built_in_constants(), work, job, gpu_speed(built_in_constants(), *gpu),
                                      default_cluster(*gpu), load);
      if (!e) continue;
      const double flops = 2 * (work.active_parameters - 2 * work.head_parameters) * 8000;
      for (const TimePart& part : e->prefill_parts) {
        if (std::string_view(part.name) != "matrix products") continue;
        EXPECT_LT(flops / in_seconds(part.time), in_flop_per_s(*gpu->half_rate())) << gpu->name;
      }
    }
  }
}

TEST(Physics, BetterGpusAreNotSlower) {
  Draw draw(2);
  const auto gpus = common_gpus();
  std::vector<std::pair<const Gpu*, const Gpu*>> pairs;
  for (const Gpu* a : gpus) {
    for (const Gpu* b : gpus) {
      if (a != b && at_least_as_good(*b, *a)) pairs.emplace_back(a, b);
    }
  }
  ASSERT_GT(pairs.size(), 100U);
  std::map<std::string, std::pair<model::ModelShape, ModelWork>> models;
  for (const char* name : {"llama-3.1-8b", "llama-3.1-70b", "qwen3-30b-a3b", "gpt-oss-20b", "mistral-7b-v0.3"}) {
    const model::ModelShape shape = *model::find_model(name);
    models.emplace(name, std::pair{shape, work_of(shape)});
  }
  for (const auto& [worse, better] : pairs) {
    for (int i = 0; i < 12; ++i) {
      const char* name = draw.of({"llama-3.1-8b", "llama-3.1-70b", "qwen3-30b-a3b", "gpt-oss-20b", "mistral-7b-v0.3"});
      const auto& shape = models.at(name).first;
      const auto& work = models.at(name).second;
      Job job;
      job.kind = JobKind::kServe;
      job.stack = worse->vendor == "AMD" ? draw.of({Stack::kVllm, Stack::kSglang})
                                         : draw.of({Stack::kVllm, Stack::kSglang, Stack::kTrtLlm});
      job.precision = draw.of({Precision::kBf16, Precision::kFp8, Precision::kInt8, Precision::kInt4, Precision::kFp4});
      job.parallel.gpus = job.parallel.tensor = draw.of({1, 2, 4, 8});
      job.serve.isl = draw.between(128, 16384), job.serve.osl = draw.between(64, 2048);
      job.serve.concurrency = draw.between(1, 512);
      const auto on = [&](const Gpu& gpu) {
        const ServeLoad load{.kv_tokens = kv_token_capacity(shape, job, gpu), .rate = {}};
        return estimate_serving(built_in_constants(), work, job, gpu_speed(built_in_constants(), gpu),
                                default_cluster(gpu), load);
      };
      const auto slow = on(*worse), fast = on(*better);
      if (!slow || !fast || std::abs(slow->running / fast->running - 1) > 0.001) continue;
      const std::string text =
          fmt::format("{} on {} against {}: {} {} tp {} isl {} osl {} concurrency {}", name, worse->name, better->name,
                      model::name_of(job.stack), model::name_of(job.precision), job.parallel.tensor, job.serve.isl,
                      job.serve.osl, job.serve.concurrency);
      EXPECT_LE(fast->tpot, slow->tpot * 1.02) << text;
      // SGLang runs prompts in separate passes: faster decoding brings the next prompts sooner.
      if (job.stack != Stack::kSglang) {
        EXPECT_LE(fast->ttft, slow->ttft * 1.02) << text;
      }
    }
  }
}

// The relative is named, and its losses are inherited: no unmeasured GPU reaches more of its data sheet than kernels
// do.
TEST(Physics, UnmeasuredGpusNameTheirRelative) {
  const auto relative = [](const char* name) {
    return gpu_speed(built_in_constants(), **built_in_catalog().find_gpu(name)).relative;
  };
  EXPECT_EQ(relative("h100-sxm"), "");
  EXPECT_EQ(relative("gb200"), "");
  EXPECT_EQ(relative("mi325x"), "mi300x");
  EXPECT_EQ(relative("l4"), "l40s");
  EXPECT_EQ(relative("rtx-5090"), "rtx-pro-6000");
  EXPECT_EQ(relative("mi355x"), "mi300x");
  EXPECT_EQ(relative("mi250x"), "mi300x");
  EXPECT_EQ(relative("h100-pcie"), "h100-sxm");
}

// One token at a time reads every weight it uses and computes two operations for each.
TEST(Physics, DecodingOneRequestIsBoundByMemory) {
  for (const char* name : {"gpt-oss-120b", "gpt-oss-20b", "llama-3.1-8b", "mixtral-8x7b", "qwen3-30b-a3b"}) {
    const model::ModelShape shape = *model::find_model(name);
    const ModelWork work = work_of(shape);
    for (const char* gpu_name : {"h100-sxm", "h200-sxm", "b200-sxm", "a100-80gb-sxm"}) {
      const Gpu& gpu = **built_in_catalog().find_gpu(gpu_name);
      for (const Precision precision : {Precision::kBf16, Precision::kFp8, Precision::kFp4}) {
        Job job;
        job.kind = JobKind::kServe, job.stack = Stack::kVllm, job.precision = precision;
        const ServeLoad load{.kv_tokens = kv_token_capacity(shape, job, gpu), .rate = {}};
        const auto estimate = estimate_serving(built_in_constants(), work, job, gpu_speed(built_in_constants(), gpu),
                                               default_cluster(gpu), load);
        if (estimate) {
          EXPECT_NE(estimate->bound, Bound::kCompute) << name << " on " << gpu_name;
        }
      }
    }
  }
}

// A batch of one reads every weight of the decoder for each token, or waits for the host; long answers take longer
// than their prompt, so that decides.
TEST(Physics, LongAnswersOfEagerModelsAreNotBoundByCompute) {
  for (const char* name : {"whisper-large-v3", "whisper-small", "llama-3.2-1b"}) {
    const model::ModelShape shape = *model::find_model(name);
    const ModelWork work = work_of(shape);
    for (const Gpu& gpu : built_in_catalog().gpus) {
      Job job;
      job.kind = JobKind::kServe, job.stack = Stack::kHf, job.serve.concurrency = 1, job.serve.osl = 400;
      const ServeLoad load{.kv_tokens = 1e5, .rate = {}};
      const auto estimate = estimate_serving(built_in_constants(), work, job, gpu_speed(built_in_constants(), gpu),
                                             default_cluster(gpu), load);
      if (estimate && estimate->tpot * 399 > estimate->prefill) {
        EXPECT_NE(estimate->bound, Bound::kCompute) << name << " on " << gpu.name;
      }
    }
  }
}

// GPUs that share an image or a video divide the work of its steps and add traffic between them; text encoders and
// decoder are not divided. So n of them are at most n times as fast, and a GPU makes at most as many items.
TEST(Physics, GpusThatShareAnItemAreNotFasterThanTheirNumber) {
  Draw draw(7);
  const auto gpus = common_gpus();
  for (int i = 0; i < 300; ++i) {
    const char* name = draw.of({"flux.1-dev", "stable-diffusion-3.5-medium", "wan2.1-t2v-14b", "hunyuanvideo",
                                "cogvideox1.5-5b", "pixart-sigma"});
    const Gpu& chip = draw.gpu(gpus);
    const GpuSpeed gpu = gpu_speed(built_in_constants(), chip);
    const model::ModelShape shape = *model::find_model(name);
    const ModelWork work = work_of(shape);
    Job job;
    job.kind = JobKind::kServe, job.stack = Stack::kHf;
    job.batch = draw.of({1, 2, 4}), job.image.steps = static_cast<int>(draw.between(1, 50));
    const auto one = estimate_batch(built_in_constants(), work, job, gpu);
    const int n = job.parallel.tensor = job.parallel.gpus = draw.of({2, 4, 8});
    const auto shared = estimate_batch(built_in_constants(), work, job, gpu);
    ASSERT_TRUE(one && shared) << name;
    const std::string where = std::string(name) + " on " + std::to_string(n) + " x " + chip.name;
    EXPECT_GE(in_seconds(shared->batch) * n, in_seconds(one->batch)) << where;
    EXPECT_LE(shared->samples_per_second, one->samples_per_second) << where;
    EXPECT_GT(shared->parts.size(), one->parts.size()) << where;
    Seconds sum;
    for (const TimePart& part : shared->parts) sum += part.time;
    EXPECT_NEAR(sum / shared->batch, 1, 1e-6) << where;
  }
}

}  // namespace
}  // namespace rightsize::perf
