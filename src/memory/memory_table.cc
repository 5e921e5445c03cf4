#include "memory/memory_table.h"

#include <algorithm>
#include <cmath>
#include <thread>

#include "base/threads.h"
#include "memory/tape/plan.h"

namespace rightsize::memory {
namespace {

using model::Job;
using model::Method;
using model::Precision;

// Bytes per trained parameter: weight, gradient, optimizer states. Never more than the exact result.
struct PerParameter {
  double weight, gradient, states;
};

PerParameter per_parameter(const Job& job) {
  const bool narrow_states = job.train.optimizer != model::Optimizer::kAdamW || job.train.optimizer_states;
  switch (job.precision) {
    case Precision::kAmpBf16:
    case Precision::kAmpFp16:
    case Precision::kFp32:
      return {4, 4, narrow_states ? 0.0 : 8};
    case Precision::kMixedBf16:
    case Precision::kFp8:
    case Precision::kFp4:
      return {2, job.train.gradients == model::StateFormat::kBf16 ? 2.0 : 4.0, narrow_states ? 4.0 : 12};
    default:
      return {2, 2, narrow_states ? 0.0 : 4};
  }
}

// GPUs of a pipeline stage that share the experts: as whole experts, or as slices if there are fewer groups.
int expert_gpus(const model::Parallelism& p) { return std::max(p.tensor, p.expert); }

}  // namespace

MemoryTable::MemoryTable(const model::ModelShape& model)
    : model_(model), parameters_(static_cast<double>(model.parameters())) {
  std::int64_t largest = 0;
  for (const model::Weight& weight : model.weights) {
    if (weight.role != model::WeightRole::kExpert) continue;
    const auto elements = static_cast<double>(weight.rows * weight.cols * weight.copies);
    expert_parameters_ += elements;
    // The two or three matrices of an expert are in the same layers.
    if (weight.rows * weight.cols >= largest) {
      largest = weight.rows * weight.cols;
      expert_layers_ = static_cast<double>(weight.copies / std::max<std::int64_t>(1, weight.per_block));
    }
  }
}

double MemoryTable::expert_bytes(const Job& job) const {
  if (expert_parameters_ == 0 || expert_layers_ == 0) return 0;
  const model::Parallelism& p = job.parallel;
  const double layers = std::ceil(static_cast<double>(model_.layers) / p.pipeline);
  const double held = expert_parameters_ * std::min(1.0, layers / expert_layers_) / expert_gpus(p);
  if (job.train.method != Method::kFull) return held * (job.train.method == Method::kQlora ? 0.5 : 2.0);
  const PerParameter each = per_parameter(job);
  return held * (each.weight + each.gradient + (p.zero == 0 ? each.states : 0));
}

MemoryTable::Settings MemoryTable::settings_of(const Job& job) {
  const model::Parallelism& p = job.parallel;
  return {static_cast<int>(job.train.method),
          static_cast<int>(job.precision),
          static_cast<int>(job.train.recompute),
          static_cast<int>(job.train.cross_entropy),
          p.tensor,
          p.pipeline,
          p.expert,
          p.zero,
          tape::micro_batches_held(job),
          p.data() > 1};
}

Bytes MemoryTable::high(const Job& asked) {
  Job job = asked;
  // Stacks with separate gradients hold them during the forward pass, with or without accumulation.
  if (job.stack != model::Stack::kHf) job.train.accumulation = std::max(2, job.train.accumulation);
  // More groups of whole experts change only the experts on a GPU, so one surface is enough.
  Job like = job;
  if (job.parallel.expert > job.parallel.tensor && job.parallel.zero < 2) like.parallel.expert = job.parallel.tensor;
  std::unique_ptr<TrainingNeeds>& surface = surfaces_[settings_of(like)];
  if (!surface) surface = std::make_unique<TrainingNeeds>(model_, like);
  return surface->high(static_cast<double>(job.batch), job.parallel.data(),
                       bytes(expert_bytes(job) - expert_bytes(like)));
}

Bytes MemoryTable::floor(const Job& job) const {
  const model::Parallelism& p = job.parallel;
  const int zero = p.zero;
  if (job.train.offload == model::Offload::kParameters) return {};
  // All GPUs of a group hold the same parameters, and their states are sharded over the group's copies.
  const auto held_by = [&](double parameters, int group) {
    const double held = parameters / (static_cast<double>(group) * p.pipeline);
    const double shards = std::max(1.0, static_cast<double>(p.gpus) / (static_cast<double>(group) * p.pipeline));
    if (job.train.method != Method::kFull || job.train.offload != model::Offload::kNone ||
        job.train.optimizer_in_backward) {
      constexpr double kQuantized = 0.5;
      return held * (job.train.method == Method::kQlora ? kQuantized : 2.0) / (zero >= 3 ? shards : 1);
    }
    const PerParameter each = per_parameter(job);
    return held * (each.weight / (zero >= 3 ? shards : 1) + each.gradient / (zero >= 2 ? shards : 1) +
                   each.states / (zero >= 1 ? shards : 1));
  };
  return bytes(held_by(parameters_ - expert_parameters_, p.tensor) + held_by(expert_parameters_, expert_gpus(p)));
}

MemoryTable::NeedKey MemoryTable::key_of(const Job& job, const catalog::Gpu& gpu) {
  const bool serves = job.kind == model::JobKind::kServe;
  return {settings_of(job),
          job.parallel.gpus,
          job.batch,
          serves ? static_cast<int>(job.serve.concurrency) : 0,
          static_cast<int>(job.stack),
          serves ? gpu.name : std::string(name_of(runtime_basis(gpu)))};
}

const MemoryNeed& MemoryTable::need(const Job& job, const catalog::Gpu& gpu) {
  const NeedKey key = key_of(job, gpu);
  auto found = needs_.find(key);
  if (found == needs_.end()) found = needs_.emplace(key, estimate_memory(model_, job, &gpu)).first;
  return found->second;
}

void MemoryTable::find_together(const std::vector<Asked>& asked) {
  std::map<NeedKey, Asked> missing;
  for (const Asked& one : asked) {
    const NeedKey key = key_of(*one.job, *one.gpu);
    if (!needs_.contains(key)) missing.emplace(key, one);
  }
  constexpr std::size_t kMostThreads = 8;
  const std::size_t cores = std::max(1U, std::thread::hardware_concurrency());
  const std::size_t threads = std::min({kMostThreads, cores, missing.size()});
  if (threads < 2) return;  // need() computes it later
  const std::vector<std::pair<NeedKey, Asked>> list(missing.begin(), missing.end());
  std::vector<MemoryNeed> found(list.size());
  for_each_index(list.size(), static_cast<unsigned>(threads),
                 [&](std::size_t i) { found[i] = estimate_memory(model_, *list[i].second.job, list[i].second.gpu); });
  for (std::size_t i = 0; i < list.size(); ++i) needs_.emplace(list[i].first, std::move(found[i]));
}

}  // namespace rightsize::memory
