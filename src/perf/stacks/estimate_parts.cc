#include "perf/stacks/estimate_parts.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "base/format.h"

namespace rightsize::perf {

using model::Job;
using model::JobKind;
using model::Method;
using model::Optimizer;
using model::Precision;

std::string_view name_of(Bound bound) {
  static constexpr std::string_view kNames[] = {"compute", "memory", "communication", "host"};
  return kNames[static_cast<int>(bound)];
}

// AdamW reads the weight, the gradient and two moments, and writes all but the gradient: 7 elements. Other optimizers
// are counted by their states.
double optimizer_bytes(const Job& job, bool half_precision) {
  const double e = half_precision ? 2 : 4;
  switch (job.train.optimizer) {
    case Optimizer::kAdamW:
      return 7 * e;
    case Optimizer::kAdamW8bit:
    case Optimizer::kAdamWPaged8bit:
      return 3 * e + 4;
    case Optimizer::kSgd:
      return 3 * e;
    case Optimizer::kSgdMomentum:
      return half_precision ? 12 : 20;
    case Optimizer::kLion:
    case Optimizer::kMuon:
      return 5 * e;
    case Optimizer::kAdafactor:
      return 8 * e;  // several passes over the gradient for its row and column means
  }
  return 7 * e;
}

double trained_parameters(const ModelWork& work, const Job& job) {
  if (job.train.method == Method::kFull) return work.parameters;
  double width = work.lora_width_attention;
  if (job.train.lora_targets == model::LoraTargets::kAllLinear) {
    width += work.lora_width_other + (job.stack == model::Stack::kHf ? 0 : work.lora_width_spared);
  }
  return job.train.lora_rank * width;
}

double adapter_bytes(const ModelWork& work, const Job& job) {
  if (job.train.method == Method::kFull) return 0;
  constexpr double kBytes = 20;
  double passed = work.lora_passed_attention;
  if (job.train.lora_targets == model::LoraTargets::kAllLinear) {
    passed += work.lora_passed_other + (job.stack == model::Stack::kHf ? 0 : work.lora_passed_spared);
  }
  return kBytes * passed;
}

ShardGroup replicas_of(const Job& job) {
  const model::Parallelism& p = job.parallel;
  return {p.data(), p.tensor * p.context};
}

// Plain data parallelism and ZeRO 1 reduce every gradient once per step and gather the updated parameters. ZeRO 2
// reduces after every backward pass (DeepSpeed keeps no full gradients). ZeRO 3 gathers parameters in the forward and
// backward pass and scatters gradients in each backward pass (Rajbhandari et al. 2020, section 7). Frozen weights have
// no gradients.
DataParallel data_parallel_time(const ModelWork& work, const Job& job, const GpuSpeed& gpu, const Cluster& cluster,
                                double network_rate, double held, ShardGroup group) {
  DataParallel result;
  if (group.gpus <= 1) return result;
  const double element =
      job.precision == Precision::kAmpBf16 || job.precision == Precision::kAmpFp16 || job.precision == Precision::kFp32
          ? (job.stack == model::Stack::kLlmFoundry ? 2.0 : 4.0)
          : 2.0;
  // Published runs of Megatron reduce gradients in bf16 and gather weights in bf16; --gradients fp32 doubles the
  // former.
  const bool wide = job.train.gradients == model::StateFormat::kFp32 && element < 4.0;
  const double reduced = wide ? 2.0 : 1.0;
  const double trained = trained_parameters(work, job) * held;
  const BytesPerSecond rate = sharding_rate(gpu, cluster, group, network_rate);
  auto time = [&](double elements) { return bytes(elements * element * (group.gpus - 1.0) / group.gpus) / rate; };
  if (job.parallel.zero == 3) {
    result.each_pass = time(2 * work.parameters * held + reduced * trained);
  } else {
    result.each_pass = job.parallel.zero == 2 ? time(reduced * trained) : Seconds{};
    result.once = time(job.parallel.zero == 2 ? trained : (1 + reduced) * trained);
    if (job.parallel.zero > 0) result.updated = time(trained);
  }
  return result;
}

Seconds scaler_wait(const Job& job, Seconds host_optimizer) {
  return job.precision == Precision::kAmpFp16 ? host_optimizer : Seconds{};
}

void note_hardware(const Job& job, const GpuSpeed& gpu, const Cluster& cluster, Notes& notes) {
  if (model::is_bf16(job.precision) && !gpu.has_bf16) notes.push_back({NoteKind::kHalfInsteadOfBf16, 0});
  const bool lacks =
      (job.precision == Precision::kFp8 && !gpu.has_fp8) || (job.precision == Precision::kFp4 && !gpu.has_fp4);
  if (lacks && job.kind == JobKind::kServe) notes.push_back({NoteKind::kWeightOnly, 0});
  if (job.parallel.gpus > cluster.node_gpus && !cluster.network_known && job.kind == JobKind::kTrain)
    notes.push_back({NoteKind::kNetworkAssumed, in_gb_per_s(cluster.network_per_gpu)});
  if (job.parallel.tensor > cluster.node_gpus)
    notes.push_back({NoteKind::kTensorAcrossMachines, static_cast<double>(cluster.node_gpus)});
  if (job.parallel.tensor > 1 && !cluster.linked) notes.push_back({NoteKind::kNoFastLinks, 0});
}

const Calibration& calibration_of(const GpuSpeed& gpu, int slot, JobKind kind) {
  return gpu.calibration[static_cast<std::size_t>(slot)][static_cast<std::size_t>(kind)];
}

// Widths add up as independent errors.
Confidence confidence_of(const GpuSpeed& gpu, int slot, JobKind kind, double width) {
  if (const Calibration& own = calibration_of(gpu, slot, kind); own.known) return {Basis::kCalibrated, own.width};
  Basis basis = gpu.basis;
  const bool runs = gpu.stack_measured[static_cast<std::size_t>(slot)];
  if (basis == Basis::kMeasured && !runs) basis = Basis::kTransferred;
  if (basis == Basis::kSpecification && runs) basis = Basis::kTransferred;  // no measured kernels, but whole runs
  return {basis, std::hypot(width, width_of(basis))};
}

void widen(Confidence& confidence, Notes& notes, double by) {
  if (confidence.basis == Basis::kCalibrated) return;
  confidence.width = std::hypot(confidence.width, by);
  confidence.basis = std::max(confidence.basis, Basis::kTransferred);
  const auto noted = [](const Note& note) { return note.kind == NoteKind::kUntestedStack; };
  if (std::none_of(notes.begin(), notes.end(), noted)) notes.push_back({NoteKind::kUntestedStack, 0});
}

Result<> check_rate(const GpuSpeed& gpu) {
  if (gpu.half > FlopsPerSecond{}) return {};
  return fail(bad_input("the catalogue has no 16-bit FLOP/s for this GPU, so its speed cannot be estimated"));
}

Interval interval_of(double width) { return {std::exp(-width), std::exp(width)}; }

Bound bound_of(Seconds arithmetic, Seconds device, Seconds host, Seconds communication) {
  if (host > device && host > communication) return Bound::kHost;
  if (communication > device) return Bound::kCommunication;
  return arithmetic > device * 0.5 ? Bound::kCompute : Bound::kMemory;
}

WeightFormat weight_format(Precision precision, const GpuSpeed& gpu) {
  switch (precision) {
    case Precision::kFp8:
      return gpu.has_fp8 ? WeightFormat::kFp8 : WeightFormat::kInt8;
    case Precision::kFp4:
      return gpu.has_fp4 ? WeightFormat::kFp4 : WeightFormat::kMx4;
    case Precision::kInt8:
      return WeightFormat::kInt8;
    case Precision::kInt4:
    case Precision::kNf4:
      return WeightFormat::kInt4;
    case Precision::kFp32:
      return WeightFormat::kFp32;
    default:
      return WeightFormat::kHalf;
  }
}

std::string describe(const Note& note) {
  switch (note.kind) {
    case NoteKind::kHalfInsteadOfBf16:
      return "this GPU has no bf16 arithmetic, so fp16 rates are used; training in fp16 needs loss scaling";
    case NoteKind::kWeightOnly:
      return "this GPU has no arithmetic for this format: weights are stored in it and computed in 16 bits";
    case NoteKind::kNetworkAssumed:
      return fmt::format("assumed network between machines: {} GB/s per GPU; set it with --machine or --network",
                         format_number(note.value));
    case NoteKind::kTensorAcrossMachines:
      return fmt::format("tensor parallelism spans machines of {:.0f} GPUs, so every layer waits for the network",
                         note.value);
    case NoteKind::kNoFastLinks:
      return "tensor parallelism uses PCIe, not NVLink, which slows every layer";
    case NoteKind::kCacheLimits:
      return fmt::format(
          "the KV cache limits the batch: {} requests run at once, in all stages of their answers; the others queue",
          format_number(std::floor(note.value), 6));
    case NoteKind::kBatchLimits:
      return fmt::format("--max-batch allows {} requests at once; the others queue",
                         format_number(std::floor(note.value), 6));
    case NoteKind::kPublishedExperts:
      return "the experts keep their published 4-bit format; fp8 applies to the other weights and the KV cache";
    case NoteKind::kExpandedExperts:
      return "the engine expands the published 4-bit experts to 16 bits on this GPU (Marlin, as vLLM up to 0.24 does)";
    case NoteKind::kHostDepends:
      return "the host CPU is the bottleneck, so another machine may be up to a third faster or slower";
    case NoteKind::kUntestedStack:
      return "no benchmark covers this combination of model, GPU and framework, so the range is wider";
    case NoteKind::kMixtureUnsure:
      return "mixture-of-experts speed varies up to twofold between releases of this framework";
    case NoteKind::kMuonIgnored:
      return "the optimizer time does not include muon's orthogonalization";
    case NoteKind::kAttentionWindowIgnored:
      return "the attention window is not modelled: attention is counted over the full sequence";
    case NoteKind::kQuantizedAdapters:
      return "nf4 weights are dequantized in every pass";
    case NoteKind::kAdapterInputs:
      return "PEFT keeps adapters in fp32, so without autocast every adapted layer casts its input to fp32 and its "
             "output "
             "back; LoRA can then be slower than full training (autocast_adapter_dtype=False avoids this)";
    case NoteKind::kFusedIgnored:
      return "fused kernels and losses are not modelled for this framework; the job will run somewhat faster";
    case NoteKind::kEagerDecode:
      return fmt::format("assumes CUDA graphs with a static cache; without a graph a decode step takes about {} ms",
                         format_number(note.value));
  }
  return {};
}

}  // namespace rightsize::perf
