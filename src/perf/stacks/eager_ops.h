// What eager PyTorch runs for one layer: every primitive adds its kernels, their bytes and the host's calls.
//
// Bytes are the traffic of each kernel of transformers 5 under torch 2.x, read off the modules' source; how fast that
// traffic moves and what a call costs are fitted (data/stacks.csv, hf).
#pragma once

#include "perf/kernels/gpu_speed.h"
#include "perf/kernels/roofline.h"
#include "perf/kernels/scan.h"
#include "perf/stacks/stacks.h"

namespace rightsize::perf {

// Sums over one layer (or the head). Directions apart; times are GPU seconds of kernels that are not plain traffic.
struct EagerCost {
  struct Direction {
    Bytes traffic;
    double kernels = 0;
    double casts = 0;  // autocast's conversions: cheaper calls
    Seconds matmul, attention, lora;
  };
  Direction forward, backward;
  double views = 0;     // host calls without a kernel
  double routes = 0;    // layers of experts
  double adapters = 0;  // linears with one of peft's beside them

  EagerCost& operator+=(const EagerCost& o);
};

// How the pass runs.
struct EagerMode {
  bool amp = false;                                             // fp32 weights and residual stream under autocast
  bool full32 = false;                                          // everything fp32
  bool gradients = true;                                        // of activations
  bool weights = true;                                          // of weights too; false under LoRA and in inference
  double lora_attention = 0, lora_other = 0, lora_experts = 0;  // ranks
  bool quantized = false;  // QLoRA: weights are expanded from nf4 before every product
  bool captured = false;   // in a CUDA graph, where a mask cannot be left out: attention in pieces
  bool compiled = false;   // torch.compile: chains of elementwise operations are one kernel
  model::Attention attention = model::Attention::kSdpa;  // where a fused kernel is possible

  double residual_bytes() const { return amp ? 4 : 2; }
  double traffic_factor() const { return full32 ? 2 : 1; }  // bytes are counted as in 16 bits
};

struct EagerAttention {
  double batch = 0, sequence = 0, keys = 0, heads = 0, kv_heads = 0, head_dim = 0, value_dim = 0;
  bool causal = true, masked = false, sinks = false;

  double scores() const { return batch * heads * sequence * keys; }
};

// Adds primitives to a cost. Sizes are elements; `e` are bytes of an element.
class EagerOps {
 public:
  EagerOps(const GpuSpeed& gpu, const EagerConstants& constants, const EagerMode& mode, EagerCost& cost)
      : gpu_(gpu), c_(constants), mode_(mode), cost_(cost) {}

  // `n` elements at so many bytes each way, in so many kernels each way.
  void pass(double n, double forward_bytes, double backward_bytes, double forward_kernels = 1,
            double backward_kernels = 1);
  void cast(double n, double from, double to);
  void accumulate(double n, double e);  // gradients that meet where an activation is used twice
  void multiply(double n, double e) { pass(n, 3 * e, 6 * e, 1, 2); }
  void rms_norm(double rows, double width, double e, bool gemma);
  // The bytes of an element it puts out.
  double layer_norm(double rows, double width, double e);
  // nn.Linear over `rows`; `e` bytes of the incoming activation. `rank` of its adapter, 0 for none.
  void linear(double rows, double inputs, double outputs, bool bias, double e, double rank);
  // Of two activations.
  void batched_product(double multiplies);
  void rotary(double n, double cos_bytes);
  void flash_attention(const EagerAttention& a);
  void eager_attention(const EagerAttention& a);  // 16-bit products, scores in pieces
  void math_attention(const EagerAttention& a);   // fp32 products, scores in pieces
  void scan(const model::ScanOp& how, double tokens);
  void views(double n) { cost_.views += n; }
  void backward_bytes(double n, double kernels);
  struct Experts {
    double count = 0, per_token = 0, intermediate = 0, hidden = 0;
    bool clamped = false;
  };
  void expert_mlp(double tokens, const Experts& how);

 private:
  void adapter(double rows, double inputs, double outputs, double rank);
  void pad(double rows, double inputs, double outputs);
  void expand_weights(double elements);
  double rate_for(double outputs) const;
  OpTime product(double m, double n, double k, double rate) const;
  double linear_rate() const { return c_.matmul_rate * gpu_.rate_scale * (mode_.compiled ? c_.compiled_rate : 1.0); }

  const GpuSpeed& gpu_;
  const EagerConstants& c_;
  const EagerMode& mode_;
  EagerCost& cost_;
};

}  // namespace rightsize::perf
