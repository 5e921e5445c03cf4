// The GPU work of a serving engine's step: prefill of prompts packed into one pass, or one token for every running
// request.
#pragma once

#include "perf/kernels/collectives.h"
#include "perf/kernels/roofline.h"
#include "perf/model_work.h"
#include "perf/stacks/stacks.h"

namespace rightsize::perf {

// How one copy of the model is spread and stored.
struct EngineLayout {
  int tensor = 1;     // GPUs of the copy
  int attention = 1;  // groups its attention is split into, each with its own requests
  int expert = 1;     // groups its experts are split into
  WeightFormat format = WeightFormat::kHalf, experts = WeightFormat::kHalf;
  double kv_bytes = 2;
  double fp8_factor = 0;  // overrides the GPU's
  double evenness = 0;    // of the experts' popularity; 0: all alike

  int attention_tensor() const { return tensor / attention; }
};

struct EngineWork {
  OpTime matmul;   // all but experts
  OpTime experts;  // routed ones
  OpTime attention;
  Seconds all_reduce, elementwise;  // all_reduce: every exchange among the GPUs of the copy
};

// All layers and the logits of one step over `batch` requests of `queries` tokens each (more than one where tokens are
// guessed ahead) at `context` cached tokens.
EngineWork decode_work(const ModelWork& work, const GpuSpeed& gpu, const Cluster& cluster, const EngineLayout& layout,
                       double batch, double context, double queries = 1);

// `prompts` of `tokens` each in one pass, behind `cached` tokens found in the prefix cache; logits of last tokens only.
EngineWork prefill_work(const ModelWork& work, const GpuSpeed& gpu, const Cluster& cluster, const EngineLayout& layout,
                        double prompts, double tokens, double cached);

// The share of experts that `tokens` tokens reach. Popularity follows a gamma distribution of shape `evenness`, so that
// an expert is missed with probability (1 + x / evenness)^-evenness for a mean of x visits (a negative binomial);
// evenness 0 means all alike, (1 - k/E)^tokens.
double experts_reached(double count, double per_token, double tokens, double evenness);

// The products of one layer over `rows` tokens, experts among them.
OpTime layer_products(const ModelWork& work, const LayerWork& layer, const GpuSpeed& gpu, const EngineLayout& layout,
                      double rows);

// The attention of one layer: one token for each of `batch` sequences, or prompts of `tokens`.
OpTime decode_attention(const GpuSpeed& gpu, const EngineLayout& layout, const model::AttentionOp& how, double batch,
                        double context);
OpTime prefill_attention(const GpuSpeed& gpu, const EngineLayout& layout, const model::AttentionOp& how, double batch,
                         double tokens);

}  // namespace rightsize::perf
