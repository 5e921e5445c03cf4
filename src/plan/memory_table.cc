#include "plan/memory_table.h"

#include <algorithm>
#include <thread>

#include "base/threads.h"

namespace rightsize::plan {
namespace {

using model::Job;
using model::Method;
using model::Precision;

// Bytes per trained parameter: weight, gradient, optimizer states. Never more than the exact computation has.
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
      return {2, job.train.gradients == model::StateFormat::kBf16 ? 2.0 : 4.0, narrow_states ? 4.0 : 12};
    default:
      return {2, 2, narrow_states ? 0.0 : 4};
  }
}

// A pipeline stage holds the activations of one micro-batch per stage behind it; others differ only in whether gradients
// are kept between micro-batches.
int micro_batches_held(const Job& job) { return std::min(job.train.accumulation, std::max(2, job.parallel.pipeline)); }

}  // namespace

MemoryTable::Settings MemoryTable::settings_of(const Job& job) {
  const model::Parallelism& p = job.parallel;
  return {static_cast<int>(job.train.method),
          static_cast<int>(job.precision),
          static_cast<int>(job.train.recompute),
          p.tensor,
          p.pipeline,
          p.expert,
          p.zero,
          micro_batches_held(job),
          p.data() > 1};
}

Bytes MemoryTable::high(const Job& asked) {
  Job job = asked;
  // Stacks with separate gradients hold them during the forward pass, with or without accumulation.
  if (job.stack != model::Stack::kHf) job.train.accumulation = std::max(2, job.train.accumulation);
  std::unique_ptr<memory::TrainingNeeds>& surface = surfaces_[settings_of(job)];
  if (!surface) surface = std::make_unique<memory::TrainingNeeds>(model_, job);
  return surface->high(static_cast<double>(job.batch), job.parallel.data());
}

Bytes MemoryTable::floor(const Job& job) const {
  const double parameters = parameters_ / (job.parallel.tensor * job.parallel.pipeline);
  const int zero = job.parallel.zero;
  const double shards = std::max(1, job.parallel.data());
  if (job.train.method != Method::kFull || job.train.offload != model::Offload::kNone ||
      job.train.optimizer_in_backward || model_.experts) {
    constexpr double kQuantized = 0.5;
    const double width = job.train.method == Method::kQlora ? kQuantized : 2.0;
    return job.train.offload == model::Offload::kParameters || model_.experts
               ? Bytes{}
               : bytes(parameters * width / (zero >= 3 ? shards : 1));
  }
  const PerParameter each = per_parameter(job);
  return bytes(parameters * (each.weight / (zero >= 3 ? shards : 1) + each.gradient / (zero >= 2 ? shards : 1) +
                             each.states / (zero >= 1 ? shards : 1)));
}

MemoryTable::NeedKey MemoryTable::key_of(const Job& job, const catalog::Gpu& gpu) {
  const bool serves = job.kind == model::JobKind::kServe;
  return {settings_of(job),
          job.parallel.gpus,
          job.batch,
          serves ? static_cast<int>(job.serve.concurrency) : 0,
          static_cast<int>(job.stack),
          serves ? gpu.name : std::string(name_of(memory::runtime_basis(gpu)))};
}

const memory::MemoryNeed& MemoryTable::need(const Job& job, const catalog::Gpu& gpu) {
  const NeedKey key = key_of(job, gpu);
  auto found = needs_.find(key);
  if (found == needs_.end()) found = needs_.emplace(key, memory::estimate_memory(model_, job, &gpu)).first;
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
  if (threads < 2) return;  // need() computes it
  const std::vector<std::pair<NeedKey, Asked>> list(missing.begin(), missing.end());
  std::vector<memory::MemoryNeed> found(list.size());
  for_each_index(list.size(), static_cast<unsigned>(threads), [&](std::size_t i) {
    found[i] = memory::estimate_memory(model_, *list[i].second.job, list[i].second.gpu);
  });
  for (std::size_t i = 0; i < list.size(); ++i) needs_.emplace(list[i].first, std::move(found[i]));
}

}  // namespace rightsize::plan
