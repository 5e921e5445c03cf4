// Image models: a roofline over their operations, PyTorch with channels-last convolutions.
#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "perf/stacks/estimate_parts.h"

namespace rightsize::perf {
namespace {

using model::Job;
using model::JobKind;

// Time and kernels of both directions.
struct ImageCost {
  Seconds products, products_backward;  // convolutions, linears, attention
  Seconds traffic, traffic_backward;    // everything else
  double kernels = 0, kernels_backward = 0;
};

class ImageWalk {
 public:
  ImageWalk(const VisionConstants& constants, const GpuSpeed& gpu, const ModelWork& work, double batch, bool train)
      : c_(constants), gpu_(gpu), work_(work), b_(batch), train_(train), speed_(gpu.bandwidth * constants.bandwidth) {}

  ImageCost cost() {
    for (const LayerWork& layer : work_.kinds) {
      repeats_ = layer.count;
      walk(layer.ops);
      joins(b_ * work_.hidden * layer.input_joins, train_ ? 4 : 2);
    }
    repeats_ = 1;
    walk(work_.ends);
    return sum_;
  }

 private:
  void walk(const std::vector<WorkOp>& ops) {
    for (const WorkOp& op : ops) {
      add(op);
      joins(at(op.elements) * op.joins, bytes_of(op.out));
    }
  }

  double at(const Extent& extent) const { return extent.at(b_, 1); }
  // Under autocast the residual stream and what norms put out are fp32.
  double bytes_of(Wideness width) const {
    return width == Wideness::kWide || (train_ && width == Wideness::kResidual) ? 4 : 2;
  }
  Seconds moved(double n) const { return bytes(n) / speed_; }

  Seconds roofline(double flops, double traffic, double rate) const {
    return soft_max(flop(flops) / (gpu_.half * (rate * gpu_.rate_scale)), moved(traffic), 2.0);
  }

  // Gradients that meet where a result is read more than once: two are read, their sum is written.
  void joins(double n, double e) {
    if (!train_ || !(n > 0)) return;
    traffic(0, 3 * e * n);
  }
  // Bytes without a call of the host's own: autograd's sums, autocast's conversions.
  void traffic(double forward, double backward) {
    sum_.traffic += moved(forward) * repeats_;
    sum_.traffic_backward += moved(backward) * repeats_;
  }
  void pass(double forward, double backward, double kernels_backward = 1) {
    traffic(forward, backward);
    kernels(1, kernels_backward);
  }
  void kernels(double forward, double backward) {
    sum_.kernels += forward * repeats_;
    sum_.kernels_backward += backward * repeats_;
  }
  void products(Seconds forward, Seconds backward) {
    sum_.products += forward * repeats_;
    sum_.products_backward += backward * repeats_;
  }

  // Autocast converts fp32 weights before every product, and their gradients after: 6 bytes an element.
  Seconds weight_cast(double elements) const { return train_ ? moved(6 * elements) : Seconds{}; }
  double cast_kernels() const { return train_ ? 1 : 0; }

  // Utilisation falls with the square root of a filter's depth and of its outputs until both fill the tensor cores. How
  // much fills them grows with what a multiprocessor can compute.
  void convolution(const WorkOp& op) {
    const double area = op.kernel * op.kernel, weights = op.inputs * op.outputs / op.groups * area;
    const double flops = 2 * weights * at(op.rows);
    const double traffic = c_.channels_last_copies * 2 * (at(op.whole) + at(op.elements)) + 2 * weights;
    double rate = c_.channels_last_rate *
                  std::sqrt(std::min(1.0, op.inputs / op.groups * area / (c_.conv_depth * gpu_.conv_scale))) *
                  std::sqrt(std::min(1.0, op.outputs / op.groups / (c_.conv_width * gpu_.conv_scale)));
    if (op.groups > 1) rate = std::min(rate, 2 * c_.grouped_rate);
    // Few outputs leave multiprocessors idle, 128 x 128 of them to a tile.
    rate /= 1.0 + c_.conv_occupancy * gpu_.sms * 128.0 * 128.0 / at(op.elements);
    const bool first = op.inputs == 3;  // images need no gradient
    const Seconds cast = weight_cast(weights);
    products(roofline(flops, traffic, rate) + cast,
             roofline(flops, traffic, rate * c_.channels_last_weight_gradient) +
                 (first ? Seconds{} : roofline(flops, traffic, rate * c_.conv_input_gradient)) + cast);
    kernels(1 + cast_kernels(), 2 + cast_kernels());
  }

  void depthwise(const WorkOp& op) {
    const Seconds time = moved(2 * (at(op.whole) + at(op.elements))) *
                         (c_.depthwise * c_.channels_last_depthwise * std::pow(op.kernel / 3.0, c_.depthwise_kernel));
    sum_.traffic += time * repeats_;
    sum_.traffic_backward += time * (c_.depthwise_backward * repeats_);
    kernels(1, 2);
  }

  void linear(const WorkOp& op) {
    const double rows = at(op.rows), i = op.inputs, o = op.outputs, rate = c_.linear_rate * gpu_.rate_scale;
    auto product = [&](double m, double n, double k) {
      return matmul_time(gpu_, {m, n, k}, WeightFormat::kHalf, rate).time;
    };
    const Seconds cast = weight_cast(i * o);
    products(product(rows, o, i) + cast,
             train_ ? product(rows, i, o) + product(i, o, rows) + cast + moved(2 * rows * o) : Seconds{});
    kernels(1 + cast_kernels(), 3 + cast_kernels());
    if (bytes_of(op.in) == 4) traffic(6 * rows * i, 6 * rows * i);  // the input is cast down, its gradient up
  }

  void attention(const model::AttentionOp& how) {
    const double scores = b_ * static_cast<double>(how.heads * how.query_tokens * how.key_tokens);
    const Seconds time = flop(4 * scores * static_cast<double>(how.head_dim)) /
                             (gpu_.half * (c_.attention_rate * gpu_.attention_scale)) +
                         microseconds(4);
    products(time, time * 3.25);
    kernels(3, 4);
  }

  // Written out, within windows: small batched products.
  void batched_product(const WorkOp& op) {
    const Seconds time = flop(2 * at(op.rows)) / (gpu_.half * (c_.batched_rate * gpu_.rate_scale));
    products(time, time * 2.0);
    kernels(1, 2);
  }

  // One kernel that autocast runs in fp32; its two gradients read both operands again.
  void layer_norm(double n, double e) {
    const double wide = train_ ? 4 : e;
    if (e != wide) traffic(n * (e + wide), n * (e + wide));
    if (train_) kernels(1, 0);
    pass(n * 2 * wide, n * 5 * wide, 2);
  }

  // Bytes read and written, by each operand's width.
  void add(const WorkOp& op) {
    using model::NormKind;
    using model::OpKind;
    const double n = at(op.elements), e = bytes_of(op.in), out = bytes_of(op.out), other = bytes_of(op.other);
    switch (op.kind) {
      case OpKind::kConvolution:
        return op.groups > 1 && op.groups == op.outputs ? depthwise(op) : convolution(op);
      case OpKind::kLinear:
        return linear(op);
      case OpKind::kAttention:
        return attention(work_.attentions[static_cast<std::size_t>(op.aux)]);
      case OpKind::kProduct:
        return batched_product(op);
      case OpKind::kNorm:
        if (op.norm == NormKind::kBatch) return pass(n * (train_ ? 6 : 4), n * 10);
        return layer_norm(n, e);
      case OpKind::kActivate:
        return pass(n * 2 * e, n * 3 * e);
      case OpKind::kAdd:
      case OpKind::kAddInPlace:  // the narrow side's gradient is cast
        return pass(n * (e + other + out), e != other ? n * (2 + out) : 0);
      case OpKind::kMaxPool:
      case OpKind::kAveragePool:
        return pass((n + at(op.whole)) * 2, (n + at(op.whole)) * 2);
      case OpKind::kCopy:
      case OpKind::kCat:
      case OpKind::kExpand:
      case OpKind::kViewCopiedBack:
        return pass(n * 2 * e, n * 2 * e);
      case OpKind::kMultiply:
        return pass(n * (e + out), n * 6 * out, 3);
      case OpKind::kScale:
      case OpKind::kDropout:
        if (train_) pass(n * 5 * c_.dropout, n * 5 * c_.dropout);
        return;
      case OpKind::kAddConstant:
      case OpKind::kSoftmax:
        return pass(n * c_.window_scores, n * 1.3 * c_.window_scores);
      case OpKind::kSlice:
      case OpKind::kSelect:  // the gradient is a zero tensor of the whole, with this part filled in
        traffic(0, e * at(op.whole) + 2 * e * n);
        return kernels(1, 1);
      case OpKind::kIndex:
        return kernels(1, 1);
      default:
        return;
    }
  }

  const VisionConstants& c_;
  const GpuSpeed& gpu_;
  const ModelWork& work_;
  double b_;
  bool train_;
  BytesPerSecond speed_;
  double repeats_ = 1;
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
  const ImageCost cost = ImageWalk(c, gpu, work, static_cast<double>(job.batch), false).cost();
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
  const ImageCost cost = ImageWalk(c, gpu, work, static_cast<double>(job.batch), true).cost();
  const Seconds forward = (cost.products + cost.traffic + c.kernel_launch * cost.kernels) * own.device;
  const Seconds backward =
      (cost.products_backward + cost.traffic_backward + c.kernel_launch * cost.kernels_backward) * own.device;
  const Seconds optimizer =
      traffic_time(gpu, bytes(work.parameters * optimizer_bytes(job, false)), c.optimizer_bandwidth) *
      c.optimizer_passes;
  const double passes = job.train.accumulation;
  TrainEstimate estimate;
  estimate.device = (forward + backward) * passes + optimizer;
  estimate.host =
      (c.host_forward * cost.kernels + c.host_backward * cost.kernels_backward) * (passes * own.host) + milliseconds(2);
  const Seconds alone = soft_max(estimate.device, estimate.host, c.host_overlap);
  const DataParallel network = data_parallel_time(work, job, gpu, cluster, 1.0, 1.0, replicas_of(job));
  const Seconds moved = network.of_step(passes);
  estimate.step = soft_max(alone, moved, c.network_overlap);
  estimate.parts.push_back({"forward", forward * passes});
  estimate.parts.push_back({"backward", backward * passes});
  estimate.parts.push_back({"optimizer", optimizer});
  estimate.parts.push_back({"waiting for the host", alone - estimate.device});
  if (moved > Seconds{}) estimate.parts.push_back({"waiting for the network", estimate.step - alone});
  estimate.bound =
      bound_of((cost.products + cost.products_backward) * (passes * own.device), estimate.device, estimate.host, moved);
  Confidence confidence = confidence_of(gpu, kVisionSlot, JobKind::kTrain, c.width);
  if (own.known) confidence = {Basis::kCalibrated, own.width};
  estimate.basis = confidence.basis;
  estimate.interval = interval_of(confidence.width);
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

// No engine runs these models, and PyTorch's passes are modelled in 16 and 32 bits.
Result<> check_batch(const Job& job, const GpuSpeed& gpu) {
  using model::Precision;
  if (!gpu.has_half)
    return fail(bad_input("the catalogue has no 16-bit rate for this GPU: its speed cannot be estimated"));
  const bool plain =
      job.precision == Precision::kBf16 || job.precision == Precision::kFp16 || job.precision == Precision::kFp32;
  if (plain) return {};
  return fail(
      bad_input(fmt::format("models that answer in one pass are not modelled in {}", model::name_of(job.precision)))
          .with_hint("use --precision bf16 or fp16"));
}

}  // namespace

Result<BatchEstimate> estimate_batch(const Constants& constants, const ModelWork& work, const Job& job,
                                     const GpuSpeed& gpu) {
  if (Result<> possible = check_batch(job, gpu); !possible) return fail(std::move(possible).error());
  RIGHTSIZE_TRY(BatchEstimate estimate, one_batch(constants, work, job, gpu));
  estimate.samples_per_second = static_cast<double>(job.batch) / in_seconds(estimate.batch);
  note_hardware(job, gpu, Cluster{}, estimate.notes);
  return estimate;
}

}  // namespace rightsize::perf
