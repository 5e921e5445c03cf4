#include "plan/memory_table.h"

#include <algorithm>
#include <array>

namespace rightsize::plan {
namespace {

using workload::Job;
using workload::Method;
using workload::Precision;

// Numbers of shards that are compiled; beyond the last one memory hardly changes.
constexpr std::array<int, 4> kShards = {2, 8, 64, 1024};

int shards_of(const Job& job) { return job.parallel.zero > 0 ? std::max(1, job.parallel.data()) : 1; }

Job with_shards(Job job, int shards) {
  job.parallel.gpus = shards * job.parallel.tensor * job.parallel.pipeline * job.parallel.context;
  return job;
}

// Bytes a parameter that is trained: kept, gradient, optimizer states. Never more than the tape has.
struct PerParameter {
  double weight, gradient, states;
};

PerParameter per_parameter(const Job& job) {
  const bool narrow_states = job.train.optimizer != workload::Optimizer::kAdamW || job.train.optimizer_states;
  switch (job.precision) {
    case Precision::kAmpBf16:
    case Precision::kAmpFp16:
    case Precision::kFp32:
      return {4, 4, narrow_states ? 0.0 : 8};
    case Precision::kMixedBf16:
    case Precision::kFp8:
      return {2, 2, narrow_states ? 4.0 : 12};
    default:
      return {2, 2, narrow_states ? 0.0 : 4};
  }
}

}  // namespace

const memory::TrainingNeeds& MemoryTable::curve(const Job& job, int shards) {
  const workload::Parallelism& p = job.parallel;
  const CurveKey key{static_cast<int>(job.train.method),
                     static_cast<int>(job.precision),
                     static_cast<int>(job.train.recompute),
                     p.tensor,
                     p.pipeline,
                     p.zero,
                     job.train.accumulation > 1,
                     shards};
  std::unique_ptr<memory::TrainingNeeds>& found = curves_[key];
  if (!found) found = std::make_unique<memory::TrainingNeeds>(model_, with_shards(job, shards));
  return *found;
}

Bytes MemoryTable::high(const Job& job) {
  const int shards = shards_of(job);
  const double batch = static_cast<double>(job.batch);
  // Plain data parallelism holds everything everywhere: one GPU's share is the same for any number from two on.
  if (shards == 1) return curve(job, std::min(2, std::max(1, job.parallel.data()))).high(batch);
  const auto above = std::lower_bound(kShards.begin(), kShards.end(), shards);
  if (above == kShards.end()) return curve(job, kShards.back()).high(batch);
  const Bytes at_above = curve(job, *above).high(batch);
  if (*above == shards) return at_above;
  const int below = above == kShards.begin() ? 1 : *(above - 1);
  const double share = (1.0 / shards - 1.0 / *above) / (1.0 / below - 1.0 / *above);
  return at_above * (1 - share) + curve(job, below).high(batch) * share;
}

Bytes MemoryTable::floor(const Job& job) const {
  const double parameters = parameters_ / (job.parallel.tensor * job.parallel.pipeline);
  const int zero = job.parallel.zero;
  const double shards = std::max(1, job.parallel.data());
  if (job.train.method != Method::kFull || job.train.offload != workload::Offload::kNone ||
      job.train.optimizer_in_backward || model_.experts) {
    constexpr double kQuantized = 0.5;
    const double width = job.train.method == Method::kQlora ? kQuantized : 2.0;
    return job.train.offload == workload::Offload::kParameters || model_.experts
               ? Bytes{}
               : bytes(parameters * width / (zero >= 3 ? shards : 1));
  }
  const PerParameter each = per_parameter(job);
  return bytes(parameters * (each.weight / (zero >= 3 ? shards : 1) + each.gradient / (zero >= 2 ? shards : 1) +
                             each.states / (zero >= 1 ? shards : 1)));
}

const memory::MemoryNeed& MemoryTable::need(const Job& job, const catalog::Gpu& gpu) {
  const workload::Parallelism& p = job.parallel;
  const CurveKey settings{static_cast<int>(job.train.method),
                          static_cast<int>(job.precision),
                          static_cast<int>(job.train.recompute),
                          p.tensor,
                          p.pipeline,
                          p.zero,
                          job.train.accumulation > 1,
                          p.gpus};
  const bool serves = job.kind == workload::JobKind::kServe;
  const NeedKey key{
      settings, job.batch,
      serves ? static_cast<int>(job.serve.concurrency) : std::min(job.train.accumulation, std::max(2, p.pipeline)),
      static_cast<int>(job.stack), serves ? gpu.name : std::string()};
  auto found = needs_.find(key);
  if (found == needs_.end()) found = needs_.emplace(key, memory::estimate_memory(model_, job, &gpu)).first;
  return found->second;
}

}  // namespace rightsize::plan
