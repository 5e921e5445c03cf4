// The cost of one layer in eager PyTorch: every primitive adds its kernels, their bytes and the host calls.
//
// Bytes are the traffic of each kernel of transformers 5 with torch 2.x, taken from the source of its modules.
// Bandwidth and time per call are fitted (data/stacks.csv, hf).
#pragma once

#include "perf/kernels/gpu_speed.h"
#include "perf/kernels/roofline.h"
#include "perf/kernels/scan.h"
#include "perf/stacks/stacks.h"

namespace rightsize::perf {

// Sums over one layer (or the head), per direction; times are GPU time of kernels that are not limited by bandwidth.
struct EagerCost {
  struct Direction {
    Bytes traffic;
    double kernels = 0;
    double casts = 0;  // autocast's casts, which are cheaper calls
    Seconds matmul, attention, lora;
  };
  Direction forward, backward;
  double views = 0;     // host calls without a kernel
  double routes = 0;    // layers of experts
  double adapters = 0;  // linear layers with a peft adapter
};

// How a pass runs.
struct EagerMode {
  bool amp = false;                                             // fp32 weights and residual stream under autocast
  bool full32 = false;                                          // everything fp32
  bool gradients = true;                                        // compute gradients of activations
  bool weights = true;                                          // and of weights; false with LoRA and in inference
  double lora_attention = 0, lora_other = 0, lora_experts = 0;  // ranks
  bool quantized = false;                                       // QLoRA: nf4 weights are expanded before every product
  bool captured = false;  // in a CUDA graph: the mask cannot be skipped, attention is unfused
  bool compiled = false;  // torch.compile: chains of elementwise operations become one kernel
  model::Attention attention = model::Attention::kSdpa;  // used if a fused kernel is possible

  double residual_bytes() const { return amp ? 4 : 2; }
  double traffic_factor() const { return full32 ? 2 : 1; }  // bytes are counted for 16-bit elements
};

struct EagerAttention {
  double batch = 0, sequence = 0, keys = 0, heads = 0, kv_heads = 0, head_dim = 0, value_dim = 0;
  bool causal = true, masked = false, sinks = false;

  double scores() const { return batch * heads * sequence * keys; }
};

// Adds primitives to a cost. Sizes are in elements; `e` is bytes per element.
class EagerOps {
 public:
  EagerOps(const GpuSpeed& gpu, const EagerConstants& constants, const EagerMode& mode, EagerCost& cost)
      : gpu_(gpu), c_(constants), mode_(mode), cost_(cost) {}

  // `n` elements, with bytes and kernels per direction.
  void pass(double n, double forward_bytes, double backward_bytes, double forward_kernels = 1,
            double backward_kernels = 1);
  void cast(double n, double from, double to);
  void accumulate(double n, double e);  // sums the gradients of an activation with two readers
  void multiply(double n, double e) { pass(n, 3 * e, 6 * e, 1, 2); }
  void rms_norm(double n, double e, bool gemma);
  void layer_norm(double n, double e);
  // nn.Linear over `rows`; `e`: bytes per input element; `rank`: of its adapter, 0 for none.
  void linear(double rows, double inputs, double outputs, bool bias, double e, double rank);
  // Product of two activations.
  void batched_product(double multiplies);
  void rotary(double n, double cos_bytes);
  void flash_attention(const EagerAttention& a);
  void eager_attention(const EagerAttention& a);  // 16-bit products, unfused scores
  void math_attention(const EagerAttention& a);   // fp32 products, unfused scores
  void scan(const model::ScanOp& how, double tokens);
  void views(double n) { cost_.views += n; }
  void backward_bytes(double n, double kernels);
  void expert_mlp(double tokens, const model::ExpertsOp& how);

 private:
  void adapter(double rows, double inputs, double outputs);
  double rate_for(double outputs) const;
  OpTime product(double m, double n, double k, double rate) const;
  double linear_rate() const { return c_.matmul_rate * gpu_.rate_scale * (mode_.compiled ? c_.compiled_rate : 1.0); }

  const GpuSpeed& gpu_;
  const EagerConstants& c_;
  const EagerMode& mode_;
  EagerCost& cost_;
};

}  // namespace rightsize::perf
