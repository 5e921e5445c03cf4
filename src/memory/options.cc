#include "memory/options.h"

#include <algorithm>
#include <limits>

#include <fmt/format.h>

namespace rightsize::memory {
namespace {

using model::Job;
using model::JobKind;
using model::Method;
using model::ModelKind;
using model::ModelShape;
using model::Optimizer;
using model::Precision;
using model::Recompute;

bool trains(const Job& job) { return job.kind == JobKind::kTrain; }
bool full(const Job& job) { return trains(job) && job.train.method == Method::kFull; }
bool language(const ModelShape& model) { return model.vocabulary > 0; }
bool adam(const Job& job) { return job.train.optimizer == Optimizer::kAdamW; }

// Images and videos that several GPUs compute together.
Job split_over(Job job, int gpus) {
  job.parallel.tensor *= gpus, job.parallel.gpus *= gpus;
  return job;
}
bool splits(const ModelShape& model, const Job& job, int gpus) {
  return !trains(job) && model.kind != ModelKind::kDecoder && check_job(model, split_over(job, gpus)).empty();
}

const std::vector<MemoryOption> kOptions = {
    {"full recompute", OptionKind::kOther, "", [](Job& j) { j.train.recompute = Recompute::kFull; },
     [](const ModelShape& m, const Job& j) {
       return trains(j) && j.train.recompute != Recompute::kFull && m.layers > 0;
     }},
    {"chunked cross-entropy", OptionKind::kOther, "",
     [](Job& j) { j.train.cross_entropy = model::CrossEntropy::kChunked; },
     [](const ModelShape& m, const Job& j) {
       return trains(j) && language(m) && j.train.cross_entropy == model::CrossEntropy::kEager;
     }},
    {"half the micro-batch, accumulated", OptionKind::kBatch, "",
     [](Job& j) {
       j.batch /= 2;
       j.train.accumulation *= 2;
     },
     [](const ModelShape&, const Job& j) { return trains(j) && j.batch >= 2 && !j.train.optimizer_in_backward; }},
    {"micro-batch 1, accumulated", OptionKind::kBatch, "",
     [](Job& j) {
       j.train.accumulation *= static_cast<int>(j.batch);
       j.batch = 1;
     },
     [](const ModelShape&, const Job& j) { return trains(j) && j.batch >= 4 && !j.train.optimizer_in_backward; }},
    {"optimizer in the backward pass", OptionKind::kOther, "no gradient clipping over the whole model",
     [](Job& j) { j.train.optimizer_in_backward = true; },
     [](const ModelShape&, const Job& j) {
       return full(j) && !j.train.optimizer_in_backward && j.train.accumulation == 1 &&
              j.precision != Precision::kAmpFp16;
     }},
    {"bf16 gradients", OptionKind::kOther, "sums of many micro-batches round; NVIDIA's recipes accept it",
     [](Job& j) { j.train.gradients = model::StateFormat::kBf16; },
     [](const ModelShape&, const Job& j) {
       return full(j) && j.stack == model::Stack::kMegatron && j.parallel.zero < 3 && !j.train.gradients &&
              (j.precision == Precision::kMixedBf16 || j.precision == Precision::kFp8 ||
               j.precision == Precision::kFp4);
     }},
    {"8-bit AdamW", OptionKind::kOther,
     "no loss seen in fine-tuning; keep embeddings in 32 bits for pre-training (Dettmers et al. 2022)",
     [](Job& j) { j.train.optimizer = Optimizer::kAdamW8bit; },
     [](const ModelShape&, const Job& j) { return full(j) && adam(j) && !j.train.optimizer_states; }},
    {"pure bf16", OptionKind::kMethod,
     "small updates round away: use a higher learning rate or stochastic rounding (the default of torchtune)",
     [](Job& j) { j.precision = Precision::kBf16; },
     [](const ModelShape&, const Job& j) {
       return full(j) && (j.precision == Precision::kAmpBf16 || j.precision == Precision::kMixedBf16 ||
                          j.precision == Precision::kFp32);
     }},
    {"LoRA", OptionKind::kMethod,
     "close to full fine-tuning on instruction data, behind it on code and mathematics (Biderman et al. 2024)",
     [](Job& j) {
       j.train.method = Method::kLora;
       if (j.precision != Precision::kFp32 && j.precision != Precision::kAmpFp16) j.precision = Precision::kBf16;
     },
     [](const ModelShape& m, const Job& j) { return full(j) && language(m); }},
    {"QLoRA, nf4 base", OptionKind::kMethod, "within noise of 16-bit LoRA on instruction data (Dettmers et al. 2023)",
     [](Job& j) {
       j.train.method = Method::kQlora;
       if (j.precision != Precision::kAmpFp16) j.precision = Precision::kBf16;  // GPUs without bf16 train in fp16
     },
     [](const ModelShape& m, const Job& j) {
       const bool adapters = m.kind == ModelKind::kDiffusionTransformer && j.train.method == Method::kLora;
       return trains(j) && j.train.method != Method::kQlora && (language(m) || adapters);
     }},
    {"optimizer in host memory", OptionKind::kOther, "", [](Job& j) { j.train.offload = model::Offload::kOptimizer; },
     [](const ModelShape&, const Job& j) { return full(j) && j.train.offload == model::Offload::kNone; }},
    {"shard over the GPUs (ZeRO-3)", OptionKind::kOther, "", [](Job& j) { j.parallel.zero = 3; },
     [](const ModelShape&, const Job& j) { return trains(j) && j.parallel.data() > 1 && j.parallel.zero < 3; }},
    {"fp8 weights", OptionKind::kFormat, "under 1 % on common benchmarks (vendor and vLLM evaluations)",
     [](Job& j) { j.precision = Precision::kFp8; },
     [](const ModelShape& m, const Job& j) {
       return !trains(j) && language(m) && (j.precision == Precision::kBf16 || j.precision == Precision::kFp16);
     }},
    {"int4 weights (AWQ)", OptionKind::kFormat, "1-3 % on common benchmarks, more on small models (Lin et al. 2023)",
     [](Job& j) { j.precision = Precision::kInt4; },
     [](const ModelShape& m, const Job& j) {
       return !trains(j) && language(m) && j.precision != Precision::kInt4 && j.precision != Precision::kNf4 &&
              j.precision != Precision::kFp4;
     }},
    {"fp8 KV cache", OptionKind::kOther, "under 1 % with calibrated scales (vLLM documentation)",
     [](Job& j) { j.serve.kv_precision = Precision::kFp8; },
     [](const ModelShape& m, const Job& j) {
       return !trains(j) && m.kind == ModelKind::kDecoder && !j.serve.kv_precision;
     }},
    // What is left is for the driver; engines' guides use up to 0.95 to 0.98 if nothing else runs on the GPU.
    {"more of the GPU for the engine", OptionKind::kOther, "", [](Job& j) { j.serve.memory_share = 0.97; },
     [](const ModelShape& m, const Job& j) {
       return !trains(j) && m.kind == ModelKind::kDecoder && j.stack != model::Stack::kHf &&
              j.serve.memory_share < 0.97;
     }},
    {"2 GPUs for each item", OptionKind::kSplit, "", [](Job& j) { j = split_over(j, 2); },
     [](const ModelShape& m, const Job& j) { return splits(m, j, 2); }},
    {"4 GPUs for each item", OptionKind::kSplit, "", [](Job& j) { j = split_over(j, 4); },
     [](const ModelShape& m, const Job& j) { return splits(m, j, 4); }},
    {"half the concurrency", OptionKind::kOther, "", [](Job& j) { j.serve.concurrency /= 2; },
     [](const ModelShape&, const Job& j) { return !trains(j) && j.serve.concurrency >= 2; }},
};

// The flags that turn `before` into `after`.
std::string flags_between(const Job& before, const Job& after) {
  std::string flags;
  const auto add = [&](bool differs, std::string_view name, const auto& value) {
    if (differs) flags += fmt::format("{}--{} {}", flags.empty() ? "" : " ", name, value);
  };
  const model::TrainSettings &was = before.train, &is = after.train;
  add(was.method != is.method, "method", name_of(is.method));
  add(before.precision != after.precision, "precision", name_of(after.precision));
  add(was.recompute != is.recompute, "recompute", name_of(is.recompute));
  add(was.cross_entropy != is.cross_entropy, "cross-entropy", name_of(is.cross_entropy));
  add(was.optimizer != is.optimizer, "optimizer", name_of(is.optimizer));
  add(was.gradients != is.gradients, "gradients", "bf16");
  add(was.optimizer_in_backward != is.optimizer_in_backward, "optimizer-in-backward", is.optimizer_in_backward);
  add(was.offload != is.offload, "offload", "optimizer");
  add(before.batch != after.batch, "batch", after.batch);
  add(was.accumulation != is.accumulation, "accumulate", is.accumulation);
  add(before.parallel.zero != after.parallel.zero, "zero", after.parallel.zero);
  add(before.parallel.tensor != after.parallel.tensor, "tp", after.parallel.tensor);
  add(before.parallel.gpus != after.parallel.gpus, "gpus", after.parallel.gpus);
  add(before.serve.kv_precision != after.serve.kv_precision, "kv-precision", "fp8");
  add(before.serve.memory_share != after.serve.memory_share, "memory-share", after.serve.memory_share);
  add(before.serve.concurrency != after.serve.concurrency, "concurrency", after.serve.concurrency);
  return flags;
}

// Applies a set of options in order; empty if one does not apply after the others.
std::optional<Job> with_all(const ModelShape& model, Job job, const std::vector<MemoryOption>& taken) {
  for (std::size_t i = 0; i < taken.size(); ++i) {
    for (std::size_t k = 0; k < i; ++k) {
      if (taken[i].kind != OptionKind::kOther && taken[i].kind == taken[k].kind) return std::nullopt;
    }
    if (!taken[i].applies(model, job)) return std::nullopt;
    taken[i].apply(job);
  }
  return job;
}

// A combination and its slowdown, before its memory is computed.
struct OptionSet {
  std::vector<MemoryOption> taken;
  Job job;
  std::optional<double> slowdown;
};

std::optional<double> slowdown_of(const Job& before, const Job& after, const TimeOf& time_of) {
  const std::optional<Seconds> was = time_of(before), is = time_of(after);
  return was && is ? std::optional(*is / *was) : std::nullopt;
}

OptionEffect effect_of(const ModelShape& model, const Job& job, const OptionSet& chosen, const MemoryNeed& before) {
  OptionEffect effect{chosen.taken, chosen.job, flags_between(job, chosen.job), {}, {}, chosen.slowdown};
  effect.need = estimate_memory(model, chosen.job, nullptr);
  effect.saved = before.device - effect.need.device;
  return effect;
}

// Every applicable subset, least slowdown first, then fewest options.
std::vector<OptionSet> combinations_of(const ModelShape& model, const Job& job,
                                       const std::vector<MemoryOption>& options, const TimeOf& time_of) {
  std::vector<OptionSet> all;
  for (unsigned set = 1; set < 1u << options.size(); ++set) {
    OptionSet combination;
    for (std::size_t i = 0; i < options.size(); ++i) {
      if ((set >> i & 1u) != 0) combination.taken.push_back(options[i]);
    }
    const std::optional<Job> changed = with_all(model, job, combination.taken);
    if (!changed) continue;
    combination.job = *changed;
    combination.slowdown = slowdown_of(job, *changed, time_of);
    all.push_back(std::move(combination));
  }
  std::ranges::stable_sort(all, [](const OptionSet& a, const OptionSet& b) {
    constexpr double kUnknown = std::numeric_limits<double>::infinity();
    const double slow_a = a.slowdown.value_or(kUnknown), slow_b = b.slowdown.value_or(kUnknown);
    return slow_a != slow_b ? slow_a < slow_b : a.taken.size() < b.taken.size();
  });
  return all;
}

// One change is better than several: as many requests as the GPU holds, if it holds any.
std::optional<OptionEffect> fewer_requests(const ModelShape& model, const Job& job, const catalog::Gpu& gpu,
                                           const TimeOf& time_of) {
  const auto room = trains(job) ? std::nullopt : estimate_memory(model, job, &gpu).max_concurrency;
  if (!room || *room < 1 || *room >= job.serve.concurrency) return std::nullopt;
  Job changed = job;
  changed.serve.concurrency = *room;
  const MemoryOption option{fmt::format("{} requests in flight", *room), OptionKind::kOther, "", nullptr, nullptr};
  OptionEffect effect = effect_of(model, job, {{option}, changed, slowdown_of(job, changed, time_of)},
                                  estimate_memory(model, job, nullptr));
  return fits(effect.need, gpu).verdict == Verdict::kFits ? std::optional(std::move(effect)) : std::nullopt;
}

}  // namespace

std::vector<MemoryOption> options_for(const ModelShape& model, const Job& job, const catalog::Gpu* gpu) {
  const bool has_bf16 = gpu == nullptr || gpu->peak(catalog::NumberFormat::kBf16).supported;
  std::vector<MemoryOption> options;
  for (const MemoryOption& option : kOptions) {
    if (!option.applies(model, job)) continue;
    Job changed = job;
    option.apply(changed);
    const bool to_bf16 = changed.precision == Precision::kBf16 && job.precision != Precision::kBf16;
    // A larger share frees nothing: it only lets an engine start.
    const bool more_share = changed.serve.memory_share > job.serve.memory_share;
    const bool starts = gpu == nullptr || estimate_memory(model, job, gpu).max_concurrency != 0;
    if ((has_bf16 || !to_bf16) && !(more_share && starts)) options.push_back(option);
  }
  return options;
}

std::vector<OptionEffect> each_option(const ModelShape& model, const Job& job, const TimeOf& time_of,
                                      const catalog::Gpu* gpu) {
  const MemoryNeed before = estimate_memory(model, job, nullptr);
  std::vector<OptionEffect> effects;
  for (const MemoryOption& option : options_for(model, job, gpu)) {
    Job changed = job;
    option.apply(changed);
    effects.push_back(effect_of(model, job, {{option}, changed, slowdown_of(job, changed, time_of)}, before));
  }
  std::ranges::stable_sort(effects, [](const OptionEffect& a, const OptionEffect& b) { return a.saved > b.saved; });
  return effects;
}

std::optional<OptionEffect> cheapest_fit(const ModelShape& model, const Job& job, const catalog::Gpu& gpu,
                                         const TimeOf& time_of, bool same_result) {
  if (auto fewer = same_result ? fewer_requests(model, job, gpu, time_of) : std::nullopt) return fewer;
  std::vector<MemoryOption> options = options_for(model, job, &gpu);
  if (same_result) std::erase_if(options, [](const MemoryOption& option) { return !option.accuracy.empty(); });
  const MemoryNeed before = estimate_memory(model, job, nullptr);
  std::optional<OptionEffect> tight;
  for (const OptionSet& combination : combinations_of(model, job, options, time_of)) {
    OptionEffect effect = effect_of(model, job, combination, before);
    const Verdict verdict = fits(estimate_memory(model, effect.job, &gpu), gpu).verdict;
    if (verdict == Verdict::kFits) return effect;
    if (verdict == Verdict::kTight && (!tight || effect.need.device < tight->need.device)) tight = std::move(effect);
  }
  return tight;
}

std::int64_t largest_batch(const ModelShape& model, Job job, const catalog::Gpu& gpu) {
  const auto fits_with = [&](std::int64_t batch) {
    job.batch = batch;
    return check_job(model, job).empty() && fits(estimate_memory(model, job, &gpu), gpu).verdict == Verdict::kFits;
  };
  constexpr std::int64_t kMost = 1 << 20;
  std::int64_t holds = 0, above = 1;
  while (above <= kMost && fits_with(above)) holds = above, above *= 2;
  while (above - holds > 1) {
    const std::int64_t middle = holds + (above - holds) / 2;
    (fits_with(middle) ? holds : above) = middle;
  }
  return holds;
}

std::int64_t longest_sequence(const ModelShape& model, Job job, const catalog::Gpu& gpu) {
  // In blocks: kernels and shards need lengths that are multiples of a power of two.
  constexpr std::int64_t kBlock = 128, kMost = 1 << 20;
  const auto fits_with = [&](std::int64_t blocks) {
    job.sequence = blocks * kBlock;
    return check_job(model, job).empty() && fits(estimate_memory(model, job, &gpu), gpu).verdict == Verdict::kFits;
  };
  std::int64_t holds = 0, above = (model.context > 0 ? model.context : kMost) / kBlock + 1;
  while (above - holds > 1) {
    const std::int64_t middle = holds + (above - holds) / 2;
    (fits_with(middle) ? holds : above) = middle;
  }
  return holds * kBlock;
}

}  // namespace rightsize::memory
