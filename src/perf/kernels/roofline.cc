#include "perf/kernels/roofline.h"

#include <algorithm>

namespace rightsize::perf {

// From leaving each measured chip out in turn: the 80 % error of whole vLLM runs is then 0.27 on Hopper and 0.14 on
// B200 and B300, including 0.1 for the measured curves themselves (docs/speed.md).
double width_of(Basis basis) {
  static constexpr double kWidths[] = {0, 0, 0.15, 0.30};
  return kWidths[static_cast<int>(basis)];
}

void finish_op(OpTime& op, const GpuSpeed& gpu, FlopsPerSecond peak, Seconds latency) {
  op.arithmetic = op.flops / peak, op.movement = op.traffic / gpu.bandwidth;
  op.ideal = std::max(op.arithmetic / kMostArithmetic, op.movement / kMostBandwidth);
  op.latency = latency;
  op.time = std::max(op.time, op.ideal) + latency;
}

GpuSpeed at_clock(const GpuSpeed& gpu, double share) {
  GpuSpeed slower = gpu;
  for (FlopsPerSecond* peak : {&slower.half, &slower.fp8, &slower.fp4, &slower.fp32, &slower.tf32})
    *peak = *peak * share;
  slower.bandwidth = gpu.bandwidth * std::min(1.0, share / kMemoryClock);
  slower.power.cap = {};
  return slower;
}

Activity at_full_clock(Activity activity, double share) {
  activity.tensor = activity.tensor * share;
  activity.memory = activity.memory * std::min(1.0, share / kMemoryClock);
  return activity;
}

namespace {

struct ElementBytes {
  double weight, activation, output;
};

// 4-bit formats include their scales: NVFP4 one byte per 16 elements, AWQ and GPTQ 16 bits per 128 plus a zero point.
ElementBytes element_bytes(WeightFormat format) {
  // 16 bits, fp8, fp4, int8, int4, MXFP4, fp32: in the order of WeightFormat.
  static constexpr ElementBytes kBytes[] = {{2, 2, 2},    {1, 1, 2}, {0.5625, 0.5625, 2}, {1, 2, 2}, {0.53, 2, 2},
                                            {0.53, 2, 2}, {4, 4, 4}};
  return kBytes[static_cast<int>(format)];
}

// The peak rate of a product's unit, and the share that large products reach.
struct Pipe {
  const MatmulCurve* curve;
  FlopsPerSecond peak;
};

Pipe pipe_of(const GpuSpeed& gpu, WeightFormat format) {
  switch (format) {
    case WeightFormat::kFp8:
      return {&gpu.matmul[static_cast<int>(MatmulFormat::kFp8)], gpu.fp8};
    case WeightFormat::kFp4:
      return {&gpu.matmul[static_cast<int>(MatmulFormat::kFp4)], gpu.fp4};
    case WeightFormat::kFp32:
      return {&gpu.matmul[static_cast<int>(MatmulFormat::kHalf)], gpu.fp32};
    case WeightFormat::kInt8:
    case WeightFormat::kInt4:
    case WeightFormat::kMx4:
      return {&gpu.matmul[static_cast<int>(MatmulFormat::kWeightOnly)], gpu.half};
    default:
      return {&gpu.matmul[static_cast<int>(MatmulFormat::kHalf)], gpu.half};
  }
}

constexpr double kTile = 128.0 * 128.0;  // outputs per multiprocessor and wave

// F = 2mnk, B = w n k + x m k + y m n
// compute = F / (rate P) (1 + occupancy SM 128^2 / (m n)) (1 + k_ramp / k)      partly filled waves of 128 x 128 tiles
// memory  = (B + w small_weights 1e6) / (bandwidth BW)                          ramp-up of the bandwidth
// Of the m rows only `rows` are needed: the others fill up a tile.
OpTime product_time(const GpuSpeed& gpu, const Pipe& pipe, const MatmulCurve& curve, const ElementBytes& width,
                    double groups, const Matmul& each, double rows, double rate) {
  OpTime op;
  op.flops = flop(groups * 2.0 * each.m * each.n * each.k);
  op.traffic = bytes(
      groups * (width.weight * each.n * each.k + width.activation * each.m * each.k + width.output * each.m * each.n));
  op.compute = op.flops / (pipe.peak * (rate > 0 ? rate : curve.rate)) *
               (1.0 + curve.occupancy * gpu.sms * kTile / (groups * each.m * each.n)) * (1.0 + curve.k_ramp / each.k);
  op.memory = (op.traffic + bytes(width.weight * curve.small_weights * 1e6)) / (gpu.bandwidth * curve.bandwidth);
  op.time = soft_max(op.compute, op.memory, curve.q);
  if (each.m > rows) op.flops = op.flops * (rows / each.m);
  finish_op(op, gpu, pipe.peak, curve.latency);
  return op;
}

}  // namespace

FlopsPerSecond peak_of(const GpuSpeed& gpu, WeightFormat format) { return pipe_of(gpu, format).peak; }

OpTime matmul_time(const GpuSpeed& gpu, const Matmul& size, WeightFormat format, double rate) {
  const Pipe pipe = pipe_of(gpu, format);
  return product_time(gpu, pipe, *pipe.curve, element_bytes(format), 1, size, size.m, rate);
}

// One kernel works on the tiles of all experts, so waves and bandwidth ramp up over the whole group, not per expert. A
// few rows still occupy the 16 rows of a tensor-core tile.
OpTime grouped_matmul_time(const GpuSpeed& gpu, double groups, const Matmul& each, WeightFormat format, double rate) {
  constexpr double kRows = 16;
  const Pipe pipe = pipe_of(gpu, format);
  const auto kind =
      format == WeightFormat::kMx4 ? kMxExperts : static_cast<std::size_t>(pipe.curve - gpu.matmul.data());
  const MatmulCurve& curve = gpu.experts[kind];
  const Matmul padded{std::max(kRows, each.m), each.n, each.k};
  return product_time(gpu, pipe, curve, element_bytes(format), groups, padded, each.m, rate);
}

// FlashAttention: F = 4 b s^2 a d, half of it causal; reads q, k, v and writes the output once.
OpTime prefill_attention_time(const GpuSpeed& gpu, const PrefillAttention& a) {
  // Query rows per thread block (FlashAttention 2, arXiv 2307.08691); the exponent is chosen, not fitted.
  constexpr double kSharpness = 1.5, kBlock = 128.0;
  const PrefillCurve& curve = gpu.prefill;
  OpTime op;
  op.flops = flop((a.causal ? 2.0 : 4.0) * a.batch * a.sequence * a.sequence * a.heads * a.head_dim);
  op.traffic = bytes(4.0 * a.batch * a.sequence * a.head_dim * (a.heads + a.kv_heads));
  op.compute = op.flops / (gpu.half * curve.rate) * std::pow(128.0 / a.head_dim, curve.head_gamma) *
               (1.0 + curve.short_sequence / a.sequence) *
               (1.0 + curve.occupancy * gpu.sms / (a.batch * a.heads * std::max(1.0, a.sequence / kBlock)));
  op.memory = op.traffic / (gpu.bandwidth * curve.bandwidth);
  op.time = soft_max(op.compute, op.memory, kSharpness);
  finish_op(op, gpu, gpu.half, curve.latency);
  return op;
}

// One query per sequence: the cache is read once, F = 4 b ctx a d. Multi-head latent attention in its absorbed form
// reads one compressed vector per token and computes against all of it (DeepSeek-V2, arXiv 2405.04434, section 2.1).
OpTime decode_attention_time(const GpuSpeed& gpu, const DecodeAttention& a) {
  // Cache tokens per block when the cache of a sequence is split among blocks; both values are chosen, not fitted.
  constexpr double kSharpness = 1.5, kSplit = 256.0;
  // The reads in flight that saturate a memory grow with its bandwidth (Little's law), not with the multiprocessors.
  // A block of an H100 has 25 GB/s of its bandwidth.
  constexpr BytesPerSecond kBlock = gb_per_s(25);
  const DecodeCurve& curve = gpu.decode;
  const bool latent = a.latent_width > 0;
  const double cached = latent ? a.latent_width : 2.0 * a.kv_heads * a.head_dim;
  const double streams = latent ? 1.0 : a.kv_heads;
  const double slow_bytes = a.kv_bytes < 2 ? (a.fp8_factor > 0 ? a.fp8_factor : curve.fp8_kv) : 1.0;
  OpTime op;
  const auto moved = [&](double tokens) {
    return bytes(a.kv_bytes * a.batch * tokens * cached + 4.0 * a.batch * a.heads * a.head_dim);
  };
  op.traffic = moved(a.context);
  op.flops = flop((latent ? 4.0 * a.latent_width : 4.0 * a.head_dim) * a.batch * a.context * a.heads);
  // A block works on one sequence and key head and has a minimum time, which matters for windows and short prompts.
  const double taken = latent ? a.context : std::hypot(a.context, curve.short_sequence);
  op.memory = moved(taken) / (gpu.bandwidth * curve.bandwidth) * slow_bytes *
              (1.0 + curve.occupancy * (gpu.bandwidth / kBlock) / (a.batch * streams * std::max(1.0, taken / kSplit)));
  op.compute = op.flops / (gpu.half * curve.rate);
  op.time = soft_max(op.memory, op.compute, kSharpness);
  finish_op(op, gpu, gpu.half, curve.latency);
  return op;
}

}  // namespace rightsize::perf
