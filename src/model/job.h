// A job and its settings, without the model and the hardware.
//
// Flags and YAML files both become a list of Settings (a name and a text, with a place if it came from a file).
// parse_job() turns that list into a Job and reports every mistake at once.
#pragma once

#include <compare>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "model/image_size.h"

namespace rightsize::model {

enum class JobKind { kTrain, kServe };
enum class Method { kFull, kLora, kQlora };
enum class LoraTargets { kAllLinear, kAttention };

// Number formats of a job. Training formats describe weights, gradients and optimizer states.
enum class Precision {
  kBf16,       // train: everything bf16, optimizer states too. serve: bf16 weights
  kFp16,       // serve only
  kAmpBf16,    // fp32 weights, gradients and states under bf16 autocast
  kAmpFp16,    // the same under fp16 autocast with loss scaling
  kMixedBf16,  // bf16 weights, fp32 master copy and states (Megatron, DeepSpeed)
  kFp32,
  kFp8,   // train: fp8 matrix products over kMixedBf16. serve: fp8 weights
  kInt8,  // serve: weights
  kInt4,  // serve: AWQ / GPTQ, groups of 128 with 16-bit scales
  kNf4,   // serve and the base of QLoRA: bitsandbytes blocks of 64, doubly quantized scales
  kFp4,   // train: NVFP4 matrix products over kMixedBf16. serve: NVFP4 / MXFP4 blocks with 8-bit scales
};
// Whether the arithmetic is bf16, which some GPUs lack.
constexpr bool is_bf16(Precision precision) {
  return precision == Precision::kBf16 || precision == Precision::kAmpBf16 || precision == Precision::kMixedBf16;
}

enum class Optimizer { kAdamW, kAdamW8bit, kAdamWPaged8bit, kSgd, kSgdMomentum, kAdafactor, kLion, kMuon };
enum class StateFormat { kFp32, kBf16, kInt8 };
enum class Recompute { kNone, kSelective, kFull };
enum class Attention { kEager, kSdpa, kFlash };
enum class CrossEntropy { kEager, kChunked, kFused };
enum class Offload { kNone, kOptimizer, kParameters };

// The modelled software.
enum class Stack { kHf, kTorchTitan, kMegatron, kLlmFoundry, kVllm, kTrtLlm, kSglang };

struct Parallelism {
  int gpus = 1;
  int tensor = 1;
  int pipeline = 1;
  int context = 1;
  int expert = 1;          // train: over data parallel groups. serve: groups the experts of one copy are split into
  int attention_data = 1;  // serve: groups the attention of one copy is split into, each with a separate cache
  int pipeline_interleave = 1;    // virtual stages per GPU
  bool sequence_parallel = true;  // with tensor parallelism: norms and dropouts are divided too
  int zero = 0;                   // 0 plain data parallel, 1 states, 2 + gradients, 3 + parameters (FSDP full shard)

  int data() const { return gpus / (tensor * pipeline * context); }
  int attention_tensor() const { return tensor / attention_data; }  // GPUs that share one sequence's attention

  auto operator<=>(const Parallelism&) const = default;
};

struct TrainSettings {
  Method method = Method::kFull;
  int lora_rank = 16;
  LoraTargets lora_targets = LoraTargets::kAllLinear;
  Optimizer optimizer = Optimizer::kAdamW;
  std::optional<StateFormat> optimizer_states;  // unset: follows from the precision
  std::optional<StateFormat> gradients;         // of the accumulation buffer (mixed precision); unset: fp32
  Recompute recompute = Recompute::kNone;
  Attention attention = Attention::kSdpa;
  CrossEntropy cross_entropy = CrossEntropy::kEager;
  bool fused_kernels = false;          // one kernel for SwiGLU, one for norms (Liger, Apex)
  bool compile = false;                // torch.compile of the whole forward pass
  bool optimizer_in_backward = false;  // each gradient is used and freed as soon as it exists
  int accumulation = 1;
  Offload offload = Offload::kNone;  // to host memory
  bool offload_activations = false;
  // DPO: a sample is a pair, a chosen and a rejected answer; a frozen reference model reads both. With adapters, the
  // reference is the base without them.
  bool preference = false;

  auto operator<=>(const TrainSettings&) const = default;
};

// Separate workers for prompts and for answers, each on `tensor` GPUs.
struct Disaggregated {
  int prefill_workers = 1, prefill_tensor = 1;
  int decode_workers = 1, decode_tensor = 1;

  int gpus() const { return prefill_workers * prefill_tensor + decode_workers * decode_tensor; }

  auto operator<=>(const Disaggregated&) const = default;
};

// Speculative decoding: tokens drafted in every step, by a small model or by extra heads (MTP).
struct Speculation {
  int tokens = 0;           // 0: none
  double acceptance = 0.8;  // probability that the first draft is accepted
  std::string method;       // not empty: acceptance as measured with this method

  auto operator<=>(const Speculation&) const = default;
};

struct ServeSettings {
  std::int64_t isl = 1024;
  std::int64_t osl = 256;
  std::int64_t concurrency = 1;
  std::optional<Precision> kv_precision;  // unset: the engine's default, see memory::kv_format()
  std::optional<Disaggregated> disaggregated;
  double prefix_hit = 0;  // share of a prompt's tokens found in the prefix cache
  Speculation speculation;
  std::optional<std::int64_t> max_batch;   // requests the engine decodes together; unset: no limit
  std::optional<std::int64_t> max_tokens;  // per pass; unset: the engine's default
  std::optional<std::int64_t> poll_steps;  // decode steps between two checks of the queue; unset: the usual setting
  double memory_share = 0.9;               // of the GPU that the engine may use (vLLM's gpu-memory-utilization)
  bool quantize_embeddings = false;        // embeddings and head stay 16-bit unless this is set

  auto operator<=>(const ServeSettings&) const = default;
};

// The images of a request.
struct ImageSettings {
  std::optional<int> steps;             // of denoising; unset: the model's usual number
  std::optional<bool> guidance;         // unset: the model's usual mode
  std::optional<ImageSize> resolution;  // unset: the model's own
  std::optional<int> frames;            // of a video; unset: the model's usual number
  int count = 0;                        // images in a prompt
  std::int64_t tokens = 0;              // the images' part of serve.isl; follows from the model

  auto operator<=>(const ImageSettings&) const = default;
};

struct Job {
  JobKind kind = JobKind::kTrain;
  Precision precision = Precision::kBf16;
  Stack stack = Stack::kHf;
  std::int64_t batch = 1;     // sequences (or images) per GPU in one pass
  std::int64_t sequence = 0;  // tokens; 0: the caller fills in the model's default
  TrainSettings train;
  ServeSettings serve;
  ImageSettings image;
  Parallelism parallel;

  auto operator<=>(const Job&) const = default;
};

// The passes of a job on preference pairs: two sequences for every pair. Other jobs are unchanged.
inline Job without_pairs(Job job) {
  if (job.train.preference) job.batch *= 2, job.train.preference = false;
  return job;
}

// "lora-rank" = "16", with its place if it came from a file.
struct Setting {
  std::string name;
  std::string value;
  Place place;
};

// The precision of a training job without --precision. Megatron and torchtitan keep bf16 weights with fp32 master
// copies and gradients; the others train in the format the model is loaded in.
Precision default_training_precision(Stack stack, Method method);

// The names of the settings of a job, in the order of help. settings/setting.h describes them.
const std::vector<std::string>& job_settings();

// Whether the setting applies only to jobs of this kind.
bool belongs_only_to(JobKind kind, std::string_view setting);

// The job that these settings describe, or every mistake: unknown names and values (with suggestions), numbers out of
// range, duplicates, and contradictions (QLoRA over fp32, gpus that tp x pp x cp do not divide, a training precision
// for serving). Without "job", settings that apply only to serving make it a serving job.
Checked<Job> parse_job(const std::vector<Setting>& settings);

std::string_view name_of(Precision precision);
std::string_view name_of(Method method);
std::string_view name_of(Optimizer optimizer);
std::string_view name_of(Recompute recompute);
std::string_view name_of(Stack stack);
std::string_view name_of(CrossEntropy cross_entropy);

}  // namespace rightsize::model
