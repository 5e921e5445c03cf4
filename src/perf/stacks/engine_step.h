// GPU work of one engine step: prefill of prompts packed into a pass, or one token for every running request.
#pragma once

#include "perf/kernels/collectives.h"
#include "perf/kernels/roofline.h"
#include "perf/model_work.h"
#include "perf/stacks/stacks.h"

namespace rightsize::perf {

// How one copy of the model is distributed and stored.
struct EngineLayout {
  int tensor = 1;     // GPUs per copy
  int attention = 1;  // attention groups, each with its own requests
  int expert = 1;     // expert groups
  WeightFormat format = WeightFormat::kHalf, experts = WeightFormat::kHalf;
  double kv_bytes = 2;
  double fp8_factor = 0;  // overrides the GPU's factor
  double evenness = 0;    // evenness of expert popularity; 0: uniform

  int attention_tensor() const { return tensor / attention; }
};

struct EngineWork {
  OpTime matmul;   // everything except experts
  OpTime experts;  // routed experts
  OpTime attention;
  Seconds all_reduce, elementwise;  // all_reduce: all communication within the copy
};

// All layers and the logits of one step over `batch` requests of `queries` tokens each (more than one with speculative
// decoding) at `context` cached tokens.
EngineWork decode_work(const ModelWork& work, const GpuSpeed& gpu, const Cluster& cluster, const EngineLayout& layout,
                       double batch, double context, double queries = 1);

// `prompts` of `tokens` each in one pass, after `cached` tokens from the prefix cache; logits of the last tokens only.
EngineWork prefill_work(const ModelWork& work, const GpuSpeed& gpu, const Cluster& cluster, const EngineLayout& layout,
                        double prompts, double tokens, double cached);

// Bytes that the fused elementwise kernels move per element of a row of hidden states and of an MLP's inner width.
// Decode: two norms that add the residual (8 each), rotation and quantization around attention (8), and the gate (6).
// Prefill also writes the cache and gathers rows.
struct ElementwiseBytes {
  double hidden, inner;
};
inline constexpr ElementwiseBytes kDecodeElementwise{24, 6}, kPrefillElementwise{32, 8};
// The share of the memory bandwidth that norms, rotations and activations reach.
inline constexpr double kElementwiseShare = 0.7;

// The matrix products of one layer over `rows` tokens, including experts.
OpTime layer_products(const ModelWork& work, const LayerWork& layer, const GpuSpeed& gpu, const EngineLayout& layout,
                      double rows);

// Attention of one layer: one token for each of `batch` sequences, or prompts of `tokens`.
OpTime decode_attention(const GpuSpeed& gpu, const EngineLayout& layout, const model::AttentionOp& how, double batch,
                        double context);
OpTime prefill_attention(const GpuSpeed& gpu, const EngineLayout& layout, const model::AttentionOp& how, double batch,
                         double tokens);

}  // namespace rightsize::perf
