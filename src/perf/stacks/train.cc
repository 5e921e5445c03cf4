// Training: checks the hardware, calls the stack's model, fills in the rates.
#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "perf/stacks/activity.h"

namespace rightsize::perf {
namespace {

using model::Job;
using model::Precision;
using model::Stack;

Result<> check_format(const Job& job, const GpuSpeed& gpu) {
  if (Result<> known = check_rate(gpu); !known) return known;
  if (job.precision == Precision::kFp8 && !gpu.has_fp8) {
    return fail(
        bad_input("this GPU has no fp8 arithmetic").with_hint("fp8 needs Ada, Hopper or later; use --precision bf16"));
  }
  if (job.precision == Precision::kFp4 && !gpu.has_fp4) {
    return fail(
        bad_input("this GPU has no fp4 arithmetic").with_hint("fp4 needs Blackwell or later; use --precision fp8"));
  }
  return {};
}

Result<TrainEstimate> ask_stack(const Constants& constants, const ModelWork& work, const Job& job, const GpuSpeed& gpu,
                                const Cluster& cluster) {
  if (work.image) return train_images(constants, work, job, gpu, cluster);
  switch (job.stack) {
    case Stack::kLlmFoundry:
      return train_sharded(constants.llm_foundry, work, job, gpu, cluster);
    case Stack::kTorchTitan:
      return train_sharded(constants.torchtitan, work, job, gpu, cluster);
    case Stack::kMegatron:
      return train_megatron(constants.megatron, work, job, gpu, cluster);
    default:
      return train_eager(constants, work, job, gpu, cluster);
  }
}

// Share of a step without its optimizer that the forward pass takes: the backward pass computes two products for each
// of the forward pass, one if the weights are frozen; recomputation adds another forward pass.
double forward_share(const Job& job) {
  const double backward = job.train.method == model::Method::kFull ? 2 : 1;
  return 1 / (1 + backward + (job.train.recompute == model::Recompute::kFull ? 1 : 0));
}

// Preference training runs another forward pass over every pair with the reference model.
void add_reference(const Job& job, TrainEstimate& estimate) {
  Seconds named, other;
  for (const TimePart& part : estimate.parts) {
    const std::string_view name = part.name;
    if (name == "forward") named += part.time;
    if (name != "optimizer" && name != "between steps") other += part.time;
  }
  const Seconds forward = named > Seconds{} ? named : other * forward_share(job);
  estimate.parts.push_back({"reference model", forward});
  estimate.step += forward, estimate.device += forward;
  estimate.host += estimate.host * forward_share(job);
}

Result<TrainEstimate> train_at(const Constants& constants, const ModelWork& work, const Job& asked, const GpuSpeed& gpu,
                               const Cluster& cluster) {
  const Job job = model::without_pairs(asked);
  if (Result<> possible = check_format(job, gpu); !possible) return fail(std::move(possible).error());
  RIGHTSIZE_TRY(TrainEstimate estimate, ask_stack(constants, work, job, gpu, cluster));
  add_offload(constants.eager, work, job, gpu, cluster, estimate);
  if (asked.train.preference) add_reference(job, estimate);
  estimate.relative = gpu.relative;
  // A replica is tensor x pipeline x context GPUs, which share a micro-batch.
  const model::Parallelism& p = job.parallel;
  const double replica = static_cast<double>(p.tensor) * p.pipeline * p.context;
  const double samples = static_cast<double>(job.batch) * job.train.accumulation / replica;
  const double sequence = work.image ? 1.0 : static_cast<double>(job.sequence);
  estimate.tokens_per_gpu = tokens(samples * sequence) / estimate.step;
  estimate.samples_per_second_per_gpu = samples / in_seconds(estimate.step);
  const FlopsPerSecond peak = peak_of(gpu, weight_format(job.precision, gpu));
  const bool frozen = job.train.method != model::Method::kFull;
  if (!work.image) {
    const double tokens = samples * sequence, most = in_flop_per_s(peak) * in_seconds(estimate.step);
    // Kernels skip the masked half of causal attention, and Megatron-LM does not count it
    // (megatron/training/training.py, num_floating_point_operations, read 2026-11-17).
    estimate.mfu = model_flops(work, tokens, work.decoder ? sequence / 2 : sequence, frozen) / most;
    // Recomputation repeats the forward pass, a third of the model's FLOPs. The power model was fitted to whole
    // squares.
    const double again = job.train.recompute == model::Recompute::kFull ? 4.0 / 3.0 : 1.0;
    const double busy = model_flops(work, tokens, sequence, frozen) / most * again;
    estimate.power.activity = training_activity(gpu, estimate, estimate.step * busy);
  }
  if (!work.scans.empty() && estimate.basis == Basis::kMeasured) {
    estimate.basis = Basis::kTransferred;
    estimate.interval = interval_of(constants.eager.scan_width);
  }
  // Runs on this GPU in other formats are weaker evidence.
  const int slot = work.image ? kVisionSlot : slot_of(job.stack);
  const auto& measured = gpu.training_measured[static_cast<std::size_t>(slot)];
  if (estimate.basis == Basis::kMeasured && !measured[arithmetic_of(job.precision)]) {
    estimate.basis = Basis::kTransferred;
    estimate.interval = interval_of(std::hypot(std::log(estimate.interval.high), width_of(Basis::kTransferred)));
  }
  if (job.train.optimizer == model::Optimizer::kMuon) estimate.notes.push_back({NoteKind::kMuonIgnored, 0});
  const bool whole_model = job.stack != Stack::kHf && !work.image;
  if (whole_model && work.window > 0 && static_cast<double>(job.sequence) > work.window)
    estimate.notes.push_back({NoteKind::kAttentionWindowIgnored, 0});
  note_hardware(job, gpu, cluster, estimate.notes);
  return estimate;
}

}  // namespace

Result<TrainEstimate> estimate_training(const Constants& constants, const ModelWork& work, const Job& job,
                                        const GpuSpeed& gpu, const Cluster& cluster) {
  RIGHTSIZE_TRY(TrainEstimate estimate, within_cap<TrainEstimate>(gpu, [&](const GpuSpeed& on) {
                  return train_at(constants, work, job, on, cluster);
                }));
  estimate.mfu *= estimate.power.slower;  // of the data sheet's peak, not of the peak at a lower clock
  return estimate;
}

}  // namespace rightsize::perf
