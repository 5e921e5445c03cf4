// The GPU work of a serving engine's step: prefill of one prompt, or one token for every running request.
#pragma once

#include "perf/kernels/collectives.h"
#include "perf/kernels/roofline.h"
#include "perf/model_work.h"

namespace rightsize::perf {

// How the model is spread and stored.
struct EngineLayout {
  int tensor = 1;
  WeightFormat format = WeightFormat::kHalf;
  double kv_bytes = 2;
  double fp8_factor = 0;  // overrides the GPU's
};

struct EngineWork {
  OpTime matmul;
  OpTime attention;
  Seconds all_reduce, elementwise;
};

// All layers and the logits of one step over `batch` requests at `context` cached tokens each.
EngineWork decode_work(const ModelWork& work, const GpuSpeed& gpu, const Cluster& cluster, const EngineLayout& layout,
                       double batch, double context);

// One prompt of `tokens`; logits of its last token only.
EngineWork prefill_work(const ModelWork& work, const GpuSpeed& gpu, const Cluster& cluster, const EngineLayout& layout,
                        double tokens);

// The products of one layer over `rows` tokens, experts among them.
OpTime layer_products(const ModelWork& work, const LayerWork& layer, const GpuSpeed& gpu, const EngineLayout& layout,
                      double rows);

// The attention of one layer: one token for each of `batch` sequences, or prompts of `tokens`.
OpTime decode_attention(const GpuSpeed& gpu, const EngineLayout& layout, const model::AttentionOp& how, double batch,
                        double context);
OpTime prefill_attention(const GpuSpeed& gpu, const EngineLayout& layout, const model::AttentionOp& how, double batch,
                         double tokens);

}  // namespace rightsize::perf
