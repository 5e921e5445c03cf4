// Training in eager PyTorch: the host queues kernels while the GPU runs them, and the slower of the two sets the pace.
#include <algorithm>
#include <cmath>

#include "perf/stacks/eager_layer.h"
#include "perf/stacks/estimate_parts.h"

namespace rightsize::perf {
namespace {

using model::Job;
using model::Method;
using model::Precision;
using model::Recompute;

EagerMode mode_of(const ModelWork& work, const Job& job) {
  EagerMode mode;
  const bool adapters = job.train.method != Method::kFull;
  mode.amp = job.precision == Precision::kAmpBf16 || job.precision == Precision::kAmpFp16;
  mode.full32 = job.precision == Precision::kFp32;
  if (adapters) mode.amp = false;  // the frozen base is 16-bit, whatever the adapters' format
  mode.weights = !adapters;
  mode.quantized = job.train.method == Method::kQlora;
  mode.attention = job.train.attention;
  mode.compiled = job.train.compile;
  if (adapters) {
    mode.lora_attention = job.train.lora_rank;
    if (job.train.lora_targets == model::LoraTargets::kAllLinear) {
      (work.adapts_experts ? mode.lora_experts : mode.lora_other) = job.train.lora_rank;
    }
  }
  return mode;
}

// Device and host time of the forward and backward pass of a micro-batch, and of the optimizer.
struct Phases {
  Seconds forward, backward, recompute, optimizer;
  Seconds arithmetic;  // included: products and attention
  Seconds host_forward, host_backward, host_optimizer;

  Seconds device(double passes) const { return (forward + backward + recompute) * passes + optimizer; }
  Seconds host(double passes) const { return (host_forward + host_backward) * passes + host_optimizer; }
};

struct Sides {
  const EagerConstants& c;
  const GpuSpeed& gpu;
  double traffic_factor;  // 2 if everything is fp32
  bool compiled;

  Seconds time(EagerCost::Direction d, double bandwidth) const {
    d.traffic = d.traffic * traffic_factor;
    return device_time(d, gpu, c, compiled ? c.compiled_bandwidth : bandwidth);
  }
  Seconds forward(const EagerCost& cost) const { return time(cost.forward, c.forward_bandwidth); }
  Seconds backward(const EagerCost& cost) const { return time(cost.backward, c.backward_bandwidth); }
};

Seconds arithmetic_of(const EagerCost& cost) {
  return cost.forward.matmul + cost.forward.attention + cost.backward.matmul + cost.backward.attention;
}

void add_layers(Phases& phases, const Sides& sides, const EagerCost& layer, double count, double redone) {
  const EagerConstants& c = sides.c;
  const Seconds forward = sides.forward(layer);
  phases.forward += forward * count;
  phases.backward += sides.backward(layer) * count;
  phases.arithmetic += arithmetic_of(layer) * count;
  if (redone > 0) phases.recompute += forward * (count * redone);
  if (sides.compiled) {  // one call per kernel, without Python modules or autograd nodes
    phases.host_forward += c.compiled_kernel * (layer.forward.kernels * count);
    phases.host_backward += c.compiled_kernel * ((layer.backward.kernels + layer.forward.kernels * redone) * count);
    return;
  }
  const Seconds host =
      (c.host_forward * (layer.forward.kernels + c.view_cost * layer.views) + c.host_cast * layer.forward.casts +
       c.host_layer + c.host_expert * layer.routes + c.host_adapter * layer.adapters) *
      count;
  phases.host_forward += host;
  phases.host_backward += (c.host_backward * layer.backward.kernels + c.host_cast * layer.backward.casts) * count;
  if (!(redone > 0)) return;
  phases.arithmetic += (layer.forward.matmul + layer.forward.attention) * (count * redone);
  phases.host_forward += c.host_checkpoint * (count * redone);
  phases.host_backward += (host + c.host_checkpoint * count) * redone;
}

// Share of a layer's forward pass that is recomputed; selective recompute repeats only attention.
double redone_share(const EagerConstants& c, Recompute recompute) {
  return recompute == Recompute::kFull ? 1.0 : recompute == Recompute::kSelective ? c.selective_share : 0.0;
}

// Tensors the optimizer iterates over: two per adapter, or the weights, norms and biases of the layers.
double optimizer_tensors(const ModelWork& work, const EagerMode& mode) {
  double tensors = 4;
  for (const LayerWork& layer : work.kinds) {
    double adapters = 0;
    for (const WorkOp& op : layer.ops) adapters += op.kind == model::OpKind::kLinear ? 2 : 0;
    tensors += layer.count * (mode.weights ? layer.tensors : adapters);
  }
  return tensors;
}

Phases phases_of(const EagerConstants& c, const ModelWork& work, const Job& job, const GpuSpeed& gpu) {
  const EagerMode mode = mode_of(work, job);
  const EagerBatch batch{static_cast<double>(job.batch), static_cast<double>(job.sequence)};
  const Sides sides{c, gpu, mode.traffic_factor(), mode.compiled};
  const double redone = redone_share(c, job.train.recompute);
  Phases phases;
  for (const LayerWork& layer : work.kinds) {
    add_layers(phases, sides, eager_layer(gpu, c, mode, work, layer, batch), layer.count, redone);
  }
  const EagerCost head = eager_ends(gpu, c, mode, work, batch);
  phases.forward += sides.forward(head);
  phases.backward += sides.backward(head);
  phases.arithmetic += arithmetic_of(head);
  const Seconds head_host = c.host_forward * (head.forward.kernels + 12);
  phases.host_forward += head_host;
  if (redone == 1.0) phases.host_backward += head_host;  // checkpointing runs the modules a second time
  phases.host_backward += c.host_backward * (head.backward.kernels + 10);

  const bool half = job.precision == Precision::kBf16 && mode.weights;
  const double shards = job.parallel.zero > 0 ? job.parallel.data() : 1;
  phases.optimizer = traffic_time(gpu, bytes(trained_parameters(work, job) / shards * optimizer_bytes(job, half)),
                                  half ? c.optimizer_bandwidth : c.optimizer_bandwidth_fp32);
  phases.host_optimizer = c.host_tensor * optimizer_tensors(work, mode) + milliseconds(0.8);
  return phases;
}

Result<> check(const Job& job) {
  if (job.parallel.tensor * job.parallel.pipeline * job.parallel.context > 1) {
    return fail(
        bad_input("the hf stack is modelled with data parallelism only")
            .with_hint("use --stack torchtitan or --stack megatron for tensor, pipeline or context parallelism"));
  }
  if (job.precision == Precision::kFp8)
    return fail(bad_input("fp8 training is not modelled for the hf stack")
                    .with_hint("use --stack torchtitan, llm-foundry or megatron"));
  return {};
}

}  // namespace

Result<TrainEstimate> train_eager(const Constants& constants, const ModelWork& work, const Job& job,
                                  const GpuSpeed& gpu, const Cluster& cluster) {
  if (Result<> possible = check(job); !possible) return fail(std::move(possible).error());
  const EagerConstants& c = constants.eager;
  const int slot = slot_of(model::Stack::kHf);
  const Calibration& own = calibration_of(gpu, slot, model::JobKind::kTrain);
  const Phases phases = phases_of(c, work, job, gpu);
  const double passes = job.train.accumulation;
  const DataParallel network = data_parallel_time(work, job, gpu, cluster, 1.0, 1.0, replicas_of(job));

  TrainEstimate estimate;
  estimate.device = phases.device(passes) * own.device;
  estimate.host = phases.host(passes) * own.host;
  const Seconds alone = soft_max(estimate.device, estimate.host, c.host_overlap);
  const Seconds moved = network.of_step(passes);
  const Seconds scaler = scaler_wait(job, phases.host_optimizer * own.host);
  // DeepSpeed gathers updated parameters after the optimizer, when nothing else runs.
  const Seconds overlapped = soft_max(alone, moved - network.updated, c.network_overlap) + network.updated + scaler;
  const Seconds overhead = overlapped * (job.parallel.gpus > 1 ? c.parallel_loss : 0);
  estimate.step = overlapped + overhead;
  estimate.parts.push_back({"forward", phases.forward * passes * own.device});
  estimate.parts.push_back({"backward", phases.backward * passes * own.device});
  if (phases.recompute > Seconds{}) estimate.parts.push_back({"recompute", phases.recompute * passes * own.device});
  estimate.parts.push_back({"optimizer", phases.optimizer * own.device});
  const Seconds waits = alone - estimate.device + scaler;
  if (waits > estimate.device * 0.0005) estimate.parts.push_back({"waiting for the host", waits});
  if (moved > Seconds{}) estimate.parts.push_back({"waiting for the network", overlapped - alone - scaler});
  if (overhead > Seconds{}) estimate.parts.push_back({"overhead of data parallelism", overhead});

  estimate.bound = bound_of(phases.arithmetic * passes * own.device, estimate.device, estimate.host, moved);
  const double width = estimate.bound == Bound::kHost ? c.train_host_width
                       : job.train.compile            ? c.compiled_width
                                                      : c.train_gpu_width;
  Confidence confidence = confidence_of(gpu, slot, model::JobKind::kTrain, width);
  // Runs on several GPUs are those of others. The rest used bf16 or autocast, full training or LoRA.
  if (job.parallel.gpus > 1) widen(confidence, estimate.notes, c.parallel_width);
  const bool beyond = job.precision == Precision::kFp32 || job.train.method == Method::kQlora ||
                      (job.train.compile && job.train.method != Method::kFull);
  if (beyond) widen(confidence, estimate.notes);
  // None used a network between machines, where published runs of FSDP and ZeRO 3 reach 35 to 55 % of the peak.
  constexpr double kAcrossMachines = 0.4;
  if (job.parallel.gpus > cluster.node_gpus) widen(confidence, estimate.notes, kAcrossMachines);
  state(estimate, confidence);
  if (estimate.bound == Bound::kHost) estimate.notes.push_back({NoteKind::kHostDepends, 0});
  if (job.train.method == Method::kLora && job.precision == Precision::kBf16)
    estimate.notes.push_back({NoteKind::kAdapterInputs, 0});
  if (job.train.method == Method::kQlora) estimate.notes.push_back({NoteKind::kQuantizedAdapters, 0});
  if (job.train.fused_kernels || job.train.cross_entropy == model::CrossEntropy::kFused)
    estimate.notes.push_back({NoteKind::kFusedIgnored, 0});
  return estimate;
}

}  // namespace rightsize::perf
