#include "memory/serve.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "memory/kv_cache.h"
#include "memory/options.h"
#include "memory/weight_bytes.h"
#include "presets/presets.h"

namespace rightsize::memory {
namespace {

using model::Job;
using model::JobKind;
using model::ModelShape;
using model::Precision;
using model::Stack;

const ModelShape& model(const std::string& name) {
  static std::map<std::string, ModelShape> shapes;
  auto found = shapes.find(name);
  if (found == shapes.end()) found = shapes.emplace(name, *model::find_model(name)).first;
  return found->second;
}

Job serving(Precision precision = Precision::kBf16) {
  Job job;
  job.kind = JobKind::kServe;
  job.stack = Stack::kVllm;
  job.precision = precision;
  return job;
}

catalog::Gpu gpu_of(Bytes memory) {
  catalog::Gpu gpu;
  gpu.name = "test";
  gpu.memory = memory;
  return gpu;
}

TEST(WeightBytes, SixteenBitWeightsTakeExactlyTwoBytesPerParameter) {
  for (const char* name : {"llama-3.1-8b", "gpt2", "mixtral-8x7b", "bert-large"}) {
    const Bytes held = model_weight_bytes(model(name), Precision::kBf16, {}, false);
    EXPECT_DOUBLE_EQ(in_bytes(held), 2.0 * static_cast<double>(model(name).parameters())) << name;
  }
}

// Llama-3.1-8B: linears in the layers are 32 x (2 x 4096^2 + 2 x 1024 x 4096 + 3 x 14336 x 4096) = 6,979,321,856
// parameters; embedding, head and norms are the other 1,050,939,392, which stay at two bytes.
TEST(WeightBytes, QuantizedWeightsMatchAHandCalculation) {
  const ModelShape& llama = model("llama-3.1-8b");
  constexpr double kLinear = 6'979'321'856.0, kRest = 1'050'939'392.0;
  constexpr double kRows = 32.0 * (4096 + 1024 + 1024 + 4096 + 14336 + 14336 + 4096);
  EXPECT_DOUBLE_EQ(in_bytes(model_weight_bytes(llama, Precision::kFp8, {}, false)), kLinear + 4 * kRows + 2 * kRest);
  EXPECT_DOUBLE_EQ(in_bytes(model_weight_bytes(llama, Precision::kInt4, {}, false)),
                   kLinear / 2 + kLinear / 128 * 2.5 + 2 * kRest);
  // NVFP4: half a byte and one byte per 16, one fp32 for each of 7 x 32 matrices.
  EXPECT_DOUBLE_EQ(in_bytes(model_weight_bytes(llama, Precision::kFp4, {}, false)),
                   kLinear * 0.5625 + 4 * 7 * 32 + 2 * kRest);
  // nf4 with double quantization: half a byte, one byte per 64, four per 64 x 256, and 1,092 bytes of code books each.
  EXPECT_DOUBLE_EQ(in_bytes(model_weight_bytes(llama, Precision::kNf4, {}, false)),
                   kLinear / 2 + kLinear / 64 + 4 * kLinear / 64 / 256 + 1092.0 * 7 * 32 + 2 * kRest);
}

TEST(WeightBytes, ParallelismDividesSplitWeights) {
  model::Parallelism parallel;
  parallel.gpus = parallel.tensor = 8;
  const ModelShape& llama = model("llama-3.1-70b");
  const double whole = in_bytes(model_weight_bytes(llama, Precision::kBf16, {}, false));
  const double part = in_bytes(model_weight_bytes(llama, Precision::kBf16, parallel, false));
  EXPECT_NEAR(part / whole, 1.0 / 8, 0.0005) << "only the norms are repeated";
}

// Llama-3.1-8B: 2 x 32 layers x 8 key heads x 128 x 2 bytes = 131,072 bytes per token.
TEST(KvCache, GroupedHeadsMatchAHandCalculation) {
  EXPECT_DOUBLE_EQ(in_bytes(kv_token_bytes(model("llama-3.1-8b"), {})), 131072);
  KvLayout fp8{Precision::kFp8, 4, 1, 1};
  EXPECT_DOUBLE_EQ(in_bytes(kv_token_bytes(model("llama-3.1-8b"), fp8)), 131072 / 2.0 / 4);
  KvLayout sixteen_gpus{Precision::kBf16, 16, 1, 1};
  EXPECT_DOUBLE_EQ(in_bytes(kv_token_bytes(model("llama-3.1-8b"), sixteen_gpus)), 131072 / 8.0)
      << "a GPU holds a whole head at least";
}

// DeepSeek-V3: 61 layers x (512 + 64) x 2 bytes, the same on every GPU of a tensor group.
TEST(KvCache, LatentAttentionIsNotSplit) {
  KvLayout eight{Precision::kBf16, 8, 1, 1};
  EXPECT_DOUBLE_EQ(in_bytes(kv_token_bytes(model("deepseek-v3"), eight)), 61.0 * 576 * 2);
}

TEST(KvCache, PagesRoundUpAndWindowsCutOff) {
  KvLayout paged{Precision::kBf16, 1, 1, 16};
  EXPECT_DOUBLE_EQ(in_bytes(kv_sequence_bytes(model("llama-3.1-8b"), 17, paged)), 32 * 131072.0);
  // Mistral-7B v0.1 keeps 4,096 tokens for any sequence length.
  const ModelShape& mistral = model("mistral-7b-v0.1");
  EXPECT_EQ(kv_sequence_bytes(mistral, 30000, {}), kv_sequence_bytes(mistral, 4096, {}));
}

// 8-bit weights do not imply an 8-bit cache: the checkpoint must include its scales.
RC_GTEST_PROP(KvCache, IsNarrowOnlyOnRequestOrWithScales, ()) {
  Job job = serving(*rc::gen::element(Precision::kBf16, Precision::kFp8, Precision::kFp4, Precision::kInt4));
  job.stack = *rc::gen::element(Stack::kVllm, Stack::kSglang, Stack::kHf);
  const Checkpoint checkpoint{job.precision, *rc::gen::arbitrary<bool>()};
  const bool four_bits = *rc::gen::arbitrary<bool>();
  const bool narrow = job.precision == Precision::kFp8 || job.precision == Precision::kFp4;
  const bool scaled = narrow && checkpoint.cache_scales && job.stack != Stack::kHf;
  RC_ASSERT(kv_format(job, checkpoint, four_bits) == (scaled ? Precision::kFp8 : Precision::kBf16));
  job.serve.kv_precision = *rc::gen::element(Precision::kBf16, Precision::kFp8, Precision::kInt8);
  RC_ASSERT(kv_format(job, checkpoint, four_bits) == *job.serve.kv_precision);
}

TEST(KvCache, FormatsOfKnownCheckpoints) {
  const auto format = [](const char* name, Stack stack, Precision precision) {
    Job job = serving(precision);
    job.stack = stack;
    return kv_format(job, checkpoint_of(model(name)), false);
  };
  EXPECT_EQ(format("deepseek-v3", Stack::kVllm, Precision::kFp8), Precision::kBf16);
  EXPECT_EQ(format("Qwen/Qwen3-32B-FP8", Stack::kVllm, Precision::kFp8), Precision::kBf16);
  EXPECT_EQ(format("nvidia/Llama-3.1-8B-Instruct-FP8", Stack::kVllm, Precision::kFp8), Precision::kFp8);
  EXPECT_EQ(format("nvidia/Llama-3.1-8B-Instruct-FP8", Stack::kSglang, Precision::kFp8), Precision::kFp8);
  EXPECT_EQ(format("llama-3.1-8b", Stack::kTrtLlm, Precision::kFp8), Precision::kFp8);
  EXPECT_EQ(format("gpt-oss-20b", Stack::kTrtLlm, Precision::kFp4), Precision::kBf16);
}

TEST(Serving, ConcurrencyFollowsTheEnginesBudget) {
  Job job = serving();
  job.serve.isl = 1000;
  job.serve.osl = 24;
  const catalog::Gpu gpu = gpu_of(gib(80));
  const MemoryNeed need = estimate_serving(model("llama-3.1-8b"), job, &gpu);
  ASSERT_TRUE(need.max_concurrency);
  // 0.9 x 80 GiB less weights, workspace and context, in sequences of 1,024 tokens x 128 KiB.
  const Bytes cache =
      gib(72) - need.parts[Part::kWeights] - need.parts[Part::kActivations] - need.parts[Part::kRuntime];
  EXPECT_EQ(*need.max_concurrency, static_cast<std::int64_t>(cache / mib(128)));
  job.serve.memory_share = 0.5;
  EXPECT_LT(*estimate_serving(model("llama-3.1-8b"), job, &gpu).max_concurrency, *need.max_concurrency);
}

TEST(Serving, WarnsIfTheCacheIsTooSmall) {
  Job job = serving();
  job.serve.concurrency = 10000;
  const catalog::Gpu gpu = gpu_of(gib(24));
  EXPECT_THAT(estimate_serving(model("llama-3.1-8b"), job, &gpu).warnings,
              testing::Contains(testing::HasSubstr("the others queue")));
}

RC_GTEST_PROP(Serving, MemoryGrowsWithContextAndConcurrency, ()) {
  Job job = serving();
  job.serve.isl = *rc::gen::inRange<std::int64_t>(1, 8192);
  job.serve.concurrency = *rc::gen::inRange<std::int64_t>(1, 512);
  const MemoryNeed need = estimate_serving(model("llama-3.1-8b"), job, nullptr);
  RC_ASSERT(need.low < need.device && need.device < need.high);
  Job more = job;
  more.serve.concurrency += 1;
  RC_ASSERT(estimate_serving(model("llama-3.1-8b"), more, nullptr).device > need.device);
  more = job;
  more.serve.isl += 16;
  RC_ASSERT(estimate_serving(model("llama-3.1-8b"), more, nullptr).device > need.device);
}

// If a GPU holds some of the requests, fewer requests are the only change.
RC_GTEST_PROP(CheapestFit, FewerRequestsAloneComeFirst, ()) {
  Job job = serving();
  job.serve.isl = *rc::gen::inRange(256, 32'000);
  job.serve.concurrency = *rc::gen::inRange(1, 2000);
  const catalog::Gpu gpu = gpu_of(gib(*rc::gen::inRange(12, 192)));
  const ModelShape& shape = model("llama-3.1-8b");
  const auto room = estimate_memory(shape, job, &gpu).max_concurrency;
  RC_PRE(room && *room >= 1 && *room < job.serve.concurrency);
  const auto found = cheapest_fit(
      shape, job, gpu, [](const Job&) { return std::nullopt; }, true);
  RC_ASSERT(found.has_value());
  RC_ASSERT(found->taken.size() == 1u);
  RC_ASSERT(found->job.serve.concurrency == *room);
}

// A verdict other than "no" and every option mean that the engine starts: its share holds one request.
RC_GTEST_PROP(CheapestFit, NothingFitsUnlessTheEngineStarts, ()) {
  Job job = serving(*rc::gen::element(Precision::kBf16, Precision::kFp8, Precision::kInt4));
  job.stack = *rc::gen::element(Stack::kVllm, Stack::kSglang, Stack::kTrtLlm);
  job.serve.isl = *rc::gen::inRange(256, 100'000);
  job.serve.memory_share = 0.01 * *rc::gen::inRange(40, 98);
  const ModelShape& shape = model(*rc::gen::element<const char*>("llama-3.1-8b", "llama-3.1-70b", "gemma-3-12b"));
  // Near the smallest GPU that holds it.
  const Bytes least = estimate_memory(shape, job, nullptr).device;
  const catalog::Gpu gpu = gpu_of(least * (0.01 * *rc::gen::inRange(50, 250)));
  const MemoryNeed need = estimate_memory(shape, job, &gpu);
  const bool starts = need.max_concurrency.value_or(0) >= 1;
  if (fits(need, gpu).verdict != Verdict::kNo) RC_ASSERT(starts);
  if (starts && need.high <= gpu.capacity()) RC_ASSERT(fits(need, gpu).verdict != Verdict::kNo);
  for (const bool same_result : {true, false}) {
    const auto found = cheapest_fit(
        shape, job, gpu, [](const Job&) { return std::nullopt; }, same_result);
    if (found) RC_ASSERT(estimate_memory(shape, found->job, &gpu).max_concurrency.value_or(0) >= 1);
  }
}

// --kv-precision auto is the model's format: an engine converts the cache only if told to, or if the checkpoint has
// scales for it.
TEST(Serving, AnAutomaticCacheHasTheFormatOfTheModel) {
  for (const char* precision : {"bf16", "fp8", "int4"}) {
    for (const char* stack : {"vllm", "sglang", "trtllm"}) {
      const auto job = model::parse_job(
          {{"job", "serve", {}}, {"stack", stack, {}}, {"precision", precision, {}}, {"kv-precision", "auto", {}}});
      ASSERT_TRUE(job) << precision;
      EXPECT_EQ(estimate_serving(model("llama-3.1-8b"), *job, nullptr).kv_format, Precision::kBf16) << stack;
    }
  }
}

// If GPUs that share an image or a video hold it, that is a combination that fits: `recommend` plans with it.
TEST(CheapestFit, SeveralGpusForAnItemAreACombination) {
  int shared = 0;
  for (const char* name : {"flux.1-dev", "wan2.1-t2v-14b", "hunyuanvideo", "cogvideox1.5-5b"}) {
    const ModelShape& shape = model(name);
    for (double size = 16; size < 96; size += 2) {
      const catalog::Gpu gpu = gpu_of(gib(size));
      Job job = serving();
      job.stack = Stack::kHf;
      const auto holds = [&](const Job& tried) {
        return check_job(shape, tried).empty() &&
               fits(estimate_memory(shape, tried, &gpu), gpu).verdict == Verdict::kFits;
      };
      Job two = job;
      two.parallel.tensor = two.parallel.gpus = 2;
      if (holds(job) || !holds(two)) continue;
      const auto found = cheapest_fit(
          shape, job, gpu, [](const Job&) { return std::nullopt; }, true);
      ASSERT_TRUE(found) << name << " " << size;
      EXPECT_TRUE(holds(found->job)) << name << " " << size;
      shared += found->job.parallel.tensor > 1 ? 1 : 0;
    }
  }
  EXPECT_GT(shared, 0);
}

// Each of the GPUs that share an item holds all weights and its part of the tokens.
TEST(SharedItems, WeightsStayWholeAndActivationsDoNotGrow) {
  for (const char* name : {"flux.1-dev", "wan2.1-t2v-14b", "hunyuanvideo", "cogvideox1.5-5b"}) {
    Job job = serving();
    job.stack = Stack::kHf;
    MemoryNeed before = estimate_memory(model(name), job, nullptr);
    for (int gpus : {2, 4, 8}) {
      job.parallel.tensor = job.parallel.gpus = gpus;
      ASSERT_TRUE(check_job(model(name), job).empty()) << name;
      const MemoryNeed need = estimate_memory(model(name), job, nullptr);
      EXPECT_EQ(need.parts[Part::kWeights], before.parts[Part::kWeights]) << name;
      EXPECT_LE(need.parts[Part::kActivations], before.parts[Part::kActivations]) << name;
      EXPECT_GE(need.device, need.parts[Part::kWeights]) << name;
      before = need;
    }
  }
}

// Weights of the published files of whole pipelines in 16 bits, in GB: every network, text encoder and image decoder.
TEST(Pipelines, AllNetworksOfAPipelineAreInMemory) {
  const std::map<std::string, double> published{
      {"sdxl-unet", 6.9},       {"flux.1-dev", 33.7},      {"stable-diffusion-3.5-large", 27.6},
      {"wan2.1-t2v-14b", 40.2}, {"wan2.2-t2v-a14b", 68.8}, {"hunyuanvideo", 41.0}};
  for (const auto& [name, gb] : published) {
    const MemoryNeed need = estimate_memory(model(name.c_str()), serving(), nullptr);
    EXPECT_NEAR(1e-9 * in_bytes(need.parts[Part::kWeights]) / gb, 1, 0.03) << name;
  }
  for (const std::string& name : model::preset_names()) {
    const model::ModelShape shape = *model::find_model(name);
    EXPECT_GE(shape.loaded_parameters(), shape.parameters() * (shape.pipeline ? shape.pipeline->networks : 1)) << name;
    if (!shape.pipeline) continue;
    const MemoryNeed need = estimate_memory(shape, serving(), nullptr);
    EXPECT_NEAR(in_bytes(need.parts[Part::kWeights]) / (2.0 * static_cast<double>(shape.loaded_parameters())), 1, 0.001)
        << name;
  }
}

// A split that changes neither time nor memory is refused.
TEST(SharedItems, SplitsWithoutAModelAreRefused) {
  const auto refused = [](const char* name, int tensor, int pipeline) {
    Job job = serving();
    job.serve.isl = 4, job.serve.osl = 100;  // within Whisper's context
    job.parallel.tensor = tensor, job.parallel.pipeline = pipeline, job.parallel.gpus = tensor * pipeline;
    return !check_job(model(name), job).empty();
  };
  for (const char* name : {"bert-large", "vit-l-16", "resnet-50", "sdxl", "sana-1.5-1.6b", "whisper-large-v3"}) {
    EXPECT_FALSE(refused(name, 1, 1)) << name;
    EXPECT_TRUE(refused(name, 2, 1)) << name;
    EXPECT_TRUE(refused(name, 1, 2)) << name;
  }
  EXPECT_TRUE(refused("wan2.1-t2v-14b", 16, 1));
  EXPECT_TRUE(refused("wan2.1-t2v-14b", 3, 1));
  EXPECT_TRUE(refused("flux.1-dev", 2, 2));
}

}  // namespace
}  // namespace rightsize::memory
