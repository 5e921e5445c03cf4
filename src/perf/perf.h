// The speed of a job, its bottleneck, and the uncertainty.
//
//   Constants constants = *load_constants(overlay);          // data/efficiency.csv, data/stacks.csv, the user's own
//   GpuSpeed gpu = gpu_speed(constants, catalog_gpu);        // once per GPU
//   ModelWork work = work_of(shape);                         // once per model
//   auto step = estimate_training(constants, work, job, gpu, cluster);
//
// The first three calls are made once. An estimate takes microseconds and allocates only if it fails, so a search can
// make millions of them. Equations, sources and measured errors: docs/speed.md.
#pragma once

#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/units.h"
#include "memory/kv_cache.h"
#include "model/job.h"
#include "perf/constants/constants.h"
#include "perf/kernels/collectives.h"
#include "perf/kernels/gpu_speed.h"
#include "perf/kernels/power.h"
#include "perf/kernels/roofline.h"
#include "perf/model_work.h"

namespace rightsize::perf {

enum class Bound { kCompute, kMemory, kCommunication, kHost };
std::string_view name_of(Bound bound);

// A list of at most N values without allocation; further values are dropped.
template <class T, std::size_t N>
class FixedList {
 public:
  void push_back(const T& value) {
    if (size_ < N) items_[size_++] = value;
  }
  const T* begin() const { return items_.data(); }
  const T* end() const { return items_.data() + size_; }
  std::size_t size() const { return size_; }
  bool empty() const { return size_ == 0; }
  const T& operator[](std::size_t i) const { return items_[i]; }

 private:
  std::array<T, N> items_{};
  std::size_t size_ = 0;
};

// A named share of the time; names are literals.
struct TimePart {
  const char* name = "";
  Seconds time;
};
using TimeParts = FixedList<TimePart, 12>;

// Remarks about an estimate.
enum class NoteKind {
  kHalfInsteadOfBf16,     // the GPU has no bf16, so fp16 is used
  kWeightOnly,            // the GPU lacks the format: weights are stored in it, arithmetic is 16-bit
  kNetworkAssumed,        // value: GB/s per GPU
  kTensorAcrossMachines,  // value: GPUs per machine
  kNoFastLinks,           // tensor parallelism over PCIe
  kCacheLimits,           // value: concurrent requests
  kBatchLimits,           // value: concurrent requests, limited by --max-batch
  kPublishedExperts,      // experts keep their published 4-bit format
  kExpandedExperts,       // and are computed in 16 bits, although the GPU has 4-bit arithmetic
  kHostDepends,           // host-bound: speed depends on the CPU
  kUntestedStack,         // the profile was not fitted on such runs
  kMixtureUnsure,
  kMuonIgnored,
  kAttentionWindowIgnored,
  kQuantizedAdapters,  // QLoRA: weights are dequantized in every pass
  kAdapterInputs,      // LoRA without autocast: every adapted layer's input is cast to fp32 and back
  kFusedIgnored,       // the eager profile has no fused kernels or losses
  kEagerDecode,        // value: milliseconds of a step without a CUDA graph
};
struct Note {
  NoteKind kind = NoteKind::kNetworkAssumed;
  double value = 0;
};
using Notes = FixedList<Note, 8>;
std::string describe(const Note& note);

// Factors on a value that bound it with 80 % probability.
struct Interval {
  double low = 1, high = 1;
};

struct TrainEstimate {
  Seconds step;  // one optimizer step
  TokensPerSecond tokens_per_gpu;
  double samples_per_second_per_gpu = 0;  // sequences or images
  double mfu = 0;                         // model FLOPs divided by the format's peak; causal attention counts once
  Seconds device, host;                   // GPU and CPU time of the step, each without the other
  Bound bound = Bound::kCompute;
  TimeParts parts;    // their sum is `step`
  Interval interval;  // applies to every rate and time above
  Basis basis = Basis::kMeasured;
  std::string_view relative;  // the measured GPU that the losses come from; empty: this one
  PowerEstimate power;
  Notes notes;
};

// Training. Fails with the reason if the stack or the GPU cannot run the job.
Result<TrainEstimate> estimate_training(const Constants& constants, const ModelWork& work, const model::Job& job,
                                        const GpuSpeed& gpu, const Cluster& cluster);

// Aspects of a serving job without a measured run.
enum class Unmeasured { kGpu, kFamily, kFormat, kSpread, kLoad };
std::string_view name_of(Unmeasured what);

// Percentiles of a latency over requests.
struct Percentiles {
  Seconds p50, p95, p99;
};

struct ServeEstimate {
  Seconds prefill;      // one request's prompt, alone; with the hf stack one pass of `batch` sequences
  Seconds decode_step;  // all running requests, `kept` tokens each
  double kept = 1;      // tokens kept per step; more than one with speculative decoding
  Seconds ttft, tpot;
  Seconds transfer;  // disaggregated: the cache of one prompt, from its prefill to its decode worker
  TokensPerSecond output_per_gpu;
  double requests_per_second = 0;  // all GPUs together
  bool full = false;               // requests wait for a slot
  double running = 0;              // requests decoded together on one replica (disaggregated: one decode worker)
  double max_concurrency = 0;      // requests the KV cache holds
  double utilization = 0;          // open loop: load as a share of the engine's capacity
  bool stable = true;              // open loop: false when requests arrive faster than they can be served
  Seconds latency;                 // of a whole request
  // Open loop, while stable: requests of the same lengths that arrive at random.
  Percentiles ttft_percentiles, tpot_percentiles, latency_percentiles;
  Bound bound = Bound::kMemory;
  TimeParts parts;  // of tpot
  TimeParts prefill_parts;
  Interval tpot_interval, ttft_interval;
  Basis basis = Basis::kMeasured;
  std::string_view relative;            // the measured GPU that the losses come from; empty: this one
  FixedList<Unmeasured, 5> unmeasured;  // why the basis is not "measured", and the intervals are wider
  PowerEstimate power;
  Notes notes;
};

// Tokens kept per step of speculative decoding, the model's own included: the mean measured curve of a method, or a
// formula from the probability that the first draft is accepted. At least one.
double accepted_tokens(const Constants& constants, const model::Speculation& speculation);

// The load on a service, besides the job.
struct ServeLoad {
  double kv_tokens = 0;    // cache tokens per replica; see kv_token_capacity()
  RequestsPerSecond rate;  // open loop; zero: closed loop at job.serve.concurrency
  bool of_job = false;     // closed loop: the items of a job, whose lengths are means, not those of a benchmark
};

// Tokens of KV cache that fit on one replica (disaggregated: one decode worker), from the memory model; 0 if the
// weights do not fit on a replica or on a prefill worker.
double kv_token_capacity(const model::ModelShape& model, const model::Job& job, const catalog::Gpu& gpu);

Result<ServeEstimate> estimate_serving(const Constants& constants, const ModelWork& work, const model::Job& job,
                                       const GpuSpeed& gpu, const Cluster& cluster, const ServeLoad& load);

// A linear model of an engine step, for simulators of continuous batching: base + prompt_token x prompt tokens (plus
// with_prompts, possibly negative, if there are any) + sequence x decoding sequences + context_token x their cached
// tokens. `request` is time before the first token outside the steps (network, tokenizer). `lone_prompt_token` applies
// to passes with prompts only.
struct StepFit {
  Seconds base, prompt_token, with_prompts, lone_prompt_token, sequence, context_token, request;
  Seconds experts;                     // time to read all experts; n sequences read share_reached() of them
  double expert_chance = 0;            // active share of the experts; 0: dense model
  double expert_evenness = 0;          // evenness of expert popularity, as in EngineConstants
  bool prompts_first = false;          // prompts run in separate passes, before the next decode step
  double wait_few = 0, wait_many = 0;  // decode steps before a prompt starts, with up to 8 and from 16 running requests
  double worst_step_error = 0;         // relative error of decode steps with 1 to `most_running` requests
  double worst_prompt_error = 0;       // relative error for prompts half and twice as long as job.serve.isl
  Interval tpot_interval, ttft_interval;
  Basis basis = Basis::kMeasured;
};

// Least-squares fit (relative errors) to the steps of estimate_serving(), for one replica and lengths around
// job.serve.isl and osl. Fails if estimate_serving() does, and for the hf stack, which has no continuous batching.
Result<StepFit> fit_engine_step(const Constants& constants, const ModelWork& work, const model::Job& job,
                                const GpuSpeed& gpu, const Cluster& cluster, const ServeLoad& load,
                                double most_running);

// One forward pass of `job.batch` samples through a model that is not a language model.
struct BatchEstimate {
  Seconds batch;
  double samples_per_second = 0;  // of each GPU
  Seconds device, host;
  Bound bound = Bound::kCompute;
  TimeParts parts;
  Interval interval;
  Basis basis = Basis::kMeasured;
  std::string_view relative;  // the measured GPU that the losses come from; empty: this one
  PowerEstimate power;
  Notes notes;
};
Result<BatchEstimate> estimate_batch(const Constants& constants, const ModelWork& work, const model::Job& job,
                                     const GpuSpeed& gpu);

// Whether this model is served in batches of samples (BERT, images) instead of token by token.
bool serves_batches(const ModelWork& work);

// The job adapted to the model: models served in batches always run in plain PyTorch.
model::Job fitted_to(const ModelWork& work, model::Job job);

// An operation for the roofline picture.
struct RooflineOp {
  std::string name;
  OpTime each;       // time in one layer
  double count = 1;  // number of runs
};
// The operations of one forward pass of `tokens` new tokens over sequences of `context`.
std::vector<RooflineOp> roofline_ops(const ModelWork& work, const model::Job& job, const GpuSpeed& gpu, double batch,
                                     double new_tokens, double context);

}  // namespace rightsize::perf
