#include "rl/trainer.h"

#include <algorithm>
#include <cmath>

#include "sim/lengths.h"

namespace rightsize::rl {
namespace {

// What frameworks usually give the engine: the rest if the trainer shares the GPU, otherwise nearly all.
constexpr double kSharedMemory = 0.6, kOwnMemory = 0.9;

// Attention grows with the square of a sequence's length, so long sequences count more: E[L^2] / E[L].
double weighted_length(const RlJob& job) {
  double sum = 0, squares = 0;
  for (const std::int32_t answer : sim::length_table(job.answers.mean, job.answers.variation, job.answers.most)) {
    const double length = job.isl + answer;
    sum += length, squares += length * length;
  }
  return squares / sum;
}

}  // namespace

model::Stack trainer_stack(Framework framework, const model::Parallelism& parallel) {
  const bool model_parallel = parallel.tensor > 1 || parallel.pipeline > 1 || parallel.expert > 1;
  if (framework == Framework::kNemoRl || (framework == Framework::kVerl && model_parallel))
    return model::Stack::kMegatron;
  return model::Stack::kTorchTitan;
}

double memory_of_engine(const RlJob& job) {
  return job.engine_share.value_or(job.layout.split ? kOwnMemory : kSharedMemory);
}

void settle(RlJob& job) {
  job.train.kind = model::JobKind::kTrain;
  job.train.parallel.gpus = job.layout.train;
  job.train.stack = trainer_stack(job.framework, job.train.parallel);
  if (job.layout.train > 1) job.train.parallel.zero = job.train.stack == model::Stack::kMegatron ? 1 : 3;
  job.rollout.kind = model::JobKind::kServe;
  job.rollout.stack = model::Stack::kVllm;
  const int copy = job.rollout.parallel.tensor * job.rollout.parallel.pipeline;
  job.rollout.parallel.gpus = std::max(copy, job.layout.rollout / copy * copy);
  job.rollout.serve.memory_share = memory_of_engine(job);
}

model::Job peak_training(const RlJob& job) {
  model::Job peak = job.train;
  peak.batch = 1;
  peak.sequence = std::max<std::int64_t>(1, std::llround(job.longest()));
  const double replicas = std::max(1, peak.parallel.data());
  peak.train.accumulation = static_cast<int>(std::clamp(std::ceil(job.train_batch / replicas), 1.0, 1e6));
  return peak;
}

Result<Training> estimate_trainer(const perf::Constants& constants, const perf::ModelWork& work, const RlJob& job,
                                  const Pool& pool) {
  model::Job train = job.train;
  const double replicas = std::max(1, train.parallel.data());
  const double mean = job.isl + job.answers.mean;
  const double attended = weighted_length(job);
  const double per_step = std::min(job.train_batch, job.sequences());
  // Micro-batches of as many tokens as the longest sequence has, as one replica counts them.
  const double tokens = per_step * mean / replicas;
  const double pack = std::min(job.longest(), tokens);
  train.batch = std::max<std::int64_t>(1, std::llround(pack / attended));
  train.sequence = std::max<std::int64_t>(1, std::llround(pack / static_cast<double>(train.batch)));
  const double micro = static_cast<double>(train.sequence * train.batch);
  train.train.accumulation = static_cast<int>(std::clamp(std::round(tokens / micro), 1.0, 1e6));
  const double modelled = micro * train.train.accumulation;

  Training training;
  training.optimizer_steps = std::max(1.0, job.sequences() / per_step);
  RIGHTSIZE_TRY(const perf::TrainEstimate step,
                perf::estimate_training(constants, work, train, pool.speed, pool.cluster));
  const double scale = training.optimizer_steps * tokens / modelled;
  training.update = step.step * scale;
  training.update_power = step.power;
  training.basis = step.basis;
  // The forward part is a third of a pass without recomputation.
  model::Job plain = train;
  plain.train.recompute = model::Recompute::kNone;
  RIGHTSIZE_TRY(const perf::TrainEstimate kept,
                perf::estimate_training(constants, work, plain, pool.speed, pool.cluster));
  training.forward = kept.step * (scale / 3);
  training.forward_power = kept.power;
  return training;
}

}  // namespace rightsize::rl
