#include "rl/memory.h"

#include <algorithm>
#include <cmath>

#include "memory/weight_bytes.h"
#include "rl/trainer.h"

namespace rightsize::rl {
namespace {

using memory::MemoryNeed;
using memory::Part;

// A sleeping engine keeps its CUDA context and graphs (vLLM's sleep mode, docs/features/sleep_mode, 2025-11).
constexpr Bytes kAsleep = gib(1.5);
// Weights are sent in buckets (verl: update_weights_bucket_megabytes 512, NeMo-RL: a share of free memory).
constexpr Bytes kBucket = gib(1);
// An engine with room for fewer answers than this is useless.
constexpr double kFewestAnswers = 8;
// Share of a GPU that engine and resident trainer use together, and the most that engines are given.
constexpr double kUsable = 0.95, kMostShare = 0.9;

// Everything that is in memory in some phase, on one GPU.
struct Items {
  MemoryNeed update;  // the trainer's peak, alone
  Bytes weights, gradients, optimizer, reference, critic;
  Bytes engine_weights, engine_rest, cache_token;
};

// A lower bound: all GPUs together hold every weight, gradient and optimizer state at least once. Experts that are
// spread over all GPUs have no copies, so their states cannot be sharded further.
Bytes least_states(const model::ModelShape& model, const model::Job& job) {
  if (job.train.method != model::Method::kFull || job.train.optimizer != model::Optimizer::kAdamW ||
      job.train.offload != model::Offload::kNone)
    return {};
  // AdamW in mixed precision: weights and gradients of 2 bytes, a master copy and two moments of 4; pure bf16: 2 each.
  const double bytes_each = job.precision == model::Precision::kBf16 ? 8 : 16;
  const Bytes weights = memory::model_weight_bytes(model, model::Precision::kBf16, {}, false);
  return weights * (bytes_each / 2 / std::max(1, job.parallel.gpus));
}

Items items_of(const model::ModelShape& model, const RlJob& job, const catalog::Gpu& train,
               const catalog::Gpu& rollout) {
  Items items;
  const model::Job peak = peak_training(job);
  items.update = memory::estimate_memory(model, peak, &train);
  const memory::Parts& parts = items.update.parts;
  items.weights = parts[Part::kWeights], items.gradients = parts[Part::kGradients];
  items.optimizer = parts[Part::kOptimizer];
  const Bytes missing = least_states(model, peak) - (items.weights + items.gradients + items.optimizer);
  if (missing > Bytes{}) {
    items.optimizer += missing;
    const double more = (items.update.device + missing) / items.update.device;
    items.update.device += missing;
    items.update.low = items.update.low * more, items.update.high = items.update.high * more;
  }
  if (job.reference && peak.train.method == model::Method::kFull) {  // with adapters, the base model is the reference
    items.reference = memory::model_weight_bytes(model, model::Precision::kBf16, peak.parallel, false);
    if (peak.parallel.zero >= 3) items.reference = items.reference / std::max(1, peak.parallel.data());
  }
  if (job.has_critic()) items.critic = items.weights + items.optimizer;

  model::Job engine = job.rollout;
  engine.serve.isl = std::max<std::int64_t>(1, std::llround(job.isl));
  engine.serve.osl = std::max<std::int64_t>(1, std::llround(job.answers.mean));
  engine.serve.concurrency = 1;
  const MemoryNeed served = memory::estimate_memory(model, engine, &rollout);
  items.engine_weights = served.parts[Part::kWeights];
  items.engine_rest = served.parts[Part::kActivations] + served.parts[Part::kLogits] + served.parts[Part::kRuntime];
  items.cache_token = served.kv_per_token;
  return items;
}

// The interval of the trainer's estimate applies to every phase.
PhaseMemory phase(PhaseKind kind, bool on_rollout, std::vector<PhasePart> parts, const Items& items,
                  const catalog::Gpu& gpu) {
  PhaseMemory made{kind, on_rollout, {}, {}, {}};
  for (const PhasePart& part : parts) {
    if (part.bytes > Bytes{}) made.parts.push_back(part), made.need.device += part.bytes;
  }
  made.need.low = made.need.device * (items.update.low / items.update.device);
  made.need.high = made.need.device * (items.update.high / items.update.device);
  made.need.of_gpu = true;
  made.fit = memory::fits(made.need, gpu);
  return made;
}

Bytes least_cache(const RlJob& job, const Items& items) {
  const double answers = std::min(kFewestAnswers, job.sequences());
  return items.cache_token * (job.longest() + (answers - 1) * (job.isl + job.answers.mean / 2));
}

std::vector<PhaseMemory> phases_of(const RlJob& job, const Items& items, const catalog::Gpu& train,
                                   const catalog::Gpu& rollout, int offloads) {
  const bool split = job.layout.split;
  const auto stays = [&](Offload what, Bytes bytes) { return static_cast<int>(what) < offloads ? Bytes{} : bytes; };
  const Bytes reference = stays(Offload::kReference, items.reference);
  const Bytes resting_weights = stays(Offload::kWeights, items.weights);
  const Bytes resting_states = stays(Offload::kOptimizer, items.optimizer);
  const Bytes resting_critic = offloads > static_cast<int>(Offload::kOptimizer) ? Bytes{} : items.critic;
  const Bytes cache = least_cache(job, items);
  const Bytes engine = split ? Bytes{} : offloads > 0 ? kAsleep : items.engine_weights + items.engine_rest + cache;
  const Bytes passes = items.update.device - items.weights - items.gradients - items.optimizer;

  std::vector<PhaseMemory> phases;
  phases.push_back(phase(PhaseKind::kGenerate, split,
                         {{"engine's weights", items.engine_weights},
                          {"KV cache, at least", cache},
                          {"engine's runtime", items.engine_rest},
                          {"trainer's weights", split ? Bytes{} : resting_weights},
                          {"optimizer", split ? Bytes{} : resting_states},
                          {"critic", split ? Bytes{} : resting_critic},
                          {"reference", split ? Bytes{} : reference}},
                         items, rollout));
  phases.push_back(phase(PhaseKind::kLogProb, false,
                         {{"trainer's weights", items.weights},
                          {"passes", passes},
                          {"optimizer", resting_states},
                          {"critic", resting_critic},
                          {"reference", items.reference},
                          {"engine", engine}},
                         items, train));
  phases.push_back(phase(PhaseKind::kUpdate, false,
                         {{"trainer's weights", items.weights},
                          {"gradients", items.gradients},
                          {"optimizer", items.optimizer},
                          {"passes", passes},
                          {"critic", resting_critic},
                          {"reference", reference},
                          {"engine", engine}},
                         items, train));
  phases.push_back(phase(PhaseKind::kSync, false,
                         {{"trainer's weights", items.weights},
                          {"engine's weights", split ? Bytes{} : items.engine_weights},
                          {"buckets", kBucket * 2},
                          {"optimizer", resting_states},
                          {"critic", resting_critic},
                          {"reference", reference},
                          {"runtime", items.update.parts[Part::kRuntime]}},
                         items, train));
  return phases;
}

memory::Verdict worst(const std::vector<PhaseMemory>& phases) {
  memory::Verdict verdict = memory::Verdict::kFits;
  for (const PhaseMemory& each : phases) verdict = std::max(verdict, each.fit.verdict);
  return verdict;
}

}  // namespace

Bytes least_memory(const model::ModelShape& model, const RlJob& job) { return least_states(model, peak_training(job)); }

std::string_view name_of(Offload offload) {
  constexpr std::string_view kNames[] = {"engine", "reference", "optimizer", "weights"};
  return kNames[static_cast<std::size_t>(offload)];
}

const PhaseMemory& RlMemory::fullest() const {
  return *std::max_element(phases.begin(), phases.end(), [](const PhaseMemory& a, const PhaseMemory& b) {
    return a.need.device / a.fit.capacity < b.need.device / b.fit.capacity;
  });
}

RlMemory phase_memory(const model::ModelShape& model, const RlJob& job, const catalog::Gpu& train,
                      const catalog::Gpu& rollout) {
  const Items items = items_of(model, job, train, rollout);
  RlMemory found;
  // On separate GPUs, the engine need not make room, and the trainer never sleeps.
  const int most = job.layout.split ? static_cast<int>(Offload::kReference) + 1 : kOffloads;
  int used = 0;
  for (memory::Verdict wanted : {memory::Verdict::kFits, memory::Verdict::kTight}) {
    for (used = 0; used <= most; ++used) {
      found.phases = phases_of(job, items, train, rollout, used);
      found.verdict = worst(found.phases);
      if (found.verdict <= wanted) break;
    }
    if (used <= most) break;
  }
  used = std::min(used, most);
  for (int i = 0; i < used; ++i) {
    const auto offload = static_cast<Offload>(i);
    const Bytes moved[] = {items.engine_weights, items.reference, items.optimizer + items.critic, items.weights};
    const bool applies = moved[i] > Bytes{} && !(job.layout.split && offload == Offload::kEngine);
    if (!applies) continue;
    found.offloads.push_back(offload);
    found.host += moved[i];
  }
  const PhaseMemory& generate = found.phases.front();
  found.engine_share = job.rollout.serve.memory_share;
  // The engine gets the share that was simulated, or less if the trainer leaves less.
  if (!job.layout.split) {
    const Bytes engine = items.engine_weights + items.engine_rest + least_cache(job, items);
    const Bytes resident = generate.need.device - engine;
    const double left = std::min({kUsable - resident / rollout.capacity(), kMostShare, found.engine_share});
    found.engine_share = std::max(std::floor(left * 100) / 100, std::ceil(engine / rollout.capacity() * 100) / 100);
  }
  const Bytes budget = rollout.capacity() * job.rollout.serve.memory_share - items.engine_weights - items.engine_rest;
  const Bytes left = generate.fit.headroom + least_cache(job, items);
  const Bytes answer = items.cache_token * (job.isl + job.answers.mean);
  if (answer > Bytes{}) found.answers_in_cache = std::max(0.0, std::floor(std::min(budget, left) / answer));
  return found;
}

}  // namespace rightsize::rl
