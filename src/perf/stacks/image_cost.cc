#include "perf/stacks/image_cost.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "perf/kernels/collectives.h"

namespace rightsize::perf {
namespace {

class ImageWalk {
 public:
  ImageWalk(const VisionConstants& constants, const GpuSpeed& gpu, const ModelWork& work, double batch,
            const ImageMode& mode)
      : c_(constants),
        gpu_(gpu),
        work_(work),
        b_(batch / mode.gpus),
        mode_(mode),
        narrow_(mode.wide ? 4 : 2),
        loss_(mode.denoising ? denoising_loss(constants, gpu) : 1),
        speed_(gpu.bandwidth * constants.bandwidth) {}

  ImageCost cost() {
    for (const LayerWork& layer : work_.kinds) {
      repeats_ = layer.count;
      walk(layer.ops);
      joins(b_ * work_.hidden * layer.input_joins, bytes_of(Wideness::kResidual));
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

  double at(const Extent& extent) const { return extent.batch == 1 ? extent.each * b_ : extent.at(b_, 1); }
  // Under autocast the residual stream and the outputs of norms are fp32.
  double bytes_of(Wideness width) const {
    return width == Wideness::kWide || (mode_.autocast && width == Wideness::kResidual) ? 4 : narrow_;
  }
  Seconds moved(double n) const { return bytes(n) / speed_; }

  Seconds roofline(double flops, double traffic, double rate) const {
    const FlopsPerSecond peak = mode_.wide ? gpu_.tf32 : gpu_.half;
    return soft_max(flop(flops) / (peak * std::min(kMostArithmetic, rate * gpu_.rate_scale)), moved(traffic), 2.0);
  }

  // If a result has several readers, their gradients are summed: two are read, their sum is written.
  void joins(double n, double e) {
    if (!mode_.train || !(n > 0)) return;
    traffic(0, 3 * e * n);
  }
  // Bytes without a separate host call: autograd's sums, autocast's conversions. Training runs different kernels than
  // inference: unfused attention with strided copies, operands of two widths.
  void traffic(double forward, double backward) {
    sum_.traffic += moved(forward) * (repeats_ * (mode_.train ? c_.train_traffic : 1));
    sum_.traffic_backward += moved(backward) * (repeats_ * c_.gradient_traffic);
  }
  void pass(double forward, double backward, double kernels_backward = 1) {
    traffic(forward, backward);
    kernels(1, kernels_backward);
  }
  void kernels(double forward, double backward) {
    sum_.kernels += forward * repeats_;
    sum_.kernels_backward += backward * repeats_;
  }
  void products(Seconds forward, Seconds backward, double flops, double loss) {
    sum_.products += forward * (repeats_ * loss);
    sum_.products_backward += backward * repeats_;
    sum_.flops += flop(flops * repeats_);
  }

  // Autocast converts fp32 weights before every product, and their gradients after: 6 bytes per element.
  Seconds weight_cast(double elements) const { return mode_.autocast ? moved(6 * elements) : Seconds{}; }
  double cast_kernels() const { return mode_.autocast ? 1 : 0; }

  // Utilization falls with the square root of a filter's depth and of its outputs until both fill the tensor cores. The
  // faster the multiprocessor, the more is needed to fill them.
  void convolution(const WorkOp& op) {
    const double area = op.kernel * op.kernel, weights = op.inputs * op.outputs / op.groups * area;
    const double flops = 2 * weights * at(op.rows);
    const double traffic = narrow_ * (c_.channels_last_copies * (at(op.whole) + at(op.elements)) + weights);
    double rate = c_.channels_last_rate *
                  std::sqrt(std::min(1.0, op.inputs / op.groups * area / (c_.conv_depth * gpu_.conv_scale))) *
                  std::sqrt(std::min(1.0, op.outputs / op.groups / (c_.conv_width * gpu_.conv_scale)));
    if (op.groups > 1) rate = std::min(rate, 2 * c_.grouped_rate);
    // With few outputs, multiprocessors idle: a tile has 128 x 128 outputs.
    rate /= 1.0 + c_.conv_occupancy * gpu_.sms * 128.0 * 128.0 / at(op.elements);
    const bool first = op.inputs == 3;  // input images need no gradient
    const Seconds cast = weight_cast(weights);
    products(roofline(flops, traffic, rate) + cast,
             roofline(flops, traffic, rate * c_.channels_last_weight_gradient) +
                 (first ? Seconds{} : roofline(flops, traffic, rate * c_.conv_input_gradient)) + cast,
             flops, loss_);
    kernels(1 + cast_kernels(), 2 + cast_kernels());
  }

  void depthwise(const WorkOp& op) {
    const Seconds time = moved(narrow_ * (at(op.whole) + at(op.elements))) *
                         (c_.depthwise * c_.channels_last_depthwise * std::pow(op.kernel / 3.0, c_.depthwise_kernel));
    sum_.traffic += time * repeats_;
    sum_.traffic_backward += time * (c_.depthwise_backward * repeats_);
    kernels(1, 2);
  }

  struct Linear {
    double rows = 0, inputs = 0, outputs = 0;
    Seconds forward, backward;
  };

  Linear linear_time(double rows, double i, double o) const {
    const WeightFormat format = mode_.wide ? WeightFormat::kFp32 : WeightFormat::kHalf;
    const double rate = mode_.wide ? c_.fp32_rate : c_.linear_rate * gpu_.rate_scale;
    auto product = [&](double m, double n, double k) { return matmul_time(gpu_, {m, n, k}, format, rate).time; };
    const Seconds cast = weight_cast(i * o);
    return {rows, i, o, product(rows, o, i) + cast,
            mode_.train ? product(rows, i, o) + product(i, o, rows) + cast + moved(narrow_ * rows * o) : Seconds{}};
  }

  // Blocks of a stage (with shifted windows or not) have the same products, so the last few results are cached.
  const Linear& kept_linear(double rows, double i, double o) {
    for (const Linear& kept : linears_) {
      if (kept.rows == rows && kept.inputs == i && kept.outputs == o) return kept;
    }
    Linear& oldest = linears_[next_linear_++ % linears_.size()];
    return oldest = linear_time(rows, i, o);
  }

  void linear(const WorkOp& op) {
    const double rows = at(op.rows), i = op.inputs, o = op.outputs;
    const Linear& time = kept_linear(rows, i, o);
    products(time.forward, time.backward, 2 * rows * i * o, loss_);
    kernels(1 + cast_kernels(), 3 + cast_kernels());
    if (mode_.autocast && bytes_of(op.in) == 4)
      traffic(6 * rows * i, 6 * rows * i);  // the input is cast down, its gradient up
  }

  void attention(const model::AttentionOp& how) {
    const double head = static_cast<double>(how.head_dim);
    const double scores = b_ * static_cast<double>(how.heads * how.query_tokens * how.key_tokens);
    const Flops work = flop(4 * scores * head);
    const FlopsPerSecond rate =
        mode_.wide ? gpu_.fp32 * c_.fp32_attention : gpu_.half * (c_.attention_rate * gpu_.attention_scale);
    const Seconds time =
        (mode_.denoising && !mode_.wide ? denoising_attention(work, head) : work / rate) + microseconds(4);
    products(time, time * 3.25, 4 * scores * head, 1);
    kernels(3, 4);
    if (mode_.gpus > 1 && how.query_tokens == how.key_tokens) exchange(how);
  }

  // FlashAttention 2 over thousands of patches. The softmax limits each multiprocessor as much as the tensor cores do,
  // so a chip with half the products per multiprocessor is more than half as fast; narrow heads have more softmax. GPUs
  // without FlashAttention 2 lose as much as in engines.
  Seconds denoising_attention(Flops work, double head) const {
    const FlopsPerSecond softmax = tflop_per_s(c_.denoising_attention) * gpu_.sms;
    const double others = gpu_.has_bf16 && !gpu_.rocm ? 1 : std::min(1.0, gpu_.attention_scale);
    return soft_max(work / (gpu_.half * kMostArithmetic), work / softmax, 2.0) *
           (std::pow(128 / head, c_.denoising_head_gamma) / others);
  }

  // Ulysses: an all-to-all gathers all tokens of a GPU's heads for queries, keys and values, and another returns the
  // result to the GPU's own tokens. Each is copied into and out of the order of the message. Cross-attention needs
  // none: every GPU has the whole prompt.
  void exchange(const model::AttentionOp& how) {
    // The host needs as long for one as for ten kernels (torch.distributed, Python): FLUX on four H100 and eight A800.
    constexpr double kTensors = 4, kCopies = 2, kCalls = 10;
    const double sent = narrow_ * b_ * static_cast<double>(how.query_tokens * how.heads * how.head_dim);
    sum_.exchange +=
        collective_time(gpu_, Cluster{}, Collective::kAllToAll, mode_.gpus, bytes(sent)) * (kTensors * repeats_);
    traffic(kTensors * kCopies * 2 * sent, 0);
    kernels(kTensors * kCalls, 0);
  }

  // Unfused attention within windows: small batched products.
  void batched_product(const WorkOp& op) {
    const FlopsPerSecond rate =
        mode_.wide ? gpu_.fp32 * c_.fp32_attention : gpu_.half * (c_.batched_rate * gpu_.rate_scale);
    const Seconds time = flop(2 * at(op.rows)) / rate;
    products(time, time * 2.0, 2 * at(op.rows), loss_);
    kernels(1, 2);
  }

  // One kernel that autocast runs in fp32; its two gradients read both operands again. Its arithmetic costs as much as
  // `norm_bytes` more.
  void layer_norm(double n, double e) {
    const double wide = mode_.autocast ? 4 : e;
    if (e != wide) traffic(n * (e + wide), n * (e + wide));
    if (mode_.autocast) kernels(1, 0);
    pass(n * (2 * wide + c_.norm_bytes), n * (5 * wide + 2 * c_.norm_bytes), 2);
  }

  // Training reads the input twice. PyTorch's own kernels for channels-last gather 16-bit statistics slowly; fp32 goes
  // to cuDNN.
  void batch_norm(double n) {
    const double statistics = mode_.wide ? 4 : c_.batch_statistics;
    const double bytes = 2 * narrow_ * c_.batch_norm;
    pass(n * (mode_.train ? bytes + statistics : bytes), n * 2.5 * bytes);
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
        if (op.norm == NormKind::kBatch) return batch_norm(n);
        return layer_norm(n, e);
      case OpKind::kActivate:
        return pass(n * 2 * e, n * 3 * e);
      case OpKind::kAdd:
      case OpKind::kAddInPlace:  // the narrow side's gradient is cast
        return pass(n * (e + other + out), e != other ? n * (2 + out) : 0);
      case OpKind::kMaxPool:
      case OpKind::kAveragePool:
        return pass((n + at(op.whole)) * narrow_, (n + at(op.whole)) * narrow_);
      case OpKind::kCopy:
      case OpKind::kCat:
      case OpKind::kExpand:
      case OpKind::kViewCopiedBack:
        return pass(n * 2 * e, n * 2 * e);
      case OpKind::kMultiply:
        return pass(n * (e + out), n * 6 * out, 3);
      case OpKind::kScale:
      case OpKind::kDropout:
        if (mode_.train) pass(n * 5 * c_.dropout, n * 5 * c_.dropout);
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
  const ImageMode& mode_;
  double narrow_;  // bytes per output element of products
  double loss_;    // of products in a generator
  BytesPerSecond speed_;
  double repeats_ = 1;
  std::array<Linear, 8> linears_;
  std::size_t next_linear_ = 0;
  ImageCost sum_;
};

}  // namespace

double denoising_loss(const VisionConstants& constants, const GpuSpeed& gpu) {
  return constants.denoising * (gpu.has_fp4 ? constants.denoising_blackwell : 1);
}

ImageCost image_cost(const VisionConstants& constants, const GpuSpeed& gpu, const ModelWork& work, double batch,
                     const ImageMode& mode) {
  return ImageWalk(constants, gpu, work, batch, mode).cost();
}

}  // namespace rightsize::perf
