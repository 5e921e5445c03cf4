#include <cmath>
#include <map>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "base/coverage.h"
#include "catalog/test_catalog.h"
#include "memory/memory.h"
#include "perf/perf.h"
#include "perf/stacks/engine_step.h"
#include "perf/test_constants.h"
#include "presets/presets.h"

namespace rightsize::perf {
namespace {

using model::Job;

// A model served on a GPU; both are looked up once.
struct Served {
  const model::ModelShape& model;
  const ModelWork& work;
  const catalog::Gpu& gpu;
  GpuSpeed speed;
  Job job;
  RequestsPerSecond rate = {};

  static const model::ModelShape& shape(const std::string& name) {
    static std::map<std::string, model::ModelShape> kept;
    if (!kept.contains(name)) kept.emplace(name, *model::find_model(name));
    return kept.at(name);
  }
  static const ModelWork& work_for(const std::string& name) {
    static std::map<std::string, ModelWork> kept;
    if (!kept.contains(name)) kept.emplace(name, work_of(shape(name)));
    return kept.at(name);
  }

  Served(const std::string& name, const std::string& on, model::Stack stack = model::Stack::kVllm)
      : model(shape(name)),
        work(work_for(name)),
        gpu(**built_in_catalog().find_gpu(on)),
        speed(gpu_speed(built_in_constants(), gpu)) {
    job.kind = model::JobKind::kServe;
    job.stack = stack;
    job.serve.isl = 1024, job.serve.osl = 1024, job.serve.concurrency = 64;
  }
  Served& split(int tensor, int expert = 1, int attention = 1) {
    job.parallel = {.gpus = tensor, .tensor = tensor, .expert = expert, .attention_data = attention};
    return *this;
  }
  Result<ServeEstimate> estimate() const {
    const ServeLoad load{.kv_tokens = kv_token_capacity(model, job, gpu), .rate = rate};
    return estimate_serving(built_in_constants(), work, job, speed, default_cluster(gpu), load);
  }
};

double ttft_of(const Served& served) {
  const Result<ServeEstimate> e = served.estimate();
  return e ? in_seconds(e->ttft) : -1;
}

Served any_served() {
  const auto name = *rc::gen::element<std::string>("llama-3.1-8b", "gpt-oss-120b", "qwen3-30b-a3b", "deepseek-r1");
  const auto gpu = *rc::gen::element<std::string>("h200-sxm", "b200-sxm", "mi300x");
  const auto stack = *rc::gen::element(model::Stack::kVllm, model::Stack::kTrtLlm, model::Stack::kSglang);
  Served served(name, gpu, stack);
  served.job.precision = name == "llama-3.1-8b" ? model::Precision::kBf16 : model::Precision::kFp8;
  served.split(8);
  served.job.serve.isl = *rc::gen::inRange<std::int64_t>(1, 16'000);
  served.job.serve.osl = *rc::gen::inRange<std::int64_t>(1, 16'000);
  served.job.serve.concurrency = *rc::gen::inRange<std::int64_t>(1, 2'000);
  return served;
}

// One more token or request never gives an earlier answer, and never a much later one: no rule starts abruptly at a
// length.
RC_GTEST_PROP(Ttft, IsMonotoneAndWithoutJumps, ()) {
  Served served = any_served();
  const auto field =
      *rc::gen::element(&model::ServeSettings::isl, &model::ServeSettings::osl, &model::ServeSettings::concurrency);
  const double before = ttft_of(served);
  RC_PRE(before > 0);
  const auto value = static_cast<double>(served.job.serve.*field);
  served.job.serve.*field += 1;
  const double after = ttft_of(served);
  // Whole cache pages and whole requests that fit make small steps downwards possible. If prompts run before decoding,
  // longer answers leave prompts a smaller share of the time, and thus a shorter queue.
  RC_ASSERT(after >= before * (1 - 0.02 - 0.25 / value));
  // Proportional growth is 1 / value; a queue that begins to form grows by one request's answer.
  const double answer = in_seconds(served.estimate()->tpot) * static_cast<double>(served.job.serve.osl);
  RC_ASSERT(after <= before * (1.1 + 4 / value) + 5 * answer / value);
}

// SGLang's front end is one process: a single request pays only for its arrival, more requests never wait less, and the
// process never sends more tokens than it has time for.
RC_GTEST_PROP(FrontEnd, IsAQueueForConcurrentRequests, ()) {
  Served served = any_served();
  served.job.stack = model::Stack::kSglang;
  Constants slower = built_in_constants(), none = built_in_constants();
  slower.sglang.front_token = built_in_constants().sglang.front_token * 2;
  none.sglang.front_token = none.sglang.front_request = Seconds{};
  const ServeLoad load{.kv_tokens = kv_token_capacity(served.model, served.job, served.gpu), .rate = {}};
  auto with = [&](const Constants& some) {
    return estimate_serving(some, served.work, served.job, served.speed, default_cluster(served.gpu), load);
  };
  RC_PRE(with(none).has_value());
  const ServeEstimate plain = *with(none), front = *with(built_in_constants()), slow = *with(slower);
  const Seconds arrival = built_in_constants().sglang.front_request;
  RC_ASSERT(front.ttft >= plain.ttft + arrival * 0.999);
  // Slower answers shorten the queue for prompts, but never the whole time of a request.
  const auto whole = [&](const ServeEstimate& e) {
    return e.ttft + e.tpot * static_cast<double>(served.job.serve.osl);
  };
  RC_ASSERT(whole(slow) >= whole(front) * 0.999);
  RC_ASSERT(front.tpot >= plain.tpot && slow.tpot >= front.tpot);
  RC_ASSERT(in_tokens_per_s(slow.output_per_gpu) * served.job.parallel.gpus * in_seconds(slower.sglang.front_token) <=
            1.001);
  served.job.serve.concurrency = 1;
  RC_ASSERT(in_seconds(with(built_in_constants())->ttft - with(none)->ttft) <
            1.001 * in_seconds(arrival + built_in_constants().sglang.front_token));
}

TEST(FrontEnd, MoreThanItSendsIsUnstable) {
  Served served("llama-3.1-8b", "b200-sxm", model::Stack::kSglang);
  served.split(8);
  const EngineConstants& c = built_in_constants().sglang;
  const double each = in_seconds(c.front_request) + in_seconds(c.front_token) * 1024 * c.length_share;
  auto at = [&](double share) {
    const ServeLoad load{.kv_tokens = kv_token_capacity(served.model, served.job, served.gpu),
                         .rate = requests_per_s(share / each)};
    return *estimate_serving(built_in_constants(), served.work, served.job, served.speed, default_cluster(served.gpu),
                             load);
  };
  EXPECT_FALSE(at(1.01).stable);
  EXPECT_GT(at(0.5).utilization, 0.499);
}

// Prompts in separate passes read the weights again; prompts that share a decode step do not.
TEST(Serving, PromptsInSeparatePassesTakeLonger) {
  Served served("gpt-oss-120b", "h200-sxm");
  served.split(2);
  const ServeLoad load{.kv_tokens = kv_token_capacity(served.model, served.job, served.gpu), .rate = {}};
  auto with = [&](double mixed) {
    Constants changed = built_in_constants();
    changed.vllm.mixed_passes = mixed;
    return *estimate_serving(changed, served.work, served.job, served.speed, default_cluster(served.gpu), load);
  };
  EXPECT_GT(with(0).tpot, with(1).tpot);
  EXPECT_GT(with(0).ttft, with(1).ttft);
  EXPECT_EQ(with(0).decode_step, with(1).decode_step);
}

// Engines share a library for products in 16 bits and bring their own kernels for narrower ones.
TEST(Serving, KernelsForNarrowProductsChangeNothingInSixteenBits) {
  Served served("llama-3.1-70b", "h200-sxm", model::Stack::kTrtLlm);
  served.split(4);
  auto step_with = [&](model::Precision precision, double factor) {
    served.job.precision = precision;
    Constants changed = built_in_constants();
    changed.trtllm.narrow_products *= factor;
    const ServeLoad load{.kv_tokens = kv_token_capacity(served.model, served.job, served.gpu), .rate = {}};
    return *estimate_serving(changed, served.work, served.job, served.speed, default_cluster(served.gpu), load);
  };
  EXPECT_EQ(step_with(model::Precision::kBf16, 2).tpot, step_with(model::Precision::kBf16, 1).tpot);
  EXPECT_GT(step_with(model::Precision::kFp8, 2).decode_step, step_with(model::Precision::kFp8, 1).decode_step);
  EXPECT_GT(step_with(model::Precision::kFp8, 2).prefill, step_with(model::Precision::kFp8, 1).prefill * 1.05);
}

// No answer is faster than reading the layers' weights from memory, whatever the engine's constants.
RC_GTEST_PROP(Tpot, IsNeverShorterThanReadingTheWeights, ()) {
  const auto gpu = *rc::gen::element<std::string>("h100-sxm", "h200-sxm", "b200-sxm", "rtx-pro-6000", "a100-80gb-sxm");
  const auto stack = *rc::gen::element(model::Stack::kVllm, model::Stack::kTrtLlm, model::Stack::kSglang);
  Served served("llama-3.1-8b", gpu, stack);
  served.split(1 << *rc::gen::inRange(0, 3));
  served.job.precision = model::Precision::kBf16;
  served.job.serve.concurrency = *rc::gen::inRange<std::int64_t>(1, 64);
  const double weights = 2.0 * (served.work.parameters - 2.0 * served.work.head_parameters);
  const double reading = weights / served.job.parallel.tensor / (0.96 * in_bytes_per_s(served.gpu.bandwidth));
  RC_ASSERT(in_seconds(served.estimate()->tpot) > reading);
}

TEST(Experts, ReachedByTokens) {
  EXPECT_NEAR(share_reached(4.0 / 128, 1, 0), 4.0 / 128, 1e-12);
  EXPECT_GT(share_reached(4.0 / 128, 64, 0), share_reached(4.0 / 128, 64, 1));  // popular experts are chosen repeatedly
  EXPECT_NEAR(share_reached(4.0 / 128, 64, 1e6), share_reached(4.0 / 128, 64, 0), 1e-3);
  EXPECT_LT(share_reached(4.0 / 128, 1e6, 1), 1);
}

TEST(Serving, ExpertsAndAttentionCanBeSpreadSeparately) {
  const Served whole = Served("deepseek-r1", "h200-sxm").split(8);
  Served spread = Served("deepseek-r1", "h200-sxm").split(8, 8, 8);
  spread.job.precision = model::Precision::kFp8;
  Served tensor = whole;
  tensor.job.precision = model::Precision::kFp8;
  // Latent attention keeps one copy of the cache on every GPU of a group: eight groups hold far more requests.
  EXPECT_GT(spread.estimate()->max_concurrency, 3 * tensor.estimate()->max_concurrency);
}

TEST(Serving, SeparateWorkersHaveNoPrefillInTheirSteps) {
  Served apart("gpt-oss-120b", "gb200", model::Stack::kTrtLlm);
  apart.job.precision = model::Precision::kFp4;
  apart.split(4);
  apart.job.serve.disaggregated = model::Disaggregated{1, 1, 1, 4};
  apart.job.parallel.gpus = 5;
  const ServeEstimate e = *apart.estimate();
  for (const TimePart& part : e.parts) EXPECT_STRNE(part.name, "prefills of other requests");
  EXPECT_GT(e.transfer, Seconds{});
  EXPECT_GT(e.ttft, e.prefill + e.transfer);
}

// More prefill workers never increase waiting, and with few of them requests queue.
TEST(Serving, PrefillWorkersBoundTheThroughput) {
  Served apart("gpt-oss-120b", "gb200", model::Stack::kTrtLlm);
  apart.job.precision = model::Precision::kFp4;
  apart.split(4);
  apart.job.serve.isl = 8192, apart.job.serve.concurrency = 512;
  double last = 1e9;
  for (int workers : {1, 2, 4, 8}) {
    apart.job.serve.disaggregated = model::Disaggregated{workers, 1, 1, 4};
    apart.job.parallel.gpus = 4 + workers;
    const ServeEstimate e = *apart.estimate();
    EXPECT_LE(e.requests_per_second, workers / in_seconds(e.prefill) * 1.2);
    EXPECT_LT(in_seconds(e.ttft), last);
    last = in_seconds(e.ttft);
  }
}

TEST(Serving, PrefixHitsShortenThePromptOnly) {
  Served cold("llama-3.1-8b", "h100-sxm");
  Served warm = cold;
  warm.job.serve.prefix_hit = 0.8;
  EXPECT_LT(warm.estimate()->prefill, cold.estimate()->prefill * 0.5);
  EXPECT_EQ(warm.estimate()->decode_step, cold.estimate()->decode_step);
}

TEST(Serving, SpeculationPaysIfStepsAreMemoryBound) {
  Served plain("llama-3.1-70b", "h200-sxm");
  plain.split(4);
  plain.job.serve.concurrency = 4;
  Served ahead = plain;
  ahead.job.serve.speculation.tokens = 3;
  const double gain = plain.estimate()->tpot / ahead.estimate()->tpot;
  EXPECT_GT(gain, 1.5);
  EXPECT_LT(gain, (1 - std::pow(0.8, 4)) / (1 - 0.8));  // the gain of four free tokens
  ahead.job.serve.speculation.acceptance = 0.05;
  EXPECT_GT(ahead.estimate()->tpot, plain.estimate()->tpot);
}

// Later drafts are accepted less often, below the geometric law, and more drafts never give fewer accepted tokens.
TEST(Speculation, AcceptanceFallsWithDepth) {
  for (const double first : {0.5, 0.8, 0.93}) {
    double before = 1;
    for (int drafts = 1; drafts <= 8; ++drafts) {
      const double kept = accepted_tokens(built_in_constants(), {drafts, first, ""});
      EXPECT_GE(kept, before);
      EXPECT_LE(kept, (1 - std::pow(first, drafts + 1)) / (1 - first) + 1e-9);
      before = kept;
    }
    EXPECT_DOUBLE_EQ(accepted_tokens(built_in_constants(), {1, first, ""}), 1 + first);
  }
}

TEST(Speculation, AMethodHasItsMeasuredCurve) {
  EXPECT_NEAR(accepted_tokens(built_in_constants(), {3, 0.8, "eagle3"}), (2.88 + 2.75) / 2, 1e-9);
  Served unknown("llama-3.1-8b", "h100-sxm");
  unknown.job.serve.speculation = {3, 0.8, "oracle"};
  const Result<ServeEstimate> refused = unknown.estimate();
  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error().hints, testing::Contains(testing::HasSubstr("eagle3")));
}

// A scheduler that checks its queue rarely delays only first tokens.
TEST(Serving, ARequestWaitsUntilItIsNoticed) {
  Served often("llama-3.1-8b", "h100-sxm", model::Stack::kSglang), seldom = often;
  often.job.serve.poll_steps = 1, seldom.job.serve.poll_steps = 41;
  const ServeEstimate a = *often.estimate(), b = *seldom.estimate();
  EXPECT_NEAR((b.ttft - a.ttft) / a.decode_step, 20, 0.2);  // the front end has more time meanwhile
  EXPECT_DOUBLE_EQ(in_seconds(a.tpot), in_seconds(b.tpot));
}

RC_GTEST_PROP(OpenLoop, PercentilesAreOrdered, ()) {
  Served served("llama-3.1-8b", "h100-sxm", *rc::gen::element(model::Stack::kVllm, model::Stack::kSglang));
  served.job.serve.isl = *rc::gen::inRange(16, 8000), served.job.serve.osl = *rc::gen::inRange(2, 1000);
  served.rate = requests_per_s(0.1 * *rc::gen::inRange(1, 60));
  const ServeEstimate e = *served.estimate();
  RC_PRE(e.stable);
  for (const Percentiles& p : {e.ttft_percentiles, e.tpot_percentiles, e.latency_percentiles}) {
    RC_ASSERT(p.p50 > Seconds{});
    RC_ASSERT(p.p50 <= p.p95);
    RC_ASSERT(p.p95 <= p.p99);
  }
  RC_ASSERT(e.latency_percentiles.p95 >= e.latency);
}

// The memory and speed models agree on the number of requests that the cache holds.
RC_GTEST_PROP(ServedMemory, HoldsTheEstimatedNumberOfRequests, ()) {
  Served served(*rc::gen::element<std::string>("llama-3.1-8b", "qwen3-32b", "gpt-oss-120b", "deepseek-v3"),
                *rc::gen::element<std::string>("h200-sxm", "b200-sxm", "mi300x"),
                *rc::gen::element(model::Stack::kVllm, model::Stack::kSglang, model::Stack::kTrtLlm));
  served.split(*rc::gen::element(1, 2, 8));
  served.job.serve.isl = *rc::gen::inRange(16, 8000), served.job.serve.osl = *rc::gen::inRange(1, 2000);
  const Result<ServeEstimate> e = served.estimate();
  RC_PRE(e.has_value());
  const memory::MemoryNeed need = memory::estimate_memory(served.model, served.job, &served.gpu);
  RC_ASSERT(static_cast<double>(*need.max_concurrency) == e->max_concurrency);
}

TEST(Serving, NormsOverAllHeadsCostASumPerLayer) {
  const Served served("olmo-2-7b", "h200-sxm");
  const Cluster cluster = default_cluster(served.gpu);
  ModelWork plain = served.work;
  plain.norm_reductions = 0;
  for (int tensor : {1, 4}) {
    EngineLayout layout;
    layout.tensor = tensor;
    const Seconds with = decode_work(served.work, served.speed, cluster, layout, 16, 1024).all_reduce;
    const Seconds without = decode_work(plain, served.speed, cluster, layout, 16, 1024).all_reduce;
    const Seconds each = engine_all_reduce_time(served.speed, cluster, tensor, bytes(8 * 16));
    EXPECT_NEAR(in_seconds(with - without), in_seconds(each) * served.work.layers, 1e-9);
  }
}

// A captured step includes only a share of each kernel's own latency.
TEST(Serving, LatencyOfKernelsInACapturedStepIsAShareOfTheirOwn) {
  const Served served("llama-3.1-8b", "h200-sxm");
  const ServeLoad load{.kv_tokens = kv_token_capacity(served.model, served.job, served.gpu), .rate = {}};
  auto step_with = [&](double share) {
    Constants changed = built_in_constants();
    changed.vllm.decode_latency = share;
    return estimate_serving(changed, served.work, served.job, served.speed, default_cluster(served.gpu), load)
        ->decode_step;
  };
  const Seconds none = step_with(0), half = step_with(0.5), all = step_with(1);
  EXPECT_LT(none, half);
  EXPECT_LT(half, all);
  EXPECT_NEAR((half - none) / (all - half), 1, 0.2);  // except for what the host hides
}

// The same weights never need less memory when spread over attention groups.
RC_GTEST_PROP(ServedMemory, AttentionGroupsRepeatAttentionWeights, ()) {
  Served served("deepseek-r1", "b200-sxm");
  served.job.precision = model::Precision::kFp8;
  const int groups = *rc::gen::element(2, 4, 8);
  served.split(8);
  const auto before = memory::estimate_memory(served.model, served.job, &served.gpu);
  served.split(8, 8, groups);
  const auto after = memory::estimate_memory(served.model, served.job, &served.gpu);
  RC_ASSERT(after.parts[memory::Part::kWeights] > before.parts[memory::Part::kWeights]);
  RC_ASSERT(*after.max_concurrency >= *before.max_concurrency);
}

// An engine that only reads prompts is slower than the matrix products measured on its GPU, and reads prompts of the
// stated lengths: elementwise kernels, attention and gaps take their part however requests overlap.
RC_GTEST_PROP(OnePass, AnEngineNeverBeatsItsOwnPasses, ()) {
  Served served(*rc::gen::element<std::string>("mistral-7b", "llama-3.1-8b", "qwen2.5-14b", "llama-3.2-1b"),
                *rc::gen::element<std::string>("h100-sxm", "gh200-96gb", "h200-sxm", "a100-80gb-sxm"));
  served.job.serve.isl = *rc::gen::inRange(64, 2000);
  served.job.serve.osl = 1;
  served.job.serve.concurrency = *rc::gen::inRange(1, 1024);
  const auto e = served.estimate();
  RC_ASSERT(bool(e));
  double weights = 0;  // without the vocabulary, which only the last token needs
  for (const LayerWork& layer : served.work.kinds)
    for (const Product& product : layer.products) weights += layer.count * product.outputs_on(1) * product.inputs_on(1);
  const double rate = e->requests_per_second * static_cast<double>(served.job.serve.isl) * 2 * weights;
  const double products = served.speed.matmul[0].rate * in_flop_per_s(served.speed.half);
  RC_ASSERT(rate < 0.95 * products);
}

// Work done by itself: the items of a job have the stated lengths, those of a benchmark are drawn up to them.
RC_GTEST_PROP(OnePass, ItemsOfAJobAreNotShorterThanStated, ()) {
  Served served("llama-3.1-8b", *rc::gen::element<std::string>("h100-sxm", "b200-sxm", "l40s"));
  served.job.serve.isl = *rc::gen::inRange(100, 8000);
  served.job.serve.osl = *rc::gen::inRange(2, 800);
  served.job.serve.concurrency = *rc::gen::inRange(1, 256);
  ServeLoad load{.kv_tokens = kv_token_capacity(served.model, served.job, served.gpu), .rate = {}};
  const auto at = [&] {
    return estimate_serving(built_in_constants(), served.work, served.job, served.speed, default_cluster(served.gpu),
                            load)
        ->requests_per_second;
  };
  const double benchmark = at();
  load.of_job = true;
  RC_ASSERT(at() <= benchmark);
}

// Published 4-bit experts are computed in 16 bits where engines have no kernels for the GPU: never faster than that.
TEST(Experts, ExpandedOnesStayBelowTheSixteenBitPeak) {
  int expanded = 0;
  for (const catalog::Gpu& gpu : built_in_catalog().gpus) {
    if (!gpu.compute_capability.starts_with("12.")) continue;
    for (const model::Stack stack : {model::Stack::kVllm, model::Stack::kSglang}) {
      Served served("gpt-oss-20b", gpu.name, stack);
      served.job.precision = model::Precision::kFp4;
      served.job.serve.isl = 4000, served.job.serve.concurrency = 1;
      if (kv_token_capacity(served.model, served.job, gpu) < 6000) continue;
      const auto e = served.estimate();
      ASSERT_TRUE(e) << gpu.name;
      const auto part = std::ranges::find(e->prefill_parts, std::string_view("experts"), &TimePart::name);
      ASSERT_NE(part, e->prefill_parts.end()) << gpu.name;
      const model::ExpertsOp& how = served.work.mixtures.front();
      const double flops = 2.0 * 3 * 0.95 * 4000 * static_cast<double>(how.per_token * how.hidden * how.intermediate) *
                           served.work.expert_layers;
      EXPECT_LT(flops / in_seconds(part->time), in_flop_per_s(served.speed.half)) << gpu.name;
      EXPECT_TRUE(std::ranges::any_of(e->notes, [](const Note& n) { return n.kind == NoteKind::kExpandedExperts; }));
      ++expanded;
    }
  }
  EXPECT_GT(expanded, 2);
}

}  // namespace
}  // namespace rightsize::perf
