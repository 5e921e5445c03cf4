// Megatron-LM and Megatron-Bridge: tuned kernels, so whole-model FLOPs at one rate a format, with what parallelism
// adds.
#include <algorithm>
#include <cmath>

#include "perf/stacks/estimate_parts.h"

namespace rightsize::perf {
namespace {

using model::Job;
using model::Precision;

constexpr double kElementwiseShare = 0.8;
constexpr double kLinkShare = 0.8;
constexpr double kHeadRate = 0.7;

struct Format {
  double rate;
  FlopsPerSecond peak;
};

Format format_of(const MegatronConstants& c, const Job& job, const GpuSpeed& gpu) {
  if (job.precision == Precision::kFp8) return {c.rate_fp8, gpu.fp8};
  return {c.rate_bf16 * std::min(1.0, gpu.rate_scale), gpu.half};
}

// One direction of the links inside a machine; the network where an exchange leaves it.
BytesPerSecond link_of(const GpuSpeed& gpu, const Cluster& cluster, int group) {
  const BytesPerSecond inside = gpu.fsdp_link / kLinkShare;
  return group <= cluster.node_gpus ? inside : std::min(inside, cluster.network_per_gpu);
}

struct Work {
  Flops linear, head, attention;
};

Work flops_of(const ModelWork& work, double tokens, double sequence, bool frozen) {
  const double passes = frozen ? 2.0 : 3.0;
  const double head = work.head_parameters;
  const double layers = work.active_parameters - head * (work.tied ? 1.0 : 2.0);
  return {flop(2.0 * layers * tokens * passes), flop(2.0 * head * tokens * passes),
          flop(7.0 * tokens * sequence * work.attention_width)};
}

}  // namespace

// t = F_linear / (e P) + F_head / (0.7 P16) + F_attention / (a P16) + L T h passes / (0.8 BW), over tp cp pp GPUs,
// + all-to-all and routing of experts, + what tensor parallel exchanges do not hide; times 1 + (pp - 1) / (m v).
Result<TrainEstimate> train_megatron(const MegatronConstants& c, const ModelWork& work, const Job& job,
                                     const GpuSpeed& gpu, const Cluster& cluster) {
  const model::Parallelism& p = job.parallel;
  const bool frozen = job.train.method != model::Method::kFull;
  const bool mixture = work.experts > 0;
  const double tokens = static_cast<double>(job.batch * job.sequence);
  const double replica = static_cast<double>(p.tensor) * p.pipeline * p.context;
  const Work flops = flops_of(work, tokens, static_cast<double>(job.sequence), frozen);
  const Format format = format_of(c, job, gpu);
  const Calibration& own = calibration_of(gpu, slot_of(job.stack), model::JobKind::kTrain);
  const double redo = job.train.recompute == model::Recompute::kFull ? 4.0 / 3.0 : 1.0;
  const Seconds products = (flops.linear / (format.peak * (format.rate * (mixture ? c.expert_rate : 1.0))) +
                            flops.head / (gpu.half * kHeadRate)) *
                           (redo / replica);
  const Seconds attention = flops.attention / (gpu.half * c.attention_rate) * (redo / replica);
  const Seconds passes =
      traffic_time(gpu, bytes(work.layers * tokens * work.hidden * c.elementwise), kElementwiseShare) / replica;

  Seconds exchange;
  const double stage = work.layers / p.pipeline;
  if (mixture) {
    const Bytes sent = bytes(6.0 * work.experts_per_token * tokens * work.hidden * (p.expert - 1.0) / p.expert);
    exchange += sent / link_of(gpu, cluster, p.expert) * (c.all_to_all * stage) + c.expert_layer * stage;
  }
  if (p.tensor > 1) {
    const Bytes sent = bytes(12.0 * tokens * work.hidden * (p.tensor - 1.0) / p.tensor);
    exchange += sent / (link_of(gpu, cluster, p.tensor) * kLinkShare) * (c.tensor_exposed * stage);
  }
  const double micro = job.train.accumulation;
  const double bubble = (p.pipeline - 1.0) / (micro * p.pipeline_interleave);
  const double held = 1.0 / (p.tensor * p.pipeline);
  const Seconds optimizer =
      traffic_time(gpu, bytes(trained_parameters(work, job) * held / std::max(1, p.data()) * 28), kElementwiseShare);
  const DataParallel network = data_parallel_time(work, job, gpu, cluster, 1.0, held);

  TrainEstimate estimate;
  const Seconds compute = (products + attention + passes) * own.device;
  const Seconds busy = (compute + exchange) * (micro * (1.0 + bubble));
  // Gradients are reduced once a step, behind the last backward pass.
  const Seconds alone = soft_max(busy, network.time, 3.0);
  estimate.step = alone + optimizer;
  estimate.device = compute * micro + optimizer;
  estimate.parts.push_back({"matrix products", products * (own.device * micro)});
  estimate.parts.push_back({"attention", attention * (own.device * micro)});
  estimate.parts.push_back({"elementwise", passes * (own.device * micro)});
  if (exchange > Seconds{}) estimate.parts.push_back({"exchange of activations", exchange * micro});
  if (bubble > 0) estimate.parts.push_back({"pipeline bubble", (compute + exchange) * (micro * bubble)});
  estimate.parts.push_back({"optimizer", optimizer});
  if (p.data() > 1) estimate.parts.push_back({"waiting for the network", alone - busy});
  estimate.bound =
      bound_of((products + attention) * own.device, compute, Seconds{}, exchange + network.time * (1.0 / micro));
  const Confidence confidence =
      confidence_of(gpu, slot_of(job.stack), model::JobKind::kTrain, mixture ? c.expert_width : c.dense_width);
  estimate.basis = confidence.basis;
  estimate.interval = interval_of(confidence.width);
  if (mixture) estimate.notes.push_back({NoteKind::kMixtureUnsure, 0});
  if (job.precision != Precision::kFp8) estimate.notes.push_back({NoteKind::kUntestedStack, 0});
  return estimate;
}

}  // namespace rightsize::perf
