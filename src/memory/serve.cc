#include "memory/serve.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "base/format.h"
#include "memory/kv_cache.h"
#include "memory/weight_bytes.h"

namespace rightsize::memory {
namespace {

using model::Job;
using model::ModelShape;
using model::Stack;

// An engine's defaults. Its profiling run reserves workspace for the default batched tokens and sequences; the rule
// defines what the memory share refers to.
struct EngineDefaults {
  Stack stack;
  std::int64_t page;            // tokens in a cache block
  std::int64_t batched_tokens;  // per forward pass
  std::int64_t sequences;       // with logits in memory at once, in fp32
  Bytes graphs;                 // CUDA graphs, outside the share
  enum Rule { kShareOfGpu, kShareOfFree, kNoBudget } rule;
  bool whole_windows = false;  // as in KvLayout
};

// vLLM 0.10+ (V1): gpu_memory_utilization of the whole GPU minus everything that is not cache; blocks of 16; 8,192
// batched tokens; 256 sequences. SGLang: mem_fraction_static of the GPU for weights and cache; single tokens.
// TensorRT-LLM: free_gpu_memory_fraction of the memory left after loading the engine; blocks of 32; without
// max_attention_window, layers with a window keep all tokens (the throughput of gpt-oss on Hopper, with a 16-bit cache,
// implies half the concurrent requests that windows would allow). The other engines keep only the window. Hugging Face
// generate: no budget, the cache grows with the batch.
const EngineDefaults& engine_of(Stack stack) {
  static const EngineDefaults kEngines[] = {
      {Stack::kVllm, 16, 8192, 256, mib(600), EngineDefaults::kShareOfGpu},
      {Stack::kSglang, 1, 8192, 256, mib(900), EngineDefaults::kShareOfGpu},
      {Stack::kTrtLlm, 32, 8192, 256, mib(400), EngineDefaults::kShareOfFree, true},
      {Stack::kHf, 1, 0, 0, Bytes{}, EngineDefaults::kNoBudget},
  };
  for (const EngineDefaults& engine : kEngines) {
    if (engine.stack == stack) return engine;
  }
  return kEngines[0];
}

// Driver context and device memory of the libraries, plus communicators for several GPUs.
Bytes context_bytes(const Job& job) {
  return mib(600) + communicator_bytes(job.parallel.tensor * job.parallel.pipeline);
}

// Live tensors of one transformer layer over `tokens`: residual, normed input, the larger of qkv+out and
// gate+up+product; plus 16-bit and 32-bit logits of the sampled sequences.
Bytes workspace_bytes(const ModelShape& model, const Job& job, const EngineDefaults& engine) {
  const double tokens = engine.batched_tokens > 0
                            ? static_cast<double>(job.serve.max_tokens.value_or(engine.batched_tokens))
                            : static_cast<double>(job.serve.concurrency * job.serve.isl);
  const double sequences = static_cast<double>(engine.sequences > 0 ? engine.sequences : job.serve.concurrency);
  const double hidden = static_cast<double>(model.hidden);
  const double tensor = job.parallel.tensor, own = job.parallel.attention_tensor();
  const double attention = (2.0 * model.heads + 2.0 * model.kv_heads) * model.head_dim / own;
  double ffn = static_cast<double>(model.intermediate);
  if (model.experts)
    ffn = std::max(ffn, static_cast<double>(model.experts->intermediate * model.experts->per_token +
                                            model.experts->shared_intermediate));
  const double mlp = (model.gated_mlp ? 3.0 : 2.0) * ffn / tensor;
  return bytes(2 * tokens * (3 * hidden + std::max(attention, mlp)) +
               6 * sequences * static_cast<double>(model.vocabulary) / own);
}

// The engine's cache budget on this GPU.
Bytes kv_budget(const EngineDefaults& engine, const Job& job, const catalog::Gpu& gpu, Bytes not_cache) {
  const Bytes capacity = gpu.capacity();
  Bytes budget;
  switch (engine.rule) {
    case EngineDefaults::kShareOfGpu:
      budget = capacity * job.serve.memory_share - not_cache;
      break;
    case EngineDefaults::kShareOfFree:
      budget = (capacity - not_cache) * job.serve.memory_share;
      break;
    case EngineDefaults::kNoBudget:
      budget = capacity - not_cache;
      break;
  }
  return std::max(budget, Bytes{});
}

KvLayout layout_of(const EngineDefaults& engine, const ModelShape& model, const Job& job, const catalog::Gpu* gpu) {
  const bool four_bits = gpu != nullptr && gpu->peak(catalog::NumberFormat::kFp4).supported;
  return {kv_format(job, checkpoint_of(model), four_bits), job.parallel.attention_tensor(), job.parallel.pipeline,
          engine.page, engine.whole_windows};
}

}  // namespace

MemoryNeed estimate_serving(const ModelShape& model, const Job& job, const catalog::Gpu* gpu) {
  const EngineDefaults& engine = engine_of(job.stack);
  const model::ServeSettings& serve = job.serve;
  const KvLayout layout = layout_of(engine, model, job, gpu);

  MemoryNeed need;
  const std::int64_t context = serve.isl + serve.osl;
  const Bytes per_sequence = kv_sequence_bytes(model, context, layout);
  need.kv_per_token = kv_token_bytes(model, layout);
  need.kv_format = layout.format;
  need.parts[Part::kWeights] = served_weight_bytes(model, job);
  need.parts[Part::kActivations] = workspace_bytes(model, job, engine);
  need.parts[Part::kBuffers] = engine.graphs;
  need.parts[Part::kRuntime] = context_bytes(job);
  const Bytes not_cache = need.parts.total();
  // Each attention data-parallel group caches its own sequences.
  const double groups = job.parallel.attention_data;
  const double running = static_cast<double>(std::min(serve.concurrency, serve.max_batch.value_or(serve.concurrency)));
  need.parts[Part::kKvCache] = per_sequence * std::ceil(running / groups);

  need.peak_allocated = need.parts[Part::kWeights] + need.parts[Part::kActivations] + need.parts[Part::kKvCache];
  need.reserved = need.peak_allocated + need.parts[Part::kBuffers];
  need.device = need.parts.total();
  if (gpu != nullptr) {
    const Bytes budget = kv_budget(engine, job, *gpu, not_cache - engine.graphs);
    const double most = std::floor(budget / per_sequence) * groups;
    need.max_concurrency = static_cast<std::int64_t>(most);
    if (most < running) {
      need.warnings.push_back(
          most < 1
              ? fmt::format(
                    "with --memory-share {:g}, one request of {} tokens needs {} more KV cache than {} has left: the "
                    "engine would not start",
                    serve.memory_share, format_count(static_cast<double>(context)), format_bytes(per_sequence - budget),
                    gpu->name)
              : fmt::format("the KV cache of {} holds {:.0f} sequences of {} tokens, not {:.0f}; the others queue",
                            gpu->name, most, context, running));
    }
  }
  // Workspace, graphs and libraries are known to within a third; weights and cache are exact.
  const Bytes unsure = need.parts[Part::kActivations] + need.parts[Part::kBuffers] + need.parts[Part::kRuntime];
  need.low = need.device - unsure * 0.35;
  need.high = need.device + unsure * 0.5;
  return need;
}

std::optional<EngineLaunch> engine_launch(const ModelShape& model, const Job& job, const catalog::Gpu& gpu) {
  const EngineDefaults& engine = engine_of(job.stack);
  if (model.kind != model::ModelKind::kDecoder || engine.rule == EngineDefaults::kNoBudget) return std::nullopt;
  const MemoryNeed need = estimate_serving(model, job, &gpu);
  const Bytes not_cache = need.device - need.parts[Part::kKvCache];
  const KvLayout layout = layout_of(engine, model, job, &gpu);
  EngineLaunch launch;
  launch.kv_cache = kv_budget(engine, job, gpu, not_cache - engine.graphs);
  launch.device = not_cache + launch.kv_cache;
  launch.sequences = need.max_concurrency.value_or(0);
  launch.kv_tokens = static_cast<std::int64_t>(launch.kv_cache / need.kv_per_token * job.parallel.attention_data);
  // A longer sequence never needs less memory, so the maximum length is found by bisection.
  std::int64_t fits = 0, above = std::max<std::int64_t>(model.context, 1) + 1;
  while (above - fits > 1) {
    const std::int64_t middle = fits + (above - fits) / 2;
    (kv_sequence_bytes(model, middle, layout) <= launch.kv_cache ? fits : above) = middle;
  }
  launch.max_context = fits;
  return launch;
}

}  // namespace rightsize::memory
