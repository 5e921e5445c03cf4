// Image models: a roofline over their operations, PyTorch with channels-last convolutions.
#include <algorithm>
#include <cmath>

#include "perf/stacks/estimate_parts.h"

namespace rightsize::perf {
namespace {

using model::Job;
using model::JobKind;

constexpr double kOverlap = 6.0;

// Time and kernels of both directions.
struct ImageCost {
  Seconds products, products_backward;  // convolutions, linears, attention
  Seconds traffic, traffic_backward;    // everything else
  double kernels = 0, kernels_backward = 0;
};

class ImageModel {
 public:
  ImageModel(const VisionConstants& constants, const GpuSpeed& gpu, double batch, bool train)
      : c_(constants), gpu_(gpu), b_(batch), train_(train), speed_(gpu.bandwidth * constants.bandwidth) {}

  ImageCost cost(const ImageOps& ops) {
    for (const ImageOp& op : ops) add(op);
    return sum_;
  }

 private:
  Seconds moved(double n) const { return bytes(n) / speed_; }

  Seconds roofline(double flops, double traffic, double rate) const {
    return soft_max(flop(flops) / (gpu_.half * (rate * gpu_.rate_scale)), moved(traffic), 2.0);
  }

  void pass(const ImageOp& op, double forward, double backward, double kernels_backward = 1) {
    sum_.traffic += moved(forward * b_) * op.repeats;
    sum_.traffic_backward += moved(backward * b_) * op.repeats;
    sum_.kernels += op.repeats;
    sum_.kernels_backward += kernels_backward * op.repeats;
  }

  // Autocast converts fp32 weights before every product, and their gradients after: 6 bytes an element.
  Seconds weight_cast(double elements) const { return train_ ? moved(6 * elements) : Seconds{}; }

  // Utilisation falls with the square root of a filter's depth and of its outputs until both fill the tensor cores.
  void convolution(const ImageOp& op) {
    const double area = op.kernel * op.kernel, weights = op.a * op.b / op.groups * area;
    const double flops = 2 * b_ * weights * op.side_out * op.side_out;
    const double traffic =
        c_.channels_last_copies * 2 * b_ * (op.a * op.side_in * op.side_in + op.b * op.side_out * op.side_out) +
        2 * weights;
    double rate = c_.channels_last_rate * std::sqrt(std::min(1.0, op.a / op.groups * area / c_.conv_depth)) *
                  std::sqrt(std::min(1.0, op.b / op.groups / c_.conv_width));
    if (op.groups > 1) rate = std::min(rate, 2 * c_.grouped_rate);
    const bool first = op.a == 3;  // images need no gradient
    const Seconds cast = weight_cast(weights);
    sum_.products += (roofline(flops, traffic, rate) + cast) * op.repeats;
    sum_.products_backward += (roofline(flops, traffic, rate * c_.channels_last_weight_gradient) +
                               (first ? Seconds{} : roofline(flops, traffic, rate * c_.conv_input_gradient)) + cast) *
                              op.repeats;
    kernels(op, 1, 2);
  }

  void kernels(const ImageOp& op, double forward, double backward) {
    sum_.kernels += (forward + (train_ ? 1 : 0)) * op.repeats;
    sum_.kernels_backward += (backward + (train_ ? 1 : 0)) * op.repeats;
  }

  void linear(const ImageOp& op) {
    const double rows = op.a * b_, i = op.b, o = op.c, rate = c_.linear_rate * gpu_.rate_scale;
    auto product = [&](double m, double n, double k) {
      return matmul_time(gpu_, {m, n, k}, WeightFormat::kHalf, rate).time;
    };
    const Seconds cast = weight_cast(i * o);
    sum_.products += (product(rows, o, i) + cast) * op.repeats;
    if (train_) {
      sum_.products_backward += (product(rows, i, o) + product(i, o, rows) + cast + moved(2 * rows * o)) * op.repeats;
    }
    kernels(op, 1, 3);
  }

  void attention(const ImageOp& op) {
    const double scores = b_ * op.a * op.c * op.b * op.b, flops = 4 * scores * op.d;
    if (op.kind == ImageOpKind::kAttention) {
      const Seconds time = flop(flops) / (gpu_.half * (c_.attention_rate * gpu_.attention_scale)) + microseconds(4);
      sum_.products += time * op.repeats;
      sum_.products_backward += time * (3.25 * op.repeats);
      sum_.kernels += 3 * op.repeats, sum_.kernels_backward += 4 * op.repeats;
      return;
    }
    const Seconds time = flop(flops) / (gpu_.half * (0.15 * gpu_.rate_scale));
    sum_.products += (time + moved(scores * c_.window_scores)) * op.repeats;
    sum_.products_backward += (time * 2.0 + moved(scores * 1.3 * c_.window_scores)) * op.repeats;
    sum_.kernels += 7 * op.repeats, sum_.kernels_backward += 9 * op.repeats;
  }

  void depthwise(const ImageOp& op) {
    const Seconds time = moved(2 * b_ * op.a * (op.side_out * op.side_out + op.side_in * op.side_in)) *
                         (c_.depthwise * c_.channels_last_depthwise * std::pow(op.kernel / 3.0, c_.depthwise_kernel));
    sum_.traffic += time * op.repeats;
    sum_.traffic_backward += time * (c_.depthwise_backward * op.repeats);
    sum_.kernels += op.repeats, sum_.kernels_backward += 2 * op.repeats;
  }

  // Bytes of an element: 2, and 4 inside norms under autocast.
  void add(const ImageOp& op) {
    switch (op.kind) {
      case ImageOpKind::kConv:
        return convolution(op);
      case ImageOpKind::kDepthwise:
        return depthwise(op);
      case ImageOpKind::kLinear:
        return linear(op);
      case ImageOpKind::kAttention:
      case ImageOpKind::kWindowAttention:
        return attention(op);
      case ImageOpKind::kBatchNorm: {
        const double n = op.a * op.side_out * op.side_out;
        return pass(op, n * (train_ ? 6 : 4), n * 10);
      }
      case ImageOpKind::kActivation:
        return pass(op, op.a * 4, op.a * 6);
      case ImageOpKind::kAdd:
        return pass(op, op.a * 6, op.a * 6);
      case ImageOpKind::kPool:
        return pass(op, (op.a + op.b) * 2, (op.a + op.b) * 2);
      case ImageOpKind::kCopy:
        return pass(op, op.a * 4, op.a * 4);
      case ImageOpKind::kScale:
        return pass(op, op.a * 4, op.a * 12, 3);
      case ImageOpKind::kDropout:
        if (train_) pass(op, op.a * 5 * c_.dropout, op.a * 5 * c_.dropout);
        return;
      case ImageOpKind::kLayerNorm:
        pass(op, op.a * (train_ ? 14 : 4), op.a * (train_ ? 26 : 10), 2);
        if (train_) sum_.kernels += op.repeats;
        return;
      case ImageOpKind::kSmall:
        sum_.kernels += op.a * op.repeats;
        sum_.kernels_backward += 0.5 * op.a * op.repeats;
        return;
    }
  }

  const VisionConstants& c_;
  const GpuSpeed& gpu_;
  double b_;
  bool train_;
  BytesPerSecond speed_;
  ImageCost sum_;
};

Result<> check_images(const Job& job) {
  if (job.parallel.tensor * job.parallel.pipeline * job.parallel.context > 1)
    return fail(bad_input("image models are modelled with data parallelism only").with_hint("use --tp 1 --pp 1"));
  return {};
}

}  // namespace

BatchEstimate batch_images(const Constants& constants, const ModelWork& work, const Job& job, const GpuSpeed& gpu) {
  const VisionConstants& c = constants.vision;
  const Calibration& own = calibration_of(gpu, slot_of(job.stack), JobKind::kServe);
  const ImageCost cost = ImageModel(c, gpu, static_cast<double>(job.batch), false).cost(work.images);
  const Seconds launches = c.kernel_launch * cost.kernels;
  BatchEstimate estimate;
  estimate.device = (cost.products + cost.traffic + launches) * own.device;
  estimate.host = c.host_infer * (cost.kernels * own.host);
  estimate.batch = estimate.device;  // in a CUDA graph, or a batch large enough to hide the host
  estimate.parts.push_back({"convolutions and products", cost.products * own.device});
  estimate.parts.push_back({"elementwise", cost.traffic * own.device});
  estimate.parts.push_back({"kernel launches", launches * own.device});
  estimate.bound = cost.products > cost.traffic ? Bound::kCompute : Bound::kMemory;
  const Confidence confidence = confidence_of(gpu, kVisionSlot, JobKind::kServe, c.width);
  estimate.basis = own.known ? Basis::kCalibrated : confidence.basis;
  estimate.interval = interval_of(own.known ? own.width : confidence.width);
  if (estimate.host > estimate.device)
    estimate.notes.push_back({NoteKind::kEagerDecode, in_milliseconds(estimate.host)});
  return estimate;
}

Result<TrainEstimate> train_images(const Constants& constants, const ModelWork& work, const Job& job,
                                   const GpuSpeed& gpu, const Cluster& cluster) {
  if (Result<> possible = check_images(job); !possible) return fail(std::move(possible).error());
  const VisionConstants& c = constants.vision;
  const Calibration& own = calibration_of(gpu, slot_of(job.stack), JobKind::kTrain);
  const ImageCost cost = ImageModel(c, gpu, static_cast<double>(job.batch), true).cost(work.images);
  constexpr double kOptimizerShare = 0.5, kOptimizerPasses = 1.5;
  const Seconds forward = (cost.products + cost.traffic + c.kernel_launch * cost.kernels) * own.device;
  const Seconds backward =
      (cost.products_backward + cost.traffic_backward + c.kernel_launch * cost.kernels_backward) * own.device;
  const Seconds optimizer =
      traffic_time(gpu, bytes(work.parameters * optimizer_bytes(job, false)), kOptimizerShare) * kOptimizerPasses;
  const double passes = job.train.accumulation;
  TrainEstimate estimate;
  estimate.device = (forward + backward) * passes + optimizer;
  estimate.host =
      (c.host_forward * cost.kernels + c.host_backward * cost.kernels_backward) * (passes * own.host) + milliseconds(2);
  const Seconds alone = soft_max(estimate.device, estimate.host, kOverlap);
  const DataParallel network = data_parallel_time(work, job, gpu, cluster, 1.0, 1.0);
  estimate.step = soft_max(alone, network.time, 3.0);
  estimate.parts.push_back({"forward", forward * passes});
  estimate.parts.push_back({"backward", backward * passes});
  estimate.parts.push_back({"optimizer", optimizer});
  estimate.parts.push_back({"waiting for the host", alone - estimate.device});
  if (network.time > Seconds{}) estimate.parts.push_back({"waiting for the network", estimate.step - alone});
  estimate.bound = bound_of((cost.products + cost.products_backward) * (passes * own.device), estimate.device,
                            estimate.host, network.time);
  Confidence confidence = confidence_of(gpu, kVisionSlot, JobKind::kTrain, c.width);
  if (own.known) confidence = {Basis::kCalibrated, own.width};
  estimate.basis = confidence.basis;
  estimate.interval = interval_of(confidence.width);
  if (estimate.bound == Bound::kHost) estimate.notes.push_back({NoteKind::kHostDepends, 0});
  return estimate;
}

bool serves_batches(const ModelWork& work) { return work.image || !(work.decoder || work.encoder_decoder); }

Job fitted_to(const ModelWork& work, Job job) {
  if (job.kind == JobKind::kServe && serves_batches(work)) job.stack = model::Stack::kHf;
  return job;
}

Result<BatchEstimate> estimate_batch(const Constants& constants, const ModelWork& work, const Job& job,
                                     const GpuSpeed& gpu) {
  if (!gpu.has_half)
    return fail(bad_input("the catalogue has no 16-bit rate for this GPU: its speed cannot be estimated"));
  BatchEstimate estimate =
      work.image ? batch_images(constants, work, job, gpu) : batch_eager(constants.eager, work, job, gpu);
  estimate.samples_per_second = static_cast<double>(job.batch) / in_seconds(estimate.batch);
  note_hardware(job, gpu, Cluster{}, estimate.notes);
  return estimate;
}

}  // namespace rightsize::perf
