// How fast a job runs, what binds it, and how sure that is.
//
//   Constants constants = *load_constants(overlay);          // data/efficiency.csv, data/stacks.csv, the user's own
//   GpuSpeed gpu = gpu_speed(constants, catalog_gpu);        // once a GPU
//   ModelWork work = work_of(shape);                         // once a model
//   auto step = estimate_training(constants, work, job, gpu, cluster);
//
// The three calls above it are made once; an estimate itself allocates nothing unless it fails and takes microseconds,
// so that a search can make millions. Equations, sources and measured errors: docs/speed.md.
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
#include "perf/calibration/constants.h"
#include "perf/kernels/collectives.h"
#include "perf/kernels/gpu_speed.h"
#include "perf/kernels/roofline.h"
#include "perf/model_work.h"

namespace rightsize::perf {

enum class Bound { kCompute, kMemory, kCommunication, kHost };
std::string_view name_of(Bound bound);

// A list of at most N values without allocation; what does not fit is dropped.
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

// A share of the time under its name; names are literals.
struct TimePart {
  const char* name = "";
  Seconds time;
};
using TimeParts = FixedList<TimePart, 10>;

// What the reader of a number must know about it.
enum class NoteKind {
  kHalfInsteadOfBf16,     // the GPU has no bf16: fp16 was taken
  kWeightOnly,            // the GPU lacks the format: weights are stored in it, arithmetic runs in 16 bits
  kNetworkAssumed,        // value: GB/s a GPU
  kTensorAcrossMachines,  // value: GPUs of a machine
  kNoFastLinks,           // tensor parallelism over PCIe
  kCacheLimits,           // value: requests that run at once
  kBatchLimits,           // value: requests that run at once, by --max-batch
  kPublishedExperts,      // experts stay in the four bits they were published in
  kHostDepends,           // host-bound: the CPU decides
  kUntestedStack,         // the profile was not fitted on such rows
  kMixtureUnsure,
  kMuonIgnored,
  kAttentionWindowIgnored,
  kQuantizedAdapters,  // QLoRA: weights are expanded in every pass
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

// Factors on a value that hold it with 80 % probability.
struct Interval {
  double low = 1, high = 1;
};

struct TrainEstimate {
  Seconds step;  // one optimizer step
  TokensPerSecond tokens_per_gpu;
  double samples_per_second_per_gpu = 0;  // sequences or images
  double mfu = 0;                         // model FLOPs / (peak of the 16-bit or fp8 format x time)
  Seconds device, host;                   // GPU work and CPU work of the step, each as if the other were free
  Bound bound = Bound::kCompute;
  TimeParts parts;    // sum to `step`
  Interval interval;  // of every rate and time above
  Basis basis = Basis::kMeasured;
  Notes notes;
};

// Training: fails where the stack or the GPU cannot run the job as asked, with the reason.
Result<TrainEstimate> estimate_training(const Constants& constants, const ModelWork& work, const model::Job& job,
                                        const GpuSpeed& gpu, const Cluster& cluster);

// What of a served job was not among the measured runs.
enum class Unmeasured { kGpu, kFamily, kFormat, kSpread, kLoad };
std::string_view name_of(Unmeasured what);

struct ServeEstimate {
  Seconds prefill;      // one request's prompt, alone; with the hf stack one pass of `batch` sequences
  Seconds decode_step;  // all running requests, `kept` tokens each
  double kept = 1;      // more than one where tokens are guessed ahead
  Seconds ttft, tpot;
  Seconds transfer;  // disaggregated: the cache of one prompt, from its prefill to its decode worker
  TokensPerSecond output_per_gpu;
  double requests_per_second = 0;  // of all GPUs together
  bool full = false;               // requests wait for a slot
  double running = 0;              // requests decoded together on one replica (disaggregated: one decode worker)
  double max_concurrency = 0;      // requests the KV cache holds
  double utilization = 0;          // open loop: load against what the engine can do
  bool stable = true;              // open loop: false when requests arrive faster than they can be served
  Bound bound = Bound::kMemory;
  TimeParts parts;  // of tpot
  TimeParts prefill_parts;
  Interval tpot_interval, ttft_interval;
  Basis basis = Basis::kMeasured;
  FixedList<Unmeasured, 5> unmeasured;  // why the basis is not "measured", and the intervals are wider
  Notes notes;
};

// What serving needs beside the job.
struct ServeLoad {
  double kv_tokens = 0;    // tokens of cache on one replica; see kv_token_capacity()
  RequestsPerSecond rate;  // open loop; zero: closed loop at job.serve.concurrency
};

using memory::kv_format;

// Tokens of KV cache one replica of this job (disaggregated: one decode worker) holds on this GPU, from the memory
// model; 0 when the weights do not fit, of a prefill worker neither.
double kv_token_capacity(const model::ModelShape& model, const model::Job& job, const catalog::Gpu& gpu);

Result<ServeEstimate> estimate_serving(const Constants& constants, const ModelWork& work, const model::Job& job,
                                       const GpuSpeed& gpu, const Cluster& cluster, const ServeLoad& load);

// A step of a serving engine as straight lines, for simulators of continuous batching: base + prompt_token x prompt
// tokens (and with_prompts, which may be less than nothing, where there are any) + sequence x decoding sequences +
// context_token x tokens these have in the cache. `request` passes outside the steps, before the first token (network,
// tokenizer). `lone_prompt_token` is of passes over prompts alone, with nothing beside them.
struct StepFit {
  Seconds base, prompt_token, with_prompts, lone_prompt_token, sequence, context_token, request;
  Seconds experts;                // all of them take so long; n sequences read experts_reached() of them
  double expert_chance = 0;       // experts a token over all; 0: no mixture of experts
  double expert_evenness = 0;     // of their popularity, as in EngineConstants
  double worst_step_error = 0;    // of decode steps between one and `most_running` requests, as a share
  double worst_prompt_error = 0;  // of prompts half and twice as long as job.serve.isl
  Interval tpot_interval, ttft_interval;
  Basis basis = Basis::kMeasured;
};

// Fitted by least squares of relative errors to the same steps estimate_serving() adds up, around prompts of
// job.serve.isl and answers of job.serve.osl tokens, for one replica. Fails as estimate_serving() does, and for the hf
// stack, which has no continuous batching.
Result<StepFit> fit_engine_step(const Constants& constants, const ModelWork& work, const model::Job& job,
                                const GpuSpeed& gpu, const Cluster& cluster, const ServeLoad& load,
                                double most_running);

// One forward pass of `job.batch` samples through a model that is not a language model.
struct BatchEstimate {
  Seconds batch;
  double samples_per_second = 0;
  Seconds device, host;
  Bound bound = Bound::kCompute;
  TimeParts parts;
  Interval interval;
  Basis basis = Basis::kMeasured;
  Notes notes;
};
Result<BatchEstimate> estimate_batch(const Constants& constants, const ModelWork& work, const model::Job& job,
                                     const GpuSpeed& gpu);

// Whether serving this model means batches of samples (BERT, images) and not tokens one by one.
bool serves_batches(const ModelWork& work);

// The job as this model can have it: engines that generate tokens have no part in serving batches, which is plain
// PyTorch whatever the stack says.
model::Job fitted_to(const ModelWork& work, model::Job job);

// An operation for the roofline picture.
struct RooflineOp {
  std::string name;
  OpTime each;       // one layer's
  double count = 1;  // how often it runs
};
// The operations of one forward pass of `tokens` new tokens over sequences of `context`.
std::vector<RooflineOp> roofline_ops(const ModelWork& work, const model::Job& job, const GpuSpeed& gpu, double batch,
                                     double new_tokens, double context);

}  // namespace rightsize::perf
