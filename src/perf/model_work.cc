#include "perf/model_work.h"

#include <algorithm>
#include <string_view>

namespace rightsize::perf {
namespace {

using model::ModelKind;
using model::ModelShape;
using model::Weight;
using model::WeightRole;

void read_sizes(const ModelShape& shape, ModelWork& work) {
  work.layers = shape.layers;
  work.encoder_layers = shape.encoder_layers;
  work.hidden = static_cast<double>(shape.hidden);
  work.heads = shape.heads;
  work.kv_heads = shape.kv_heads;
  work.head_dim = shape.head_dim;
  work.intermediate = static_cast<double>(shape.intermediate);
  work.vocabulary = static_cast<double>(shape.vocabulary);
  work.encoder_context = static_cast<double>(shape.encoder_context);
  work.parameters = static_cast<double>(shape.parameters());
  work.active_parameters = static_cast<double>(shape.active_parameters());
  work.labels = shape.labels;
  work.window = static_cast<double>(shape.sliding_window);
  work.full_every = shape.full_attention_every;
}

void read_style(const ModelShape& shape, ModelWork& work) {
  work.decoder = shape.kind == ModelKind::kDecoder;
  work.encoder_decoder = shape.kind == ModelKind::kEncoderDecoder;
  work.rms_norm = shape.norm == model::Norm::kRms;
  work.gemma_norm = shape.family.starts_with("gemma");
  work.norms = shape.norms_per_layer;
  work.rotary_share = shape.positions == model::Positions::kRotary && shape.head_dim > 0
                          ? static_cast<double>(shape.rotary_dim) / shape.head_dim
                          : 0;
  work.gated = shape.gated_mlp;
  work.fused_qkv = shape.fused_qkv;
  work.fused_gate_up = shape.fused_gate_up;
  work.parallel_block = shape.parallel_block;
  work.tied = shape.tied_embeddings;
  work.qk_norm = shape.qk_norm;
  work.dropout = shape.dropout > 0;
  work.logit_softcap = shape.logit_softcap > 0;
  if (shape.activation == model::Activation::kGeluNew) work.activation = ActivationKind::kGeluNew;
  if (shape.family == "bloom") work.activation = ActivationKind::kBloomGelu;
}

// Which attention transformers runs: ALiBi in MPT and BLOOM is added to explicit scores; Falcon with a single key head
// and T5, whose bias is fp32, fall back to fp32 products.
AttentionKind attention_of(const ModelShape& shape) {
  const std::string_view family = shape.family;
  if (family == "mpt" || family == "bloom") return AttentionKind::kEager;
  if (family == "t5" || family == "mt5" || family == "umt5") return AttentionKind::kFp32Math;
  if (family == "falcon") {
    if (shape.kv_heads == 1) return AttentionKind::kFp32Math;
    return shape.positions == model::Positions::kAlibi ? AttentionKind::kMasked : AttentionKind::kFlash;
  }
  return AttentionKind::kFlash;
}

OutputHead head_of(const ModelShape& shape) {
  if (shape.labels > 0) return OutputHead::kClassifier;
  if (shape.kind == ModelKind::kDecoder || shape.kind == ModelKind::kEncoderDecoder) return OutputHead::kLanguageModel;
  for (const Weight& weight : shape.weights) {
    if (weight.role == WeightRole::kHead) return OutputHead::kMaskedModel;
  }
  return OutputHead::kNone;
}

void read_weights(const ModelShape& shape, ModelWork& work) {
  for (const Weight& weight : shape.weights) {
    if (weight.role == WeightRole::kMlp && weight.has_bias) work.bias = true;
    if (!weight.linear || weight.stacked || weight.role == WeightRole::kHead) continue;
    const double width = static_cast<double>((weight.rows + weight.cols) * weight.copies);
    (weight.role == WeightRole::kAttention ? work.lora_width_attention : work.lora_width_other) += width;
  }
}

void read_mixture(const ModelShape& shape, ModelWork& work) {
  if (shape.experts) {
    work.experts = shape.experts->count;
    work.experts_per_token = shape.experts->per_token;
    work.expert_intermediate = static_cast<double>(shape.experts->intermediate);
    work.shared_intermediate = static_cast<double>(shape.experts->shared_intermediate);
    work.dense_layers = shape.experts->dense_layers;
  }
  if (shape.latent) {
    work.q_rank = static_cast<double>(shape.latent->q_rank);
    work.kv_rank = static_cast<double>(shape.latent->kv_rank);
    work.nope_dim = shape.latent->nope_dim;
    work.rope_dim = shape.latent->rope_dim;
    work.value_dim = shape.latent->value_dim;
  }
}

}  // namespace

ModelWork work_of(const ModelShape& shape) {
  ModelWork work;
  read_sizes(shape, work);
  read_style(shape, work);
  read_weights(shape, work);
  read_mixture(shape, work);
  work.attention = attention_of(shape);
  work.head = head_of(shape);
  work.image = shape.kind == ModelKind::kVisionTransformer || shape.kind == ModelKind::kConvNet ||
               shape.kind == ModelKind::kDiffusionUNet;
  if (work.image) work.images = image_ops(shape);
  return work;
}

double model_flops(const ModelWork& work, double tokens, double sequence, bool frozen) {
  const double passes = frozen ? 2.0 : 3.0;
  const double layers = work.layers + work.encoder_layers;
  const double scores = 4.0 * layers * work.heads * work.head_dim * sequence;
  return passes * tokens * (2.0 * work.active_parameters + scores);
}

}  // namespace rightsize::perf
