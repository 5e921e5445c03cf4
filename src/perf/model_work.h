// What speed needs of a model: the sizes of its layers and how the framework computes them, without text.
//
// Made once a model; every estimate reads it. Counts are doubles because formulas divide them among GPUs.
#pragma once

#include <vector>

#include "model/model_shape.h"
#include "perf/stacks/image_ops.h"

namespace rightsize::perf {

// How eager PyTorch computes attention scores.
enum class AttentionKind {
  kFlash,     // one fused kernel
  kMasked,    // fused, with an additive mask (ALiBi): no causal saving
  kEager,     // 16-bit products and a chain of kernels over the scores (MPT, BLOOM)
  kFp32Math,  // the same in fp32 (Falcon with one key head, T5)
};

enum class ActivationKind { kFused, kGeluNew, kBloomGelu };

enum class OutputHead { kNone, kLanguageModel, kMaskedModel, kClassifier };

struct ModelWork {
  bool decoder = true;  // attends to the past only and keeps a cache
  bool encoder_decoder = false;
  bool image = false;  // computed from `images`
  double layers = 0, encoder_layers = 0;
  double hidden = 0, heads = 0, kv_heads = 0, head_dim = 0, intermediate = 0, vocabulary = 0;
  double encoder_context = 0;  // tokens of the encoder where they are not those of the decoder; 0: the same
  double parameters = 0, active_parameters = 0;
  double lora_width_attention = 0, lora_width_other = 0;  // adapters have rank times this many elements

  bool rms_norm = true, gemma_norm = false;
  double norms = 2;
  double rotary_share = 0;
  bool gated = false, fused_qkv = false, fused_gate_up = false, parallel_block = false, tied = false;
  bool qk_norm = false, bias = false, dropout = false, logit_softcap = false;
  ActivationKind activation = ActivationKind::kFused;
  AttentionKind attention = AttentionKind::kFlash;
  double window = 0, full_every = 0;
  OutputHead head = OutputHead::kLanguageModel;
  double labels = 0;

  double experts = 0, experts_per_token = 0, expert_intermediate = 0, shared_intermediate = 0, dense_layers = 0;

  // Latent attention; kv_rank 0 where there is none.
  double q_rank = 0, kv_rank = 0, nope_dim = 0, rope_dim = 0, value_dim = 0;

  ImageOps images;

  double latent_width() const { return kv_rank > 0 ? kv_rank + rope_dim : 0; }
  double expert_layers() const { return experts > 0 ? layers - dense_layers : 0; }
  // Elements a token of one layer puts into the cache.
  double kv_width() const { return kv_rank > 0 ? kv_rank + rope_dim : 2 * kv_heads * head_dim; }
};

ModelWork work_of(const model::ModelShape& shape);

// Training FLOPs of one pass over `tokens` of sequences of `sequence`, as model FLOPs utilisation counts them: 6 a
// parameter and token, less 2 where the weights are frozen, and attention scores (Chowdhery et al. 2022, appendix B).
double model_flops(const ModelWork& work, double tokens, double sequence, bool frozen);

}  // namespace rightsize::perf
