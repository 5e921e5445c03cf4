#include "memory/tape/families/llama_like.h"

#include <algorithm>
#include <utility>

namespace rightsize::memory::tape {

LlamaLike::Style LlamaLike::style_of_family() const {
  const std::string& family = shape_.family;
  Style style;
  const bool gemma = family.starts_with("gemma");
  if (gemma) {
    style.norm = NormStyle::kGemma;
    style.scaled_embedding = true;
  } else if (family == "olmo2") {
    style.norm = NormStyle::kOlmo;
    style.block = Block::kPostNorm;
  } else if (family.starts_with("cohere")) {
    style.norm = NormStyle::kCohere;
    style.wide_rotation = style.scaled_logits = true;
  } else if (shape_.norm == model::Norm::kLayer) {
    style.norm = NormStyle::kLayer;
  }
  if (shape_.parallel_block) style.block = Block::kParallel;
  if (family == "phi3") {
    style.rotary = RotaryStyle::kConcatenate;
  } else if (shape_.rotary_dim > 0 && shape_.rotary_dim < shape_.head_dim) {
    style.rotary = RotaryStyle::kConcatenateLate;
  }
  if (shape_.qk_norm) {
    style.qk_norm = gemma                        ? QkNorm::kPerHeadTransposed
                    : family.starts_with("olmo") ? QkNorm::kFullWidth
                                                 : QkNorm::kPerHead;
  }
  style.narrow_router = family != "mixtral";
  return style;
}

LlamaLike::LayerWeights LlamaLike::layer_weights(const Layer& layer) const {
  auto first_of = [&](std::initializer_list<const char*> names) {
    for (const char* name : names) {
      if (Linear found = weights_.linear(layer, name)) return found;
    }
    return Linear{};
  };
  LayerWeights w;
  w.q = first_of({"self_attn.q_proj"});
  w.k = first_of({"self_attn.k_proj"});
  w.v = first_of({"self_attn.v_proj"});
  w.qkv = first_of({"self_attn.qkv_proj"});
  w.o = first_of({"self_attn.o_proj", "self_attn.dense"});
  w.gate = first_of({"mlp.gate_proj"});
  w.up = first_of({"mlp.up_proj", "mlp.fc1"});
  w.gate_up = first_of({"mlp.gate_up_proj"});
  w.down = first_of({"mlp.down_proj", "mlp.fc2"});
  w.q_norm = weights_.norm(layer, "self_attn.q_norm");
  w.k_norm = weights_.norm(layer, "self_attn.k_norm");
  w.router = first_of({"mlp.gate", "mlp.router"});
  w.experts_in = first_of({"mlp.experts.gate_up_proj"});
  w.experts_out = first_of({"mlp.experts.down_proj"});
  w.shared_gate = first_of({"mlp.shared_expert.gate_proj", "mlp.shared_experts.gate_proj"});
  w.shared_up = first_of({"mlp.shared_expert.up_proj", "mlp.shared_experts.up_proj"});
  w.shared_down = first_of({"mlp.shared_expert.down_proj", "mlp.shared_experts.down_proj"});
  w.shared_switch = first_of({"mlp.shared_expert_gate"});
  const bool four = shape_.norms_per_layer == 4;
  const char* const two_norms[] = {"input_layernorm", "post_attention_layernorm"};
  const char* const post_norms[] = {"post_attention_layernorm", "post_feedforward_layernorm"};
  const char* const gemma_norms[] = {"input_layernorm", "post_attention_layernorm", "pre_feedforward_layernorm",
                                     "post_feedforward_layernorm"};
  const char* const glm_norms[] = {"input_layernorm", "post_self_attn_layernorm", "post_attention_layernorm",
                                   "post_mlp_layernorm"};
  for (std::size_t i = 0; i < (four ? 4U : 2U); ++i) {
    const char* four_name = shape_.family.starts_with("glm") ? glm_norms[i] : gemma_norms[i];
    const char* name = four ? four_name : style_.block == Block::kPostNorm ? post_norms[i] : two_norms[i % 2];
    w.norms[i] = weights_.norm(layer, name);
  }
  const bool full = shape_.full_attention_every > 0 && (layer.index + 1) % shape_.full_attention_every == 0;
  w.window = full ? 0 : shape_.sliding_window;
  return w;
}

LlamaLike::LlamaLike(Recorder& recorder, const model::ModelShape& shape, const Plan& plan)
    : Model(recorder, shape, plan), style_(style_of_family()) {
  for (const Layer& layer : weights_.layers()) layers_.push_back(layer_weights(layer));
  embedding_ = weights_.linear("embed_tokens").weight;
  final_norm_ = weights_.norm("norm");
  if (final_norm_.weight < 0) final_norm_ = weights_.norm("final_layernorm");
}

// ---------------------------------------------------------------- forward

Tensor LlamaLike::forward() {
  Tensor x = body();
  return plan_.last_stage ? head(std::move(x)) : x;
}

Tensor LlamaLike::body() {
  const Count rows = plan_.residual_rows();
  recorder_.enter(Zone::kStart, -1);
  recorder_.set_part(Part::kActivations);
  Tensor embedded;
  if (plan_.first_stage) {
    embedded = embedding(rows, parameter(embedding_), shape_.hidden);
    if (style_.scaled_embedding) embedded = multiply_constant(std::move(embedded));
    start_gradient(embedded);
  } else {
    embedded = received();
  }
  Tensor positions = recorder_.make(plan_.tokens, kLong);
  probe_mask(recorder_, plan_.rows());
  rotary_ = rotary_tables(recorder_, plan_.tokens, shape_.rotary_dim, embedded.width);
  Tensor x = run_layers(embedded, 0, static_cast<int>(layers_.size()));
  if (plan_.last_stage) x = norm(std::move(x), final_norm_, rows);
  finish_layers();
  return x;
}

Tensor LlamaLike::head(Tensor given) {
  Tensor x = gather(std::move(given));
  if (shape_.labels > 0) {
    enter_head();
    Linear score = weights_.linear("score");
    if (!score) score = weights_.linear("qa_outputs");
    Tensor logits = apply(score, std::move(x));
    Tensor pooled = index(std::move(logits), plan_.batch * shape_.labels);
    return cross_entropy(cast(std::move(pooled), kSingle), plan_.batch, false);
  }
  const Linear own = weights_.linear("lm_head");
  const int bias = own ? own.bias : weights_.linear("lm_head.bias").weight;
  return head_loss(std::move(x), own ? own.weight : embedding_, bias, true, style_.scaled_logits);
}

Tensor LlamaLike::norm(Tensor x, const NormWeights& weights, Count rows) {
  if (shape_.family == "olmo") {  // without weights, in 32 bits
    const std::uint8_t width = x.width;
    return cast(norm_layer(weights, cast(std::move(x), kSingle), rows), width);
  }
  if (style_.norm == NormStyle::kLayer || weights.weight < 0) return norm_layer(weights, std::move(x), rows);
  Tensor weight = parameter(weights.weight);
  if (plan_.fused_kernels) return fused_rms_norm(std::move(x), std::move(weight), rows);
  switch (style_.norm) {
    case NormStyle::kGemma:
      return gemma_norm(std::move(x), std::move(weight), rows);
    case NormStyle::kOlmo:
      return olmo_norm(std::move(x), std::move(weight), rows);
    case NormStyle::kCohere:
      return cohere_norm(std::move(x), std::move(weight), rows);
    default:
      return rms_norm(std::move(x), std::move(weight), rows);
  }
}

// ---------------------------------------------------------------- blocks

Tensor LlamaLike::run_layer(int number, std::span<Tensor> inputs) {
  const LayerWeights& layer = layers_[static_cast<std::size_t>(number)];
  switch (style_.block) {
    case Block::kPostNorm:
      return post_norm_block(inputs[0], layer);
    case Block::kParallel:
      return parallel_block(inputs[0], layer);
    default:
      return sequential_block(inputs[0], layer);
  }
}

Tensor LlamaLike::sequential_block(Tensor given, const LayerWeights& layer) {
  Tensor x = std::move(given);
  const Count rows = plan_.residual_rows();
  const bool four = shape_.norms_per_layer == 4;
  Tensor residual = x;
  x = norm(std::move(x), layer.norms[0], rows);
  x = attention(x, layer);
  if (four) x = norm(std::move(x), layer.norms[1], rows);
  x = dropout(std::move(x), shape_.dropout);
  x = add(residual, std::move(x));
  residual = x;
  x = norm(std::move(x), layer.norms[four ? 2 : 1], rows);
  x = mlp(x, layer);
  if (four) x = norm(std::move(x), layer.norms[3], rows);
  x = dropout(std::move(x), shape_.dropout);
  return add(residual, std::move(x));
}

Tensor LlamaLike::post_norm_block(Tensor given, const LayerWeights& layer) {
  Tensor x = std::move(given);
  const Count rows = plan_.residual_rows();
  Tensor residual = x;
  x = attention(x, layer);
  x = norm(std::move(x), layer.norms[0], rows);
  x = add(residual, std::move(x));
  residual = x;
  x = mlp(x, layer);
  x = norm(std::move(x), layer.norms[1], rows);
  return add(residual, std::move(x));
}

Tensor LlamaLike::parallel_block(Tensor given, const LayerWeights& layer) {
  Tensor x = std::move(given);
  Tensor residual = x;
  x = norm(std::move(x), layer.norms[0], plan_.residual_rows());
  Tensor attended = attention(x, layer);
  attended = dropout(std::move(attended), shape_.dropout);
  Tensor fed = mlp(x, layer);
  fed = dropout(std::move(fed), shape_.dropout);
  if (style_.norm == NormStyle::kCohere) {
    Tensor both = add(residual, attended);
    return add(std::move(both), fed);
  }
  Tensor both = add(attended, fed);
  return add(std::move(both), residual);
}

// ---------------------------------------------------------------- attention

Tensor LlamaLike::attention(Tensor given, const LayerWeights& layer) {
  Tensor x = gather(std::move(given));
  const Count rows = plan_.rows();
  Tensor q, k, v;
  if (layer.qkv) {
    Tensor qkv = apply(layer.qkv, x);
    const Count wide = rows * heads() * shape_.head_dim, narrow = rows * kv_heads() * shape_.head_dim;
    q = slice(qkv, wide);
    k = slice(qkv, narrow);
    v = slice(qkv, narrow);
    q = split_heads(std::move(q));
    k = split_heads(std::move(k));
    v = split_heads(std::move(v));
    rotate_both(q, k);
    return scatter(apply(layer.o, windowed_attend(q, k, v, layer.window)));
  }
  project(x, layer, q, k, v);
  rotate_both(q, k);
  Tensor out = windowed_attend(q, k, v, layer.window);
  return scatter(apply(layer.o, out));
}

// q, k and v, heads first, with the norms some families put on q and k before or after that.
void LlamaLike::project(const Tensor& x, const LayerWeights& layer, Tensor& q, Tensor& k, Tensor& v) {
  const Count rows = plan_.rows(), q_rows = rows * heads(), k_rows = rows * kv_heads();
  q = apply(layer.q, x);
  if (style_.qk_norm == QkNorm::kFullWidth) {
    q = norm(std::move(q), layer.q_norm, rows);
    k = norm(apply(layer.k, x), layer.k_norm, rows);
    v = apply(layer.v, x);
    q = split_heads(std::move(q));
    k = split_heads(std::move(k));
    v = split_heads(std::move(v));
    return;
  }
  const bool before = style_.qk_norm == QkNorm::kPerHead;
  if (before) q = norm(std::move(q), layer.q_norm, q_rows);
  q = split_heads(std::move(q));
  k = apply(layer.k, x);
  if (before) k = norm(std::move(k), layer.k_norm, k_rows);
  k = split_heads(std::move(k));
  v = split_heads(apply(layer.v, x));
  if (style_.qk_norm != QkNorm::kPerHeadTransposed) return;
  q = norm(std::move(q), layer.q_norm, q_rows);
  k = norm(std::move(k), layer.k_norm, k_rows);
}

// A layer whose window the sequence reaches gets a mask: keys and values are repeated for all heads (a view when there
// is only one) and the mask is kept in the width of q.
Tensor LlamaLike::windowed_attend(Tensor given_q, Tensor given_k, Tensor given_v, Count window) {
  Tensor q = std::move(given_q), k = std::move(given_k), v = std::move(given_v);
  AttentionShape shape = attention_shape();
  if (window > 0 && plan_.all_tokens >= window && plan_.attention == model::Attention::kSdpa) {
    if (shape.kv_heads != shape.heads) {
      const Expand how = shape.kv_heads == 1 ? Expand::kNever : Expand::kAlways;
      k = expand_copy(std::move(k), q.elements, how);
      v = expand_copy(std::move(v), q.elements, how);
    }
    shape.kv_heads = shape.heads;
    shape.mask = plan_.batch * plan_.tokens * plan_.all_tokens;
  }
  return attend(q, k, v, shape);
}

Tensor LlamaLike::turn(Tensor given) {
  Tensor x = std::move(given);
  if (!style_.wide_rotation) return rotate(std::move(x), rotary_.cosine, rotary_.sine);
  const std::uint8_t width = x.width;
  x = cast(std::move(x), kSingle);
  return cast(rotate(std::move(x), rotary_.cosine, rotary_.sine), width);
}

void LlamaLike::rotate_both(Tensor& q, Tensor& k) {
  if (!rotary_.cosine) return;
  if (style_.rotary == RotaryStyle::kConcatenateLate) {
    const Count d = shape_.head_dim, turned = shape_.rotary_dim;
    auto parts = [&](const Tensor& x) {
      Tensor turning = slice(x, x.elements * turned / d);
      Tensor passing = slice(x, x.elements - x.elements * turned / d);
      return std::pair(std::move(turning), std::move(passing));
    };
    auto [q_turning, q_passing] = parts(q);
    auto [k_turning, k_passing] = parts(k);
    Tensor new_q = rotate(q_turning, rotary_.cosine, rotary_.sine);
    Tensor new_k = rotate(k_turning, rotary_.cosine, rotary_.sine);
    new_q = cat(std::move(new_q), q_passing);
    new_k = cat(std::move(new_k), k_passing);
    q = std::move(new_q);
    k = std::move(new_k);
    return;
  }
  Tensor new_q, new_k;
  if (style_.rotary == RotaryStyle::kConcatenate) {
    const Count d = shape_.head_dim, turned = shape_.rotary_dim;
    Tensor q_turning = slice(q, q.elements * turned / d), q_passing = slice(q, q.elements - q.elements * turned / d);
    Tensor k_turning = slice(k, k.elements * turned / d), k_passing = slice(k, k.elements - k.elements * turned / d);
    new_q = cat(rotate(q_turning, rotary_.cosine, rotary_.sine), q_passing);
    new_k = cat(rotate(k_turning, rotary_.cosine, rotary_.sine), k_passing);
  } else {
    new_q = turn(q);
    new_k = turn(k);
  }
  q = std::move(new_q);
  k = std::move(new_k);
}

// ---------------------------------------------------------------- MLP

Tensor LlamaLike::mlp(Tensor given, const LayerWeights& layer) {
  if (layer.experts_in) return mixture(std::move(given), layer);
  Tensor x = gather(std::move(given));
  if (layer.gate_up) {
    Tensor both = apply(layer.gate_up, x);
    auto [gate, up] = split2(std::move(both));
    if (plan_.fused_kernels) {
      up = fused_gate(gate, std::move(up));
    } else {
      Tensor activated = activate(gate);
      up = multiply(std::move(up), std::move(activated));
    }
    return scatter(apply(layer.down, up));
  }
  if (layer.gate) return scatter(dense_mlp(std::move(x), layer.gate, layer.up, layer.down));
  x = apply(layer.up, std::move(x));
  x = activate(std::move(x));
  return scatter(apply(layer.down, std::move(x)));
}

Tensor LlamaLike::dense_mlp(Tensor given, const Linear& gate, const Linear& up, const Linear& down) {
  Tensor x = std::move(given);
  Tensor gated = apply(gate, x);
  if (plan_.fused_kernels) {
    Tensor upper = apply(up, x);
    Tensor product = fused_gate(std::move(gated), std::move(upper));
    return apply(down, std::move(product));
  }
  gated = activate(std::move(gated));
  Tensor upper = apply(up, x);
  Tensor product = multiply(std::move(gated), std::move(upper));
  return apply(down, std::move(product));
}

ModelPtr make_llama_like(Recorder& recorder, const model::ModelShape& shape, const Plan& plan) {
  return std::make_unique<LlamaLike>(recorder, shape, plan);
}

}  // namespace rightsize::memory::tape
