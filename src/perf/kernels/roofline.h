// Time of one GPU operation: a smooth roofline with size-dependent efficiency.
//
// Every operation takes soft_max(compute, memory) + latency, and never less than its work takes at the data sheet's
// rates. Fitted on measured kernels; errors in docs/accuracy.md.
#pragma once

#include <cmath>

#include "perf/kernels/gpu_speed.h"

namespace rightsize::perf {

// (x^q + y^q)^(1/q): close to the larger value if they differ, above it if they are similar. q = 1 is the sum, a large
// q the maximum.
inline Seconds soft_max(Seconds x, Seconds y, double q) {
  const Seconds most = x > y ? x : y;
  if (!(most > Seconds{})) return Seconds{};
  const double ratio = (x > y ? y : x) / most;
  if (q == 2.0) return most * std::sqrt(1.0 + ratio * ratio);
  // Takes a third of the time of pow(), which dominates estimates.
  const double exponent = q * std::log(ratio), root = 1 / q;
  if (exponent < -20.7) return most;
  const double p = std::exp(exponent);
  if (p > 0.01) return most * std::exp(std::log(1.0 + p) * root);
  // (1 + p)^(1/q) by its series, to 1e-10.
  return most * (1 + p * root * (1 + p * (root - 1) / 2 * (1 + p * (root - 2) / 3 * (1 + p * (root - 3) / 4))));
}

// The work of an operation, and its time alone on the GPU.
struct OpTime {
  Flops flops;
  Bytes traffic;
  Seconds compute, memory;  // each as if the other took no time
  Seconds time;
  Seconds latency;               // included: fixed cost of starting and ending the kernel
  Seconds ideal;                 // included: the work at the highest rates that any kernel reaches
  Seconds arithmetic, movement;  // the work at the data sheet's rates

  // The time with losses (above the ideal) multiplied by `factor`: better or worse software on the same hardware.
  Seconds with_losses(double factor) const { return ideal + (time - ideal) * factor; }

  OpTime& operator+=(const OpTime& o) {
    flops += o.flops, traffic += o.traffic, compute += o.compute, memory += o.memory, time += o.time,
        latency += o.latency, ideal += o.ideal, arithmetic += o.arithmetic, movement += o.movement;
    return *this;
  }
  OpTime operator*(double n) const {
    return {flops * n,   traffic * n, compute * n,    memory * n,  time * n,
            latency * n, ideal * n,   arithmetic * n, movement * n};
  }
  // Judged by the data sheet: a kernel that computes below its peak while it waits for memory is memory-bound.
  bool is_arithmetic() const { return arithmetic > movement; }
};

// Completes an operation on a unit of `peak` FLOP/s; its `time` is so far that of its work alone.
void finish_op(OpTime& op, const GpuSpeed& gpu, FlopsPerSecond peak, Seconds latency);

// Element format of a product: selects the peak and the bytes per weight, activation and output.
enum class WeightFormat { kHalf, kFp8, kFp4, kInt8, kInt4, kMx4, kFp32 };  // kMx4: MXFP4, computed in 16 bits

// The data-sheet rate of the unit that multiplies this format.
FlopsPerSecond peak_of(const GpuSpeed& gpu, WeightFormat format);

struct Matmul {
  double m = 0, n = 0, k = 0;  // activations m x k, weight n x k, output m x n
};

// `rate` overrides the curve's share of peak arithmetic (sustained clocks, other kernels); 0 keeps it.
OpTime matmul_time(const GpuSpeed& gpu, const Matmul& size, WeightFormat format, double rate = 0);

// One grouped kernel with a product of this size for every expert that has tokens.
OpTime grouped_matmul_time(const GpuSpeed& gpu, double groups, const Matmul& each, WeightFormat format,
                           double rate = 0);

struct PrefillAttention {
  double batch = 1, sequence = 0, heads = 0, kv_heads = 0, head_dim = 0;
  bool causal = true;
};
OpTime prefill_attention_time(const GpuSpeed& gpu, const PrefillAttention& attention);

struct DecodeAttention {
  double batch = 1, context = 0, heads = 0, kv_heads = 0, head_dim = 0;
  double kv_bytes = 2;      // per cache element
  double fp8_factor = 0;    // overrides the GPU's fp8_kv; 0 keeps it
  double latent_width = 0;  // elements per token and layer of a latent cache; 0: 2 x kv_heads x head_dim
};
OpTime decode_attention_time(const GpuSpeed& gpu, const DecodeAttention& attention);

// Elementwise kernels: `traffic` at a share of the bandwidth.
inline Seconds traffic_time(const GpuSpeed& gpu, Bytes traffic, double share) {
  return traffic / (gpu.bandwidth * share);
}

}  // namespace rightsize::perf
