// Puts the phases of a step together.
#include <algorithm>
#include <cmath>

#include "memory/weight_bytes.h"
#include "rl/rl.h"
#include "rl/rollout.h"
#include "rl/trainer.h"

namespace rightsize::rl {
namespace {

// verl trains on answers as they arrive, the others on whole batches.
bool streams(const RlJob& job) { return job.framework == Framework::kVerl; }

// verl's asynchronous trainer uses the engine's log-probabilities; its pipeline of whole steps computes them again.
bool recomputes_log_probs(const RlJob& job) { return !(job.layout.split && streams(job) && job.async < 1); }

// The number of passes without gradients over all sequences.
double forward_passes(const RlJob& job) {
  return (recomputes_log_probs(job) ? 1 : 0) + (job.reference ? 1 : 0) + (job.has_critic() ? 1 : 0);
}

// The bytes sent to the engine: all weights, or adapters, which are about 1 % of them.
Bytes moved_bytes(const model::ModelShape& model, const RlJob& job) {
  constexpr double kAdapterShare = 0.01;
  const Bytes all = memory::model_weight_bytes(model, model::Precision::kBf16, {}, false);
  return job.train.train.method == model::Method::kFull ? all : all * kAdapterShare;
}

struct Parts {
  Seconds generate, log_prob, reward, update, sync, between;
  Seconds load;  // the part of `sync` for which a running engine stops

  Seconds training() const { return log_prob + update; }
};

// The time of a step in which the engine works at the same time as the trainer, including the transfer of weights. The
// trainer gathers and sends them; a running engine only stops to load them.
Seconds overlapped(const RlJob& job, const Rollout& rollout, const Parts& parts, double optimizer_steps) {
  const Seconds training = parts.training();
  if (streams(job)) {
    // The batch is complete once the (1 + async) batches in flight contain one; the last optimizer step waits for it.
    const Seconds arrived = std::max(rollout.steady, rollout.until(1 / (1 + job.async)));
    return std::max(arrived + training / optimizer_steps, training) + parts.sync;
  }
  const double batches = std::max(1.0, job.async);
  const Seconds generation = std::max(rollout.steady, rollout.batch / batches) + parts.load;
  const Seconds pipelined = std::max(generation, training + parts.sync);
  const Seconds in_turn = rollout.batch + parts.reward + training + parts.sync;
  return in_turn + (pipelined - in_turn) * std::min(1.0, job.async);
}

// How long the engine's GPUs generate in a step. Replicas without the longest answer wait for it.
Seconds generating(const RlJob& job, const Rollout& rollout, Seconds step) {
  return job.layout.split && job.async > 0 ? std::min(rollout.typical, step) : rollout.typical;
}

double idle_share(Seconds busy, Seconds step) { return std::clamp(1 - busy / step, 0.0, 1.0); }

// The host's work leaves the GPUs idle.
void add_idle(const RlJob& job, const Rollout& rollout, const Parts& parts, RlEstimate& e) {
  const Seconds generates = generating(job, rollout, e.step);
  if (job.layout.split) {
    e.train_idle = idle_share(parts.training() + parts.sync, e.step);
    e.rollout_idle = idle_share(generates + parts.sync, e.step);
    e.idle = (e.train_idle * job.layout.train + e.rollout_idle * job.layout.rollout) / job.layout.gpus();
  } else {
    e.idle = idle_share(generates + parts.training() + parts.sync, e.step);
    e.train_idle = e.rollout_idle = e.idle;
  }
}

Watts highest_power(const perf::GpuPower& gpu) { return gpu.capped() ? gpu.cap : gpu.limit; }

// GPUs draw the power of each phase while they work in it, and idle otherwise.
void add_power(const RlJob& job, const Rollout& rollout, const Training& training, const Parts& parts,
               const perf::GpuPower& trainer, RlEstimate& e) {
  const perf::GpuPower& engine = rollout.gpu;
  if (!rollout.power.known() || !training.update_power.known() || !training.forward_power.known()) return;
  const auto sync = [](const perf::GpuPower& gpu) { return gpu.idle + gpu.exchange; };
  const auto above_idle = [&](const perf::GpuPower& gpu, Watts power, Seconds time) {
    return (power - gpu.idle) * std::min(1.0, time / e.step);
  };
  const Watts generate = above_idle(engine, rollout.power.mean, generating(job, rollout, e.step));
  e.train_power = trainer.idle + above_idle(trainer, training.forward_power.mean, parts.log_prob) +
                  above_idle(trainer, training.update_power.mean, parts.update) +
                  above_idle(trainer, sync(trainer), parts.sync);
  if (job.layout.split)
    e.rollout_power = engine.idle + generate + above_idle(engine, sync(engine), parts.sync);
  else
    e.train_power += generate, e.rollout_power = e.train_power;
  const Watts powers[] = {rollout.power.mean, training.forward_power.mean, engine.idle, training.update_power.mean,
                          sync(trainer)};
  for (std::size_t i = 0; i < e.phases.size(); ++i) e.phases[i].power = powers[i];
  e.power.mean = job.layout.split
                     ? (e.train_power * job.layout.train + e.rollout_power * job.layout.rollout) / job.layout.gpus()
                     : e.train_power;
  for (const perf::PowerEstimate& part : {rollout.power, training.forward_power, training.update_power}) {
    e.power.clock = std::min(e.power.clock, part.clock);
    e.power.slower = std::min(e.power.slower, part.slower);
  }
  perf::GpuPower both = trainer;
  both.idle = std::min(trainer.idle, engine.idle), both.width = std::max(trainer.width, engine.width);
  perf::bound_power(both, std::max(highest_power(trainer), highest_power(engine)), e.power);
}

void add_phases(const RlJob& job, const Parts& parts, RlEstimate& e) {
  const bool together = job.layout.split;
  const Seconds training = parts.training();
  // In a split step the trainer's work counts in full, and generation counts as far as the trainer waits for it.
  const Seconds rest = e.step - parts.sync - parts.between;
  const Seconds waits = together ? std::max(Seconds{}, rest - training) : parts.generate;
  e.phases = {{PhaseKind::kGenerate, parts.generate, waits},
              {PhaseKind::kLogProb, parts.log_prob, parts.log_prob},
              {PhaseKind::kReward, parts.reward, together ? Seconds{} : parts.reward},
              {PhaseKind::kUpdate, parts.update, parts.update},
              {PhaseKind::kSync, parts.sync + parts.between, parts.sync + parts.between}};
}

Limit limit_of(const RlJob& job, const Rollout& rollout, const Parts& parts, const RlEstimate& e) {
  // Both sides of a split step are in balance if the trainer hardly waits.
  constexpr double kBalance = 0.1;
  const bool trains =
      job.layout.split ? e.phases.front().exposed <= e.step * kBalance : parts.training() >= rollout.batch;
  if (trains) return Limit::kTraining;
  return rollout.steady < rollout.batch / 2 ? Limit::kLongestAnswers : Limit::kGeneration;
}

}  // namespace

Result<RlEstimate> estimate_step(const capacity::Predictor& predictor, const RlJob& job, const Pool& train,
                                 const Pool& engine, const StackConstants& constants) {
  RIGHTSIZE_TRY(const Rollout rollout, simulate_rollout(predictor, job, engine, constants, job.async));
  return estimate_step(predictor, job, train, rollout, constants);
}

Result<RlEstimate> estimate_step(const capacity::Predictor& predictor, const RlJob& job, const Pool& train,
                                 const Rollout& rollout, const StackConstants& constants) {
  RIGHTSIZE_TRY(const Training training, estimate_trainer(predictor.constants, predictor.work, job, train));
  Parts parts;
  parts.generate = rollout.batch;
  parts.log_prob = training.forward * (forward_passes(job) * constants.log_prob);
  parts.update = training.update * (constants.update * (job.has_critic() ? 2 : 1));
  parts.reward =
      job.reward.value_or(constants.reward) * (job.sequences() / job.kept_prompts / std::max(1.0, job.reward_workers));
  parts.sync = constants.sync + moved_bytes(predictor.model, job) / constants.sync_rate;
  parts.load = constants.sync;
  parts.between = constants.between;

  RlEstimate e;
  const Seconds work = job.layout.split ? overlapped(job, rollout, parts, training.optimizer_steps)
                                        : rollout.batch + parts.reward + parts.training() + parts.sync;
  e.step = work + parts.between;
  e.replicas = rollout.replicas, e.per_replica = rollout.per_replica;
  e.tail = rollout.batch - rollout.typical;
  e.tokens_per_gpu = job.tokens() / in_seconds(e.step) / job.layout.gpus();
  e.interval = {std::exp(-constants.width), std::exp(constants.width)};
  e.basis = std::max(rollout.basis, training.basis);
  add_phases(job, parts, e);
  e.limit = limit_of(job, rollout, parts, e);
  add_idle(job, rollout, parts, e);
  add_power(job, rollout, training, parts, train.speed.power, e);
  return e;
}

}  // namespace rightsize::rl
