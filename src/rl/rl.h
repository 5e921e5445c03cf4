// Post-training by reinforcement learning: the time of one step, phase by phase, and what each side waits for.
//
//   RlJob job;  // algorithm, layout, lengths, settings of trainer and engine
//   Result<RlEstimate> step = estimate_step(predictor, job, gpus, gpus, constants);
//
// A step combines models from other modules. A serving engine generates the answers; all requests start at once (sim,
// with perf's step times), and the longest answers decide when the batch is complete. Log-probabilities and the update
// are passes of a trainer (perf). Weights then move to the engine. The overheads of frameworks are in
// data/rl_stacks.csv. Equations, sources and measured errors: docs/rl.md.
#pragma once

#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "capacity/replica.h"
#include "catalog/catalog.h"
#include "model/job.h"
#include "perf/perf.h"

namespace rightsize::rl {

enum class Algorithm { kGrpo, kPpo, kDapo, kRloo, kReinforce, kDistill };
std::string_view name_of(Algorithm algorithm);

enum class Framework { kVerl, kNemoRl, kOpenRlhf, kTrl };
std::string_view name_of(Framework framework);

// Trainer and engine take turns on the same GPUs, or each has its own.
struct Layout {
  bool split = false;
  int train = 1, rollout = 1;  // GPUs; equal and the same ones if not split

  int gpus() const { return split ? train + rollout : train; }
  bool operator==(const Layout&) const = default;
};
std::string describe(const Layout& layout);  // "colocated", "split=8:8"
// "colocated" on `gpus`, or "split=TRAINER:ROLLOUT".
Result<Layout> parse_layout(const std::string& text, std::optional<int> gpus);

// Answers in tokens: the mean, the coefficient of variation and the longest allowed.
struct AnswerLengths {
  double mean = 1, variation = 0, most = 0;  // most 0: no limit
};

struct RlJob {
  Algorithm algorithm = Algorithm::kGrpo;
  Framework framework = Framework::kVerl;
  Layout layout;
  double async = 0;  // steps that a sample may be older than the policy; fractions are shares of a batch
  double prompts = 1, samples = 1;
  double isl = 1;  // mean tokens of a prompt
  AnswerLengths answers;
  double train_batch = 1;                // sequences per optimizer step
  bool reference = true;                 // log-probabilities of a frozen copy
  double kept_prompts = 1;               // share of prompts used for training (DAPO drops groups of equal rewards)
  std::optional<Seconds> reward;         // time to judge an answer; empty: the framework's usual time
  double reward_workers = 1;             // answers judged at the same time
  std::optional<double> engine_share;    // of a GPU's memory, for the engine; empty: the usual share of its layout
  double first_mean = 0, last_mean = 0;  // means of the first and the last step, if answers grow; `answers` is between
  model::Job train, rollout;             // settings of the trainer and of the engine; parallel.gpus as in `layout`

  double sequences() const { return prompts * samples; }
  double tokens() const { return sequences() * (isl + answers.mean); }
  double longest() const;  // tokens of the longest sequence, prompt included
  bool has_critic() const { return algorithm == Algorithm::kPpo; }
};

// The job at its first and at its last step; the same if answers do not grow.
RlJob at_first_step(RlJob job);
RlJob at_last_step(RlJob job);

// Completes the two jobs from the layout and the framework: kinds, stacks, GPUs, sharding and the engine's share of
// memory. Formats, recomputation and parallel sizes stay as they are.
void settle(RlJob& job);

// The overheads of a framework.
struct StackConstants {
  double update = 1, log_prob = 1;  // factors on the trainer's passes
  Seconds engine_step, host_step;   // per step of the engine; the second only if it spans hosts
  Seconds sync;
  BytesPerSecond sync_rate;
  Seconds reward;    // per answer
  Seconds between;   // per step
  double width = 0;  // 80 % of |log error|
};
// From data/rl_stacks.csv; rows of a framework replace those of all.
StackConstants constants_of(Framework framework);

// The GPUs of one side.
struct Pool {
  const catalog::Gpu* gpu = nullptr;
  perf::GpuSpeed speed;
  perf::Cluster cluster;
};
Pool pool_of(const perf::Constants& constants, const catalog::Gpu& gpu);

enum class PhaseKind { kGenerate, kLogProb, kReward, kUpdate, kSync };
std::string_view name_of(PhaseKind kind);

struct Phase {
  PhaseKind kind = PhaseKind::kGenerate;
  Seconds time;      // from its start to its end
  Seconds exposed;   // its part of the step; less than `time` if it overlaps another phase
  Watts power = {};  // mean of each GPU that works in it; zero: unknown
};

enum class Limit { kGeneration, kTraining, kLongestAnswers };
std::string_view name_of(Limit limit);

struct RlEstimate {
  Seconds step;
  std::vector<Phase> phases;                          // `exposed` sums to `step`
  double tokens_per_gpu = 0;                          // tokens of prompts and answers per second and GPU
  double train_idle = 0, rollout_idle = 0, idle = 0;  // shares of GPU time without work
  Seconds tail;                                       // generation time saved if all replicas finished together
  double replicas = 1;                                // of the engine
  double per_replica = 1;                             // answers of each
  Limit limit = Limit::kGeneration;
  perf::Interval interval;  // factors on `step`
  perf::Basis basis = perf::Basis::kMeasured;
  Watts train_power, rollout_power;  // mean of each GPU of a side over the step; zero: unknown
  perf::PowerEstimate power;         // ... of all GPUs; its clock is that of the slowest phase
};

// Fails with the reason if the trainer or the engine cannot run the model on these GPUs.
Result<RlEstimate> estimate_step(const capacity::Predictor& predictor, const RlJob& job, const Pool& train,
                                 const Pool& rollout, const StackConstants& constants);

}  // namespace rightsize::rl
