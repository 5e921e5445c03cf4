#include "perf/stacks/eager_layer.h"

#include <cmath>

namespace rightsize::perf {
namespace {

// One layer being put together. `e` is what norms put out: fp32 under autocast.
class LayerBuilder {
 public:
  LayerBuilder(const GpuSpeed& gpu, const EagerConstants& constants, const EagerMode& mode, const ModelWork& work,
               const EagerBatch& batch)
      : ops_(gpu, constants, mode, cost_),
        gpu_(gpu),
        constants_(constants),
        mode_(mode),
        work_(work),
        batch_(batch),
        t_(batch.tokens()),
        e_(mode.residual_bytes()) {}

  EagerCost build(LayerKind kind) {
    ops_.views(4);
    norms(kind);
    const bool cross = kind == LayerKind::kCrossDecoder;
    window_masks();
    self_attention(kind);
    if (cross) attention_block(AttentionKind::kFlash, false);
    if (work_.dropout && mode_.gradients) {
      ops_.pass(t_ * work_.hidden, 5, 5);
      ops_.pass(t_ * work_.hidden, 5, 5);
    }
    residuals(cross ? 3 : 2);
    if (kind == LayerKind::kExperts) {
      ops_.expert_mlp(t_, work_.experts, work_.experts_per_token, work_.expert_intermediate, work_.hidden);
      if (work_.shared_intermediate > 0) mlp(work_.shared_intermediate);
    } else {
      mlp(work_.intermediate);
    }
    return cost_;
  }

 private:
  void norm() {
    if (work_.rms_norm) {
      ops_.rms_norm(t_, work_.hidden, e_, work_.gemma_norm);
    } else {
      ops_.layer_norm(t_, work_.hidden, e_);
    }
  }

  void norms(LayerKind kind) {
    const double count = kind == LayerKind::kCrossDecoder ? work_.norms + 1 : work_.norms;
    for (int i = 0; i < static_cast<int>(count); ++i) norm();
  }

  void attention_linear(double inputs, double outputs, double e) {
    ops_.linear(t_, inputs, outputs, work_.bias, e, mode_.lora_attention);
  }

  void project_qkv() {
    const double q = work_.heads * work_.head_dim, kv = work_.kv_heads * work_.head_dim;
    if (work_.kv_rank > 0) return project_latent();
    if (work_.fused_qkv) {
      attention_linear(work_.hidden, q + 2 * kv, e_);
      ops_.backward_bytes(4 * t_ * (q + 2 * kv), 1 + (work_.fused_gate_up ? 2 : 0));
      ops_.views(3);
      return;
    }
    attention_linear(work_.hidden, q, e_);
    attention_linear(work_.hidden, kv, e_);
    attention_linear(work_.hidden, kv, e_);
    ops_.accumulate(t_ * work_.hidden, e_);
    ops_.accumulate(t_ * work_.hidden, e_);
    ops_.views(6);
  }

  // DeepSeek: queries and keys through low-rank factors with a norm between.
  void project_latent() {
    const double per_head = work_.nope_dim + work_.rope_dim;
    if (work_.q_rank > 0) {
      attention_linear(work_.hidden, work_.q_rank, e_);
      ops_.rms_norm(t_, work_.q_rank, 2, false);
      attention_linear(work_.q_rank, work_.heads * per_head, 2);
    } else {
      attention_linear(work_.hidden, work_.heads * per_head, e_);
    }
    attention_linear(work_.hidden, work_.kv_rank + work_.rope_dim, e_);
    ops_.rms_norm(t_, work_.kv_rank, 2, false);
    attention_linear(work_.kv_rank, work_.heads * (work_.nope_dim + work_.value_dim), 2);
    ops_.accumulate(t_ * work_.hidden, e_);
    ops_.pass(t_ * work_.heads * per_head * 2, 4, 4, 2, 2);
    ops_.views(12);
  }

  void positions() {
    if (work_.qk_norm) {
      ops_.rms_norm(t_ * work_.heads, work_.head_dim, 2, work_.gemma_norm);
      ops_.rms_norm(t_ * work_.kv_heads, work_.head_dim, 2, work_.gemma_norm);
    }
    if (!(work_.rotary_share > 0)) return;
    for (double heads : {work_.heads, work_.kv_heads}) {
      ops_.rotary(t_ * heads * work_.head_dim * work_.rotary_share, mode_.amp ? 4 : 2);
      if (work_.rotary_share < 1 || work_.fused_gate_up) ops_.pass(t_ * heads * work_.head_dim, 4, 4, 1, 3);
    }
  }

  EagerAttention attention(bool causal, bool masked) const {
    EagerAttention a;
    a.batch = batch_.batch;
    a.sequence = batch_.sequence;
    a.heads = work_.heads;
    a.kv_heads = work_.kv_rank > 0 ? work_.heads : work_.kv_heads;
    a.head_dim = work_.kv_rank > 0 ? work_.nope_dim + work_.rope_dim : work_.head_dim;
    a.causal = causal;
    a.masked = masked;
    return a;
  }

  void attention_block(AttentionKind kind, bool causal) {
    project_qkv();
    positions();
    switch (kind) {
      case AttentionKind::kFlash:
      case AttentionKind::kMasked:
        ops_.flash_attention(attention(causal, kind == AttentionKind::kMasked));
        break;
      case AttentionKind::kEager:
        ops_.eager_attention(attention(causal, false));
        break;
      case AttentionKind::kFp32Math:
        ops_.math_attention(attention(causal, false));
        break;
    }
    const double width = work_.kv_rank > 0 ? work_.heads * work_.value_dim : work_.heads * work_.head_dim;
    attention_linear(width, work_.hidden, 2);
  }

  void self_attention(LayerKind kind) {
    const bool pieces = mode_.eager_scores && work_.attention != AttentionKind::kFp32Math;
    attention_block(pieces ? AttentionKind::kEager : work_.attention, kind != LayerKind::kEncoder);
  }

  // Beyond the window the layers that have one get an additive mask: the average layer takes its share of the
  // difference between the two kernels.
  void window_masks() {
    if (mode_.eager_scores || work_.window <= 0 || batch_.sequence <= work_.window ||
        work_.attention != AttentionKind::kFlash)
      return;
    const double share = work_.full_every > 0 ? (work_.full_every - 1) / work_.full_every : 1;
    EagerCost plain, masked;
    EagerOps(gpu_, constants_, mode_, plain).flash_attention(attention(true, false));
    EagerOps(gpu_, constants_, mode_, masked).flash_attention(attention(true, true));
    cost_.forward.attention += (masked.forward.attention - plain.forward.attention) * share;
    cost_.backward.attention += (masked.backward.attention - plain.backward.attention) * share;
    cost_.forward.traffic += (masked.forward.traffic - plain.forward.traffic) * share;
    cost_.backward.traffic += (masked.backward.traffic - plain.backward.traffic) * share;
    ops_.pass(0, 0, 0, 2, 2);
  }

  void residuals(int count) {
    const double n = t_ * work_.hidden;
    for (int i = 0; i < count; ++i) {
      ops_.pass(n, 2 * e_ + 2, 0, 1, 0);
      ops_.accumulate(n, e_);
    }
    if (mode_.amp) ops_.backward_bytes(12 * n, 2);
    if (work_.parallel_block) ops_.accumulate(n, e_);
  }

  void activate(double f) {
    switch (work_.activation) {
      case ActivationKind::kFused:
        return ops_.pass(t_ * f, 4, 6, 1, 1);
      case ActivationKind::kGeluNew:
        return ops_.pass(t_ * f, 36, 62, 8, 13);
      case ActivationKind::kBloomGelu:
        return ops_.pass(t_ * f, 36, 60, 8, 12);
    }
  }

  void mlp_linear(double inputs, double outputs, double e) {
    ops_.linear(t_, inputs, outputs, work_.bias, e, mode_.lora_other);
  }

  void mlp(double f) {
    const double h = work_.hidden;
    if (work_.gated && work_.fused_gate_up) {
      mlp_linear(h, 2 * f, e_);
      ops_.backward_bytes(8 * t_ * f, 2);
    } else {
      mlp_linear(h, f, e_);
      if (work_.gated) {
        mlp_linear(h, f, e_);
        ops_.accumulate(t_ * h, e_);
      }
    }
    activate(f);
    if (work_.gated) ops_.multiply(t_ * f, 2);
    if (work_.encoder_decoder && work_.dropout) ops_.pass(t_ * f, 5, 5);
    mlp_linear(f, h, 2);
  }

  EagerCost cost_;
  EagerOps ops_;
  const GpuSpeed& gpu_;
  const EagerConstants& constants_;
  const EagerMode& mode_;
  const ModelWork& work_;
  const EagerBatch& batch_;
  double t_, e_;
};

}  // namespace

EagerCost eager_layer(const GpuSpeed& gpu, const EagerConstants& constants, const EagerMode& mode,
                      const ModelWork& work, LayerKind kind, const EagerBatch& batch) {
  return LayerBuilder(gpu, constants, mode, work, batch).build(kind);
}

EagerCost eager_head(const GpuSpeed& gpu, const EagerConstants& constants, const EagerMode& mode, const ModelWork& work,
                     const EagerBatch& batch) {
  EagerCost cost;
  EagerOps ops(gpu, constants, mode, cost);
  const double t = batch.tokens(), h = work.hidden, r = mode.residual_bytes();
  auto norm = [&](double e) { work.rms_norm ? ops.rms_norm(t, h, e, false) : (void)ops.layer_norm(t, h, e); };
  if (work.head != OutputHead::kLanguageModel && work.head != OutputHead::kMaskedModel) {
    ops.layer_norm(t, h, r);
    ops.pass(t * h, 8, 8, 6, 6);
    return cost;
  }
  const bool masked = work.head == OutputHead::kMaskedModel;
  norm(r);
  if (masked) {
    ops.linear(t, h, h, true, r, mode.lora_other);
    ops.pass(t * h, 4, 6);
    ops.layer_norm(t, h, 2);
  }
  ops.linear(t, h, work.vocabulary, false, r, 0);
  const double logits = t * work.vocabulary;
  if (work.logit_softcap) ops.pass(logits, 12, 16, 3, 4);
  const bool fp32_loss = !masked || mode.amp;
  if (fp32_loss) ops.cast(logits, 2, 4);
  const double e = fp32_loss ? 4 : 2;
  ops.pass(logits, 3 * e, 3 * e, 2, 2);
  ops.pass(t * h, 2 * r, 2 * r + 8, 6, 4);
  // The embedding's gradient is dense: zeroed, scattered into, and added to the head's where they are tied.
  if (mode.weights) ops.backward_bytes(work.vocabulary * h * r * (work.tied ? 4 : 1), 3);
  return cost;
}

Seconds device_time(const EagerCost::Direction& d, const GpuSpeed& gpu, const EagerConstants& constants,
                    double bandwidth_share) {
  return d.matmul + d.attention + d.lora + traffic_time(gpu, d.traffic, bandwidth_share) +
         constants.kernel_launch * (d.kernels + d.casts);
}

LayerCounts layers_of(const ModelWork& work) {
  if (work.encoder_decoder)
    return {{LayerKind::kEncoder, work.encoder_layers}, {LayerKind::kCrossDecoder, work.layers}};
  if (!work.decoder) return {{LayerKind::kEncoder, work.layers}, {}};
  return {{LayerKind::kDense, work.layers - work.expert_layers()}, {LayerKind::kExperts, work.expert_layers()}};
}

}  // namespace rightsize::perf
