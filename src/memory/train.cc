#include "memory/train.h"

#include <algorithm>

#include "memory/kept_replays.h"
#include "memory/serve.h"
#include "memory/weight_bytes.h"

namespace rightsize::memory {
namespace {

using model::Job;
using model::Stack;

// Memory that nvidia-smi shows beyond the allocator: driver context, library kernels, cuDNN and cuBLAS handles.
// Constant within 20 MiB over 132 runs on an H200 (driver 580, torch 2.11).
Bytes runtime_bytes(const Job& job) { return gib(1.356) + communicator_bytes(job.parallel.gpus); }

// Plain image training loops (the ImageNet example, torchvision's reference scripts) zero the gradients between forward
// and backward, so the previous gradients are in memory during the forward pass. Hugging Face's Trainer zeroes them
// after the step.
bool keeps_gradients(const model::ModelShape& model) {
  const bool hugging_face_vit = model.kind == model::ModelKind::kVisionTransformer && !model.fused_qkv;
  return (model.image_size > 0 && !hugging_face_vit) || (model.image_size == 0 && model.labels > 0);
}

Job as_looped(const model::ModelShape& model, Job job) {
  if (keeps_gradients(model) && !job.train.optimizer_in_backward)
    job.train.accumulation = std::max(2, job.train.accumulation);
  return job;
}

// The smallest ratio of reserved to live bytes in 121 runs was 1.03.
constexpr double kLeastReserve = 1.03;

// Factors on the likely value that cover 80 % of the measurements: docs/models.md#how-sure. Narrow for jobs measured
// with torch itself; wider for other stacks and several GPUs, which have only published peaks, and for families without
// their own tape, which use the closest one.
struct IntervalFactors {
  double low, high;
};

IntervalFactors spread_of(const model::ModelShape& model, bool exact, const Job& job) {
  if (!exact) return {0.88, 1.12};
  // Training loops differ in when they zero gradients, what evaluation leaves behind, and earlier graph captures.
  if (keeps_gradients(model)) return {0.93, 1.12};
  const bool as_measured = job.stack == Stack::kHf && job.parallel.gpus == 1 &&
                           job.train.offload == model::Offload::kNone && !job.train.offload_activations &&
                           job.train.method != model::Method::kQlora;
  if (!as_measured) return {0.92, 1.1};
  // torch.compile may start to recompute a checkpoint before the loss is freed: up to one layer more.
  return job.train.compile && job.train.recompute != model::Recompute::kNone ? IntervalFactors{0.97, 1.06}
                                                                             : IntervalFactors{0.975, 1.03};
}

model::Precision weight_format(const Job& job) {
  return job.precision == model::Precision::kFp8 ? model::Precision::kBf16 : job.precision;
}

// The frozen reference of preference training, in the format of the trained weights (TRL's default). Its logits take no
// more memory than the later gradients of logits. Adapters need no second model: their base is the reference.
Bytes reference_bytes(const model::ModelShape& model, const Job& job) {
  if (!job.train.preference || job.train.method != model::Method::kFull) return {};
  return model_weight_bytes(model, weight_format(job), job.parallel, false);
}

}  // namespace

MemoryNeed estimate_training(const model::ModelShape& model, const Job& asked) {
  const Job job = as_looped(model, model::without_pairs(asked));
  const tape::TrainingPeak peak = peak_of(model, job);
  MemoryNeed need;
  need.peak_allocated = peak.peak_allocated;
  need.reserved = peak.peak_reserved;
  need.parts = peak.parts;
  // Weights are exact; rounding by the allocator counts as reserve.
  if (job.train.method == model::Method::kFull && job.parallel.gpus == 1 &&
      job.train.offload != model::Offload::kParameters) {
    const Bytes exact = model_weight_bytes(model, weight_format(job), job.parallel, false);
    need.parts[Part::kBuffers] += need.parts[Part::kWeights] - exact;
    need.parts[Part::kWeights] = exact;
  }
  const Bytes reference = reference_bytes(model, asked) / (job.parallel.zero == 3 ? job.parallel.data() : 1);
  need.peak_allocated += reference, need.reserved += reference, need.parts[Part::kWeights] += reference;
  // Allocator overhead beyond live bytes: rounding, split blocks, segments kept for the next iteration.
  need.parts[Part::kBuffers] += need.reserved - need.peak_allocated;
  need.parts[Part::kRuntime] = runtime_bytes(job);
  need.device = need.parts.total();
  const IntervalFactors spread = spread_of(model, peak.exact, job);
  need.low = need.device * spread.low;
  need.high = need.device * spread.high;
  if (!peak.exact)
    need.warnings.push_back("no allocation tape for family '" + model.family +
                            "' yet; the closest one is used, and the range is wider");
  return need;
}

TrainingNeeds::TrainingNeeds(const model::ModelShape& model, const Job& job)
    : surface_(surface_of(model, as_looped(model, model::without_pairs(job)))),
      runtime_(runtime_bytes(job)),
      reference_(reference_bytes(model, job)),
      sequences_(job.train.preference ? 2 : 1),
      sharded_(job.parallel.zero == 3),
      spread_(spread_of(model, surface_->exact(), job).high) {}

Bytes TrainingNeeds::high(double batch, double replicas, Bytes more) const {
  const Bytes reference = reference_ / (sharded_ ? replicas : 1.0);
  return ((surface_->at(batch * sequences_, replicas) + more) * kLeastReserve + reference + runtime_) * spread_;
}

}  // namespace rightsize::memory
