// Image models: a roofline over their operations, PyTorch with channels-last convolutions.
#include <algorithm>

#include <fmt/format.h>

#include "perf/stacks/activity.h"

namespace rightsize::perf {
namespace {

using model::Job;
using model::JobKind;

ImageMode image_mode_of(const Job& job) {
  const bool train = job.kind == JobKind::kTrain;
  const bool wide = job.precision == model::Precision::kFp32;
  return {.train = train, .autocast = train && !wide && job.precision != model::Precision::kBf16, .wide = wide};
}

// A pass with its gradients, which need twice the arithmetic and read their operands twice.
Activity image_activity(const VisionConstants& c, const GpuSpeed& gpu, const ImageCost& cost, const ImageMode& mode) {
  const double passes = mode.train ? 3 : 1;
  Activity a;
  a.tensor = cost.flops * passes / (mode.wide ? gpu.tf32 : gpu.half);
  a.memory = (cost.traffic + cost.traffic_backward) * c.bandwidth;
  return a;
}

// torch's AdamW runs about seven operations over lists of tensors, SGD with momentum three. The host iterates over each
// list before it launches a few kernels.
Seconds optimizer_host(const VisionConstants& c, const ModelWork& work, const Job& job) {
  const double lists = job.train.optimizer == model::Optimizer::kSgdMomentum ? 3.0 / 7.0 : 1.0;
  return c.host_tensor * (work.tensors * lists);
}

}  // namespace

BatchEstimate batch_images(const Constants& constants, const ModelWork& work, const Job& job, const GpuSpeed& gpu) {
  const VisionConstants& c = constants.vision;
  const Calibration& own = calibration_of(gpu, slot_of(job.stack), JobKind::kServe);
  ImageMode mode = image_mode_of(job);
  mode.denoising = work.pipeline.has_value();
  if (mode.denoising) mode.gpus = job.parallel.tensor;
  ImageCost cost = image_cost(c, gpu, work, static_cast<double>(job.batch), mode);
  const Activity activity = image_activity(c, gpu, cost, mode);  // of the operations, independent of their time
  if (mode.denoising) cost.traffic = cost.traffic * denoising_loss(c, gpu);
  const Seconds launches = c.kernel_launch * cost.kernels;
  BatchEstimate estimate;
  estimate.device = (cost.products + cost.traffic + launches + cost.exchange) * own.device;
  estimate.host = c.host_infer * (cost.kernels * own.host);
  // Classifiers run in a CUDA graph, or with a batch large enough to hide the host; pipelines do not.
  estimate.batch = mode.denoising ? soft_max(estimate.device, estimate.host, c.host_overlap) : estimate.device;
  estimate.parts.push_back({"convolutions and products", cost.products * own.device});
  estimate.parts.push_back({"elementwise", cost.traffic * own.device});
  estimate.parts.push_back({"kernel launches", launches * own.device});
  if (mode.gpus > 1) estimate.parts.push_back({kExchange, cost.exchange * own.device});
  if (mode.denoising) estimate.parts.push_back({"waiting for the host", estimate.batch - estimate.device});
  estimate.bound = cost.exchange > cost.products + cost.traffic ? Bound::kCommunication
                   : cost.products > cost.traffic               ? Bound::kCompute
                                                                : Bound::kMemory;
  estimate.power.activity = activity;
  estimate.power.activity.time = estimate.batch;
  estimate.power.activity.busy = std::min(estimate.batch, (cost.products + cost.traffic) * own.device);
  estimate.power.activity.exchange =
      std::min(estimate.batch - estimate.power.activity.busy, (launches + cost.exchange) * own.device);
  estimate.power.activity.host = estimate.batch - estimate.power.activity.busy - estimate.power.activity.exchange;
  state(estimate, own.known ? Confidence{Basis::kCalibrated, own.width}
                            : confidence_of(gpu, kVisionSlot, JobKind::kServe, c.width));
  if (estimate.host > estimate.device)
    estimate.notes.push_back({NoteKind::kEagerDecode, in_milliseconds(estimate.host)});
  return estimate;
}

Result<TrainEstimate> train_images(const Constants& constants, const ModelWork& work, const Job& job,
                                   const GpuSpeed& gpu, const Cluster& cluster) {
  if (job.parallel.tensor * job.parallel.pipeline * job.parallel.context > 1)
    return fail(bad_input("image models are modelled with data parallelism only").with_hint("use --tp 1 --pp 1"));
  const VisionConstants& c = constants.vision;
  const Calibration& own = calibration_of(gpu, slot_of(job.stack), JobKind::kTrain);
  const ImageCost cost = image_cost(c, gpu, work, static_cast<double>(job.batch), image_mode_of(job));
  const Seconds forward = (cost.products + cost.traffic + c.kernel_launch * cost.kernels) * own.device;
  const Seconds backward =
      (cost.products_backward + cost.traffic_backward + c.kernel_launch * cost.kernels_backward) * own.device;
  const Seconds optimizer =
      traffic_time(gpu, bytes(work.parameters * optimizer_bytes(job, false)), c.optimizer_bandwidth) *
      c.optimizer_passes;
  const double passes = job.train.accumulation;
  // Checkpointing runs the forward pass of each block again before its backward pass. Attention keeps no scores, so
  // selective recomputation repeats little and is not counted.
  const double again = job.train.recompute == model::Recompute::kFull ? 1 : 0;
  TrainEstimate estimate;
  estimate.device = (forward * (1 + again) + backward) * passes + optimizer;
  estimate.host = ((c.host_forward * cost.kernels * (1 + again) + c.host_backward * cost.kernels_backward) * passes +
                   optimizer_host(c, work, job)) *
                  own.host;
  const Seconds alone = soft_max(estimate.device, estimate.host, c.host_overlap);
  const DataParallel network = data_parallel_time(work, job, gpu, cluster, 1.0, 1.0, replicas_of(job));
  const Seconds moved = network.of_step(passes);
  const Seconds scaler = scaler_wait(job, optimizer_host(c, work, job) * own.host);
  estimate.step = soft_max(alone, moved, c.network_overlap) + scaler;
  estimate.parts.push_back({"forward", forward * passes});
  estimate.parts.push_back({"backward", backward * passes});
  if (again > 0) estimate.parts.push_back({"recompute", forward * passes});
  estimate.parts.push_back({"optimizer", optimizer});
  estimate.parts.push_back({"waiting for the host", alone - estimate.device + scaler});
  if (moved > Seconds{}) estimate.parts.push_back({"waiting for the network", estimate.step - alone - scaler});
  estimate.bound =
      bound_of((cost.products + cost.products_backward) * (passes * own.device), estimate.device, estimate.host, moved);
  Activity& activity = estimate.power.activity;
  activity = image_activity(c, gpu, cost, image_mode_of(job)) * passes;
  activity.tensor += activity.tensor * (again / 3), activity.memory += cost.traffic * (c.bandwidth * passes * again);
  activity.memory += optimizer * c.optimizer_bandwidth;
  activity.time = estimate.step, activity.busy = std::min(estimate.device, estimate.step);
  activity.exchange = std::max(Seconds{}, estimate.step - alone - scaler);
  activity.host = estimate.step - activity.busy - activity.exchange;
  state(estimate, own.known ? Confidence{Basis::kCalibrated, own.width}
                            : confidence_of(gpu, kVisionSlot, JobKind::kTrain, c.width));
  if (estimate.bound == Bound::kHost) estimate.notes.push_back({NoteKind::kHostDepends, 0});
  return estimate;
}

bool serves_batches(const ModelWork& work) { return !work.decoder; }

Job fitted_to(const ModelWork& work, Job job) {
  if (job.kind == JobKind::kServe && serves_batches(work)) job.stack = model::Stack::kHf;
  return job;
}

namespace {

Result<BatchEstimate> one_batch(const Constants& constants, const ModelWork& work, const Job& job,
                                const GpuSpeed& gpu) {
  if (work.pipeline) return generate_images(constants, work, job, gpu);
  if (work.encoder_decoder) return batch_answers(constants, work, job, gpu);
  return work.image ? batch_images(constants, work, job, gpu) : batch_eager(constants.eager, work, job, gpu);
}

// No serving engine runs these models; PyTorch is modelled in 16 and 32 bits.
Result<> check_batch(const Job& job, const GpuSpeed& gpu) {
  using model::Precision;
  if (Result<> known = check_rate(gpu); !known) return known;
  const bool plain =
      job.precision == Precision::kBf16 || job.precision == Precision::kFp16 || job.precision == Precision::kFp32;
  if (plain) return {};
  return fail(bad_input(fmt::format("single-pass models are not modelled in {}", model::name_of(job.precision)))
                  .with_hint("use --precision bf16 or fp16"));
}

Result<BatchEstimate> batch_at(const Constants& constants, const ModelWork& work, const Job& job, const GpuSpeed& gpu) {
  if (Result<> possible = check_batch(job, gpu); !possible) return fail(std::move(possible).error());
  RIGHTSIZE_TRY(BatchEstimate estimate, one_batch(constants, work, job, gpu));
  estimate.relative = gpu.relative;
  // Of one GPU: several may share an item.
  estimate.samples_per_second = static_cast<double>(job.batch) / job.parallel.tensor / in_seconds(estimate.batch);
  note_hardware(job, gpu, Cluster{}, estimate.notes);
  return estimate;
}

}  // namespace

Result<BatchEstimate> estimate_batch(const Constants& constants, const ModelWork& work, const Job& job,
                                     const GpuSpeed& gpu) {
  return within_cap<BatchEstimate>(gpu, [&](const GpuSpeed& on) { return batch_at(constants, work, job, on); });
}

}  // namespace rightsize::perf
