#include "memory/levers.h"

#include <algorithm>
#include <bit>

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

// Slowdowns and accuracy notes are measured ones from the named source where there is one; they are for ranking, the
// speed model gives the figure for a particular GPU.
const std::vector<Lever> kLevers = {
    {"full recompute", "--recompute full", 1.27, "", "torchtune ablation, Llama-3.2-3B on an A100: -21 % tokens/s",
     [](Job j) {
       j.train.recompute = Recompute::kFull;
       return j;
     },
     [](const ModelShape& m, const Job& j) {
       return trains(j) && j.train.recompute != Recompute::kFull && m.layers > 0;
     }},
    {"chunked cross-entropy", "--cross-entropy chunked", 1.0, "", "torchtune ablation: +2 % tokens/s",
     [](Job j) {
       j.train.cross_entropy = model::CrossEntropy::kChunked;
       return j;
     },
     [](const ModelShape& m, const Job& j) {
       return trains(j) && language(m) && j.train.cross_entropy == model::CrossEntropy::kEager;
     }},
    {"half the micro-batch, accumulated", "--batch N/2 --accumulate 2", 1.05, "",
     "smaller matrices run less efficiently",
     [](Job j) {
       j.batch /= 2;
       j.train.accumulation *= 2;
       return j;
     },
     [](const ModelShape&, const Job& j) { return trains(j) && j.batch >= 2 && !j.train.optimizer_in_backward; }},
    {"micro-batch 1, accumulated", "--batch 1 --accumulate N", 1.15, "", "smaller matrices run less efficiently",
     [](Job j) {
       j.train.accumulation *= static_cast<int>(j.batch);
       j.batch = 1;
       return j;
     },
     [](const ModelShape&, const Job& j) { return trains(j) && j.batch >= 4 && !j.train.optimizer_in_backward; }},
    {"optimizer in the backward pass", "--optimizer-in-backward true", 1.0, "no gradient clipping over the whole model",
     "torchtune ablation: +1 % tokens/s",
     [](Job j) {
       j.train.optimizer_in_backward = true;
       return j;
     },
     [](const ModelShape&, const Job& j) {
       return full(j) && !j.train.optimizer_in_backward && j.train.accumulation == 1 &&
              j.precision != Precision::kAmpFp16;
     }},
    {"8-bit AdamW", "--optimizer adamw-8bit", 1.05,
     "none seen in fine-tuning; keep embeddings in 32 bits when pre-training",
     "torchtune ablation: -5 % tokens/s; Dettmers et al. 2022",
     [](Job j) {
       j.train.optimizer = Optimizer::kAdamW8bit;
       return j;
     },
     [](const ModelShape&, const Job& j) { return full(j) && adam(j) && !j.train.optimizer_states; }},
    {"pure bf16", "--precision bf16", 0.9,
     "small updates round away: use a higher learning rate or stochastic rounding",
     "torchtune and LLaMA-Factory train so by default",
     [](Job j) {
       j.precision = Precision::kBf16;
       return j;
     },
     [](const ModelShape&, const Job& j) {
       return full(j) && (j.precision == Precision::kAmpBf16 || j.precision == Precision::kMixedBf16 ||
                          j.precision == Precision::kFp32);
     }},
    {"LoRA, rank 16", "--method lora", 0.75,
     "close to full fine-tuning on instruction data, behind it on code and mathematics", "Biderman et al. 2024",
     [](Job j) {
       j.train.method = Method::kLora;
       if (j.precision != Precision::kFp32) j.precision = Precision::kBf16;
       return j;
     },
     [](const ModelShape& m, const Job& j) { return full(j) && language(m); }},
    {"QLoRA, nf4 base", "--method qlora", 1.1, "within noise of 16-bit LoRA on instruction data",
     "Dettmers et al. 2023",
     [](Job j) {
       j.train.method = Method::kQlora;
       j.precision = Precision::kBf16;
       return j;
     },
     [](const ModelShape& m, const Job& j) { return trains(j) && j.train.method != Method::kQlora && language(m); }},
    {"optimizer in host memory", "--offload optimizer", 1.5, "",
     "PCIe carries gradients out and weights back every step",
     [](Job j) {
       j.train.offload = model::Offload::kOptimizer;
       return j;
     },
     [](const ModelShape&, const Job& j) { return full(j) && j.train.offload == model::Offload::kNone; }},
    {"shard over the GPUs (ZeRO-3)", "--zero 3", 1.1, "", "FSDP gathers every layer twice a step",
     [](Job j) {
       j.parallel.zero = 3;
       return j;
     },
     [](const ModelShape&, const Job& j) { return trains(j) && j.parallel.data() > 1 && j.parallel.zero < 3; }},
    {"fp8 weights", "--precision fp8", 0.8, "under 1 % on common benchmarks",
     "vendor and vLLM evaluations of FP8 checkpoints",
     [](Job j) {
       j.precision = Precision::kFp8;
       return j;
     },
     [](const ModelShape& m, const Job& j) {
       return !trains(j) && language(m) && (j.precision == Precision::kBf16 || j.precision == Precision::kFp16);
     }},
    {"int4 weights (AWQ)", "--precision int4", 0.8, "1-3 % on common benchmarks, more on small models",
     "Lin et al. 2023",
     [](Job j) {
       j.precision = Precision::kInt4;
       return j;
     },
     [](const ModelShape& m, const Job& j) {
       return !trains(j) && language(m) && j.precision != Precision::kInt4 && j.precision != Precision::kNf4 &&
              j.precision != Precision::kFp4;
     }},
    {"fp8 KV cache", "--kv-precision fp8", 1.0, "under 1 % with calibrated scales",
     "vLLM documentation of quantized KV caches",
     [](Job j) {
       j.serve.kv_precision = Precision::kFp8;
       return j;
     },
     [](const ModelShape& m, const Job& j) {
       return !trains(j) && m.kind == ModelKind::kDecoder && !j.serve.kv_precision;
     }},
    {"half the concurrency", "--concurrency N/2", 1.6, "", "decode reads the weights once for all sequences",
     [](Job j) {
       j.serve.concurrency /= 2;
       return j;
     },
     [](const ModelShape&, const Job& j) { return !trains(j) && j.serve.concurrency >= 2; }},
};

LeverEffect pull(const ModelShape& model, const Job& job, const std::vector<Lever>& levers, const MemoryNeed& before) {
  LeverEffect effect;
  effect.pulled = levers;
  Job changed = job;
  for (const Lever& lever : levers) {
    changed = lever.apply(changed);
    effect.slowdown *= lever.slowdown;
  }
  effect.need = estimate_memory(model, changed, nullptr);
  effect.saved = before.device - effect.need.device;
  return effect;
}

}  // namespace

std::vector<Lever> levers_for(const ModelShape& model, const Job& job) {
  std::vector<Lever> levers;
  for (const Lever& lever : kLevers) {
    if (lever.applies(model, job)) levers.push_back(lever);
  }
  return levers;
}

std::vector<LeverEffect> each_lever(const ModelShape& model, const Job& job) {
  const MemoryNeed before = estimate_memory(model, job, nullptr);
  std::vector<LeverEffect> effects;
  for (const Lever& lever : levers_for(model, job)) effects.push_back(pull(model, job, {lever}, before));
  std::stable_sort(effects.begin(), effects.end(),
                   [](const LeverEffect& a, const LeverEffect& b) { return a.saved > b.saved; });
  return effects;
}

std::optional<LeverEffect> cheapest_fit(const ModelShape& model, const Job& job, const catalog::Gpu& gpu,
                                        bool same_result) {
  std::vector<Lever> levers = levers_for(model, job);
  if (same_result) std::erase_if(levers, [](const Lever& lever) { return !lever.accuracy.empty(); });
  // Every subset in order of slowdown, then of size: the first that fits is the answer. At most 2^11 subsets, and a
  // lever is only pulled where it still applies after the ones before it.
  struct Candidate {
    unsigned set;
    double slowdown;
  };
  std::vector<Candidate> candidates;
  for (unsigned set = 1; set < 1u << levers.size(); ++set) {
    double slowdown = 1;
    for (std::size_t i = 0; i < levers.size(); ++i) {
      if ((set >> i & 1u) != 0) slowdown *= levers[i].slowdown;
    }
    candidates.push_back({set, slowdown});
  }
  std::stable_sort(candidates.begin(), candidates.end(), [](const Candidate& a, const Candidate& b) {
    if (a.slowdown != b.slowdown) return a.slowdown < b.slowdown;
    return std::popcount(a.set) < std::popcount(b.set);
  });
  const MemoryNeed before = estimate_memory(model, job, nullptr);
  for (const Candidate& candidate : candidates) {
    std::vector<Lever> chosen;
    Job changed = job;
    bool sensible = true;
    for (std::size_t i = 0; i < levers.size() && sensible; ++i) {
      if ((candidate.set >> i & 1u) == 0) continue;
      sensible = levers[i].applies(model, changed);
      changed = levers[i].apply(changed);
      chosen.push_back(levers[i]);
    }
    if (!sensible) continue;
    LeverEffect effect = pull(model, job, chosen, before);
    if (effect.need.high <= gpu.capacity()) return effect;
  }
  return std::nullopt;
}

}  // namespace rightsize::memory
