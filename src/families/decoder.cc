#include "families/decoder.h"

#include <algorithm>
#include <map>
#include <utility>

#include <fmt/format.h>

namespace rightsize::model {
namespace {

const FieldNames kHiddenSize = "hidden_size";
const FieldNames kHeads = "num_attention_heads";
const FieldNames kKvHeads = "num_key_value_heads";

// The share of a head that is rotated stands beside the other fields, or inside rope_parameters since transformers 5.
double rotary_fraction(const Config& config, double fallback) {
  if (config.json().has("partial_rotary_factor")) return config.number("partial_rotary_factor", fallback, 0.0, 1.0);
  const JsonMember* rope = config.json().find({"rope_parameters", "rope_scaling"});
  if (!rope || rope->value.type != JsonType::kObject) return fallback;
  return config.section({"rope_parameters", "rope_scaling"}).number("partial_rotary_factor", fallback, 0.0, 1.0);
}

}  // namespace

void check_groups(const Config& config, ModelShape& shape, const FieldNames& heads, const FieldNames& kv_heads) {
  if (shape.heads % shape.kv_heads == 0 || config.json().is_wrong(heads)) return;
  config.json().fail_at(kv_heads, fmt::format("'{}' ({}) must be a multiple of '{}' ({}): each group of heads shares "
                                              "one key and value",
                                              heads.first(), shape.heads, kv_heads.first(), shape.kv_heads));
}

void read_decoder_sizes(const Config& config, const DecoderStyle& style, ModelShape& shape) {
  shape.kind = ModelKind::kDecoder;
  shape.layers = config.layers("num_hidden_layers");
  shape.hidden = config.hidden(kHiddenSize);
  shape.heads = config.count(kHeads, style.heads, 1, kMostHeads);
  // A family's own default stands for its default number of heads; with another number of heads it may not divide it.
  int kv_default = style.kv_heads == 0 || shape.heads % style.kv_heads != 0 ? shape.heads : style.kv_heads;
  shape.kv_heads = config.count(kKvHeads, kv_default, 1, kMostHeads);
  shape.head_dim = config.count("head_dim", style.head_dim, 1, kWidestHead);
  if (shape.head_dim == 0) {
    shape.head_dim = config.divide(shape.hidden, kHiddenSize, shape.heads, kHeads, " when 'head_dim' is absent");
  }
  check_groups(config, shape, kHeads, kKvHeads);
  shape.intermediate = config.size("intermediate_size", style.intermediate, kWidestMlp);
  shape.vocabulary = config.size("vocab_size", style.vocabulary, kLargestVocabulary);
  shape.context = config.size("max_position_embeddings", style.context, kLongestContext);
  shape.tied_embeddings = config.flag("tie_word_embeddings", style.tied);
  shape.activation = config.activation(style.activation_names, style.activation);
  shape.attention_dropout = config.dropout("attention_dropout", 0.0);
  shape.gated_mlp = style.gated;
  shape.fused_qkv = style.fused_qkv;
  shape.positions = Positions::kRotary;
  shape.rotary_dim = static_cast<int>(shape.head_dim * rotary_fraction(config, style.rotary_fraction));
}

Experts read_experts(const Config& config, const FieldNames& names, int count, int per_token) {
  Experts experts;
  experts.count = config.count(names, count, 1, kMostExperts);
  experts.per_token = config.count({"num_experts_per_tok", "experts_per_token"}, per_token, 1, kMostExperts);
  if (experts.per_token > experts.count && !config.json().is_wrong(names)) {
    config.json().fail_at("num_experts_per_tok", fmt::format("'num_experts_per_tok' ({}) must not exceed '{}' ({})",
                                                             experts.per_token, names.first(), experts.count));
    experts.per_token = experts.count;
  }
  return experts;
}

DecoderHead declare_decoder_head(const Config& config, Inventory& inventory, ModelShape& shape, std::int64_t width,
                                 bool bias) {
  DecoderHead head;
  switch (config.head(Head::kCausalLm)) {
    case Head::kBase:
      return head;
    case Head::kSequenceClassification:
    case Head::kTokenClassification:
      shape.labels = config.labels();
      head.weight = inventory.linear("score", WeightRole::kHead, shape.labels, width,
                                     config.head(Head::kCausalLm) == Head::kTokenClassification);
      head.language = false;
      return head;
    case Head::kQuestionAnswering:
      shape.labels = 2;
      head.weight = inventory.linear("qa_outputs", WeightRole::kHead, 2, width, true);
      head.language = false;
      return head;
    default:
      break;
  }
  if (!shape.tied_embeddings) {
    head.weight = inventory.logits("lm_head", shape.vocabulary, width, bias);
  } else if (bias) {
    head.bias = inventory.logits_bias("lm_head.bias", shape.vocabulary);
  }
  return head;
}

Value decoder_loss(Tracer& f, const ModelShape& shape, const DecoderHead& head, WeightRef table, Value given,
                   bool scaled_logits) {
  Value x = f.gather_rows(std::move(given));
  if (!head.language) {
    f.head();
    Value logits = f.linear(head.weight, std::move(x));
    Value pooled = f.index(std::move(logits), kSamples.times(shape.labels));
    return f.class_loss(f.cast(std::move(pooled), Width::kSingle), kSamples);
  }
  return f.language_loss(std::move(x), {head.weight ? head.weight : table, head.bias, true, scaled_logits});
}

AttentionOp attention_of(const ModelShape& shape) {
  AttentionOp attention;
  attention.heads = shape.heads;
  attention.kv_heads = shape.kv_heads;
  attention.head_dim = attention.value_dim = shape.head_dim;
  attention.dropout = shape.attention_dropout;
  return attention;
}

AttentionOp alibi_attention(const ModelShape& shape, std::int32_t program) {
  AttentionOp how = attention_of(shape);
  how.kernel = AttentionOp::Kernel::kWritten;
  how.alibi = true;
  how.written = program;
  return how;
}

Decoder::Decoder(const Config& config, DecoderStyle style, ModelShape& shape)
    : config_(config), style_(std::move(style)), shape_(shape), inventory_(shape.weights), f_(shape) {
  if (style_.rotary_parts == RotaryParts::kWhole && shape.rotary_dim > 0 && shape.rotary_dim < shape.head_dim) {
    style_.rotary_parts = RotaryParts::kJoinLate;
  }
}

// ---------------------------------------------------------------- weights

void Decoder::declare_attention(Layer& layer) {
  const WeightRole role = WeightRole::kAttention;
  const std::int64_t q = std::int64_t{shape_.heads} * shape_.head_dim;
  const std::int64_t kv = std::int64_t{shape_.kv_heads} * shape_.head_dim;
  if (style_.attention_sinks) layer.first = inventory_.vector("self_attn.sinks", WeightRole::kOther, shape_.heads);
  if (style_.fused_qkv) {
    layer.qkv = inventory_.linear("self_attn.qkv_proj", role, q + 2 * kv, shape_.hidden, style_.qkv_bias);
  } else {
    layer.q = inventory_.linear("self_attn.q_proj", role, q, shape_.hidden, style_.qkv_bias);
    layer.k = inventory_.keys("self_attn.k_proj", kv, shape_.hidden, style_.qkv_bias, shape_.head_dim);
    layer.v = inventory_.keys("self_attn.v_proj", kv, shape_.hidden, style_.qkv_bias, shape_.head_dim);
  }
  if (!layer.first) layer.first = layer.qkv ? layer.qkv : layer.q;
  layer.o = inventory_.output(style_.output_name, role, shape_.hidden, q, style_.output_bias);
  if (style_.qk_norm == QkNorm::kNone) return;
  const bool shared = style_.qk_norm == QkNorm::kPerHead || style_.qk_norm == QkNorm::kPerHeadAfter;
  layer.q_norm = inventory_.norm(style_.q_norm_name, shared ? shape_.head_dim : q, style_.norm_bias && shared);
  layer.k_norm = inventory_.norm(style_.k_norm_name, shared ? shape_.head_dim : kv, style_.norm_bias && shared);
}

Decoder::Mlp Decoder::declare_mlp(const std::string& prefix, std::int64_t intermediate) {
  const WeightRole role = WeightRole::kMlp;
  Mlp mlp;
  if (style_.fused_gate_up) {
    mlp.gate_up = inventory_.linear(prefix + ".gate_up_proj", role, 2 * intermediate, shape_.hidden, style_.mlp_bias);
  } else {
    if (style_.gated)
      mlp.gate = inventory_.linear(prefix + ".gate_proj", role, intermediate, shape_.hidden, style_.mlp_bias);
    mlp.up = inventory_.linear(prefix + "." + style_.up_name, role, intermediate, shape_.hidden, style_.mlp_bias);
  }
  mlp.down = inventory_.output(prefix + "." + style_.down_name, role, shape_.hidden, intermediate, style_.mlp_bias);
  return mlp;
}

// Experts are stacked as transformers 5 keeps them: gate and up in one tensor.
void Decoder::declare_experts(Layer& layer) {
  const Experts& experts = *shape_.experts;
  auto router = [&] {
    layer.router = inventory_.router(style_.router_name, experts.count, shape_.hidden, style_.router_bias);
  };
  if (!style_.router_last) router();
  layer.experts_in = inventory_.experts("mlp.experts.gate_up_proj", experts.count, 2 * experts.intermediate,
                                        shape_.hidden, style_.expert_bias, Split::kColumns, 2);
  layer.experts_out = inventory_.experts("mlp.experts.down_proj", experts.count, shape_.hidden, experts.intermediate,
                                         style_.expert_bias, Split::kRows);
  for (std::size_t i = shape_.weights.size() - 2; i < shape_.weights.size(); ++i) {
    shape_.weights[i].spared = !style_.adapted_experts;
  }
  if (style_.router_last) router();
  if (experts.shared == 0) return;
  layer.shared = declare_mlp(style_.shared_name, experts.shared_intermediate);
  if (style_.shared_switch) {
    layer.shared_switch = inventory_.linear("mlp.shared_expert_gate", WeightRole::kRouter, 1, shape_.hidden, false);
  }
}

Decoder::Layer Decoder::declare_layer(const Run& run) {
  Layer layer;
  layer.mixer = run.mixer;
  inventory_.begin_block(run.layers);
  declare_attention(layer);
  if (run.experts) {
    declare_experts(layer);
  } else {
    layer.mlp = declare_mlp("mlp", shape_.intermediate);
  }
  std::vector<WeightRef> declared(style_.layer_norms.size());
  for (std::size_t i = 0; style_.norm_weight && i < declared.size(); ++i) {
    declared[i] = inventory_.norm(style_.layer_norms[i], shape_.hidden, style_.norm_bias);
  }
  for (std::size_t i = 0; i < declared.size(); ++i) layer.norms.push_back(declared[style_.norm_order[i]]);
  inventory_.end_block();
  return layer;
}

// ---------------------------------------------------------------- the forward pass

std::vector<Decoder::Run> Decoder::runs_of(const std::vector<Run>& each_layer) {
  std::vector<Run> runs;
  for (const Run& layer : each_layer) {
    if (runs.empty() || runs.back().experts != layer.experts || runs.back().mixer != layer.mixer) {
      runs.push_back({0, layer.experts, layer.mixer});
    }
    ++runs.back().layers;
  }
  return runs;
}

std::int64_t Decoder::window_of(std::int64_t layer) const {
  const int every = shape_.full_attention_every;
  return every > 0 && (layer + 1) % every == 0 ? 0 : shape_.sliding_window;
}

void Decoder::write(const std::vector<Run>& runs) {
  const WeightRef table =
      inventory_.embedding("embed_tokens", WeightRole::kTokenEmbedding, shape_.vocabulary, shape_.hidden);
  std::vector<Layer> kinds;
  for (const Run& run : runs) kinds.push_back(declare_layer(run));
  WeightRef final_norm;
  if (style_.norm_weight) final_norm = inventory_.norm(style_.final_norm, shape_.hidden, style_.norm_bias);
  const DecoderHead head = declare_decoder_head(config_, inventory_, shape_, shape_.hidden, style_.head_bias);

  Value x = body(table, final_norm, runs, kinds);
  x = f_.last_stage(std::move(x), [&](Value last) {
    return decoder_loss(f_, shape_, head, table, std::move(last), style_.scaled_logits);
  });
  f_.forward().exact = style_.exact;
  f_.forward().logit_softcap = shape_.logit_softcap;
  shape_.forward = std::make_shared<const Forward>(f_.finish(std::move(x)));
}

Value Decoder::body(WeightRef table, WeightRef final_norm, const std::vector<Run>& runs,
                    const std::vector<Layer>& kinds) {
  Value embedded = f_.first_stage([&] {
    Value e = f_.embedding(kResidual, table, shape_.hidden);
    if (style_.scaled_embedding) e = f_.scale(std::move(e));
    f_.want_gradient(e);
    return e;
  });
  Value positions = f_.make(kPositions, Width::kLong);
  f_.probe_mask(kTokens);
  rotary_ = f_.rotary_tables(shape_.rotary_dim, embedded);
  Value x = f_.layers(write_layers(runs, kinds), embedded);
  x = f_.last_stage(std::move(x), [&](Value last) { return norm(final_norm, std::move(last), kResidual); });
  f_.release_shared();
  return x;
}

// One program for each kind of layer and window.
std::int32_t Decoder::write_layers(const std::vector<Run>& runs, const std::vector<Layer>& kinds) {
  const std::int32_t stack = f_.add_stack();
  std::int64_t number = 0;
  for (std::size_t i = 0; i < runs.size(); ++i) {
    std::map<std::int64_t, std::int32_t> by_window;
    std::vector<std::int32_t> programs;
    for (std::int64_t r = 0; r < runs[i].layers; ++r, ++number) {
      const std::int64_t window = window_of(number);
      auto [found, is_new] = by_window.try_emplace(window, std::int32_t{0});
      if (is_new) {
        found->second = f_.program({kResidual.times(shape_.hidden)},
                                   [&](std::span<Value> in) { return block(in[0], kinds[i], window); });
      }
      programs.push_back(found->second);
    }
    f_.add_layers(stack, kinds[i].first, std::move(programs));
  }
  return stack;
}

Value Decoder::norm(WeightRef weight, Value x, const Size& rows) {
  return f_.norm(weight || !style_.norm_weight ? style_.norm : NormKind::kLayer, weight, std::move(x), rows);
}

Value Decoder::block(Value x, const Layer& layer, std::int64_t window) {
  switch (style_.order) {
    case BlockOrder::kPostNorm:
      return post_norm_block(std::move(x), layer, window);
    case BlockOrder::kParallel:
      return parallel_block(std::move(x), layer, window);
    default:
      return pre_norm_block(std::move(x), layer, window);
  }
}

Value Decoder::pre_norm_block(Value given, const Layer& layer, std::int64_t window) {
  Value x = std::move(given);
  const bool four = layer.norms.size() == 4;
  Value residual = x;
  x = norm(layer.norms[0], std::move(x), kResidual);
  x = attention(x, layer, window);
  if (four) x = norm(layer.norms[1], std::move(x), kResidual);
  x = f_.dropout(std::move(x), shape_.dropout);
  x = f_.add(residual, std::move(x));
  residual = x;
  x = norm(layer.norms[four ? 2 : 1], std::move(x), kResidual);
  x = feed_forward(x, layer);
  if (four) x = norm(layer.norms[3], std::move(x), kResidual);
  x = f_.dropout(std::move(x), shape_.dropout);
  return f_.add(residual, std::move(x));
}

Value Decoder::post_norm_block(Value given, const Layer& layer, std::int64_t window) {
  Value x = std::move(given);
  Value residual = x;
  x = attention(x, layer, window);
  x = norm(layer.norms[0], std::move(x), kResidual);
  x = f_.add(residual, std::move(x));
  residual = x;
  x = feed_forward(x, layer);
  x = norm(layer.norms[1], std::move(x), kResidual);
  return f_.add(residual, std::move(x));
}

Value Decoder::parallel_block(Value given, const Layer& layer, std::int64_t window) {
  Value x = std::move(given);
  Value residual = x;
  x = norm(layer.norms[0], std::move(x), kResidual);
  Value attended = attention(x, layer, window);
  attended = f_.dropout(std::move(attended), shape_.dropout);
  Value fed = feed_forward(x, layer);
  fed = f_.dropout(std::move(fed), shape_.dropout);
  if (style_.residual_first) {
    Value both = f_.add(residual, attended);
    return f_.add(std::move(both), fed);
  }
  Value both = f_.add(attended, fed);
  return f_.add(std::move(both), residual);
}

// ---------------------------------------------------------------- attention

Value Decoder::attention(Value given, const Layer& layer, std::int64_t window) {
  Value x = f_.gather_rows(std::move(given));
  AttentionOp how = attention_of(shape_);
  how.sinks = style_.attention_sinks;
  how.window = window;
  Value q, k, v;
  if (layer.qkv) {
    Value qkv = f_.linear(layer.qkv, x);
    const Size wide = kTokens.split_into(shape_.heads, shape_.head_dim);
    const Size narrow = kTokens.split_into(shape_.kv_heads, shape_.head_dim);
    q = f_.slice(qkv, wide);
    k = f_.slice(qkv, narrow);
    v = f_.slice(qkv, narrow);
    q = f_.split_heads(std::move(q));
    k = f_.split_heads(std::move(k));
    v = f_.split_heads(std::move(v));
    rotate_both(q, k);
    return f_.scatter_rows(f_.linear(layer.o, f_.attention(q, k, v, how)));
  }
  project(x, layer, q, k, v);
  rotate_both(q, k);
  Value out = f_.attention(q, k, v, how);
  return f_.scatter_rows(f_.linear(layer.o, out));
}

// q, k and v, heads first, with the norms some families put on q and k before or after that.
void Decoder::project(const Value& x, const Layer& layer, Value& q, Value& k, Value& v) {
  const Size q_rows = kTokens.split_into(shape_.heads, 1), k_rows = kTokens.split_into(shape_.kv_heads, 1);
  q = f_.linear(layer.q, x);
  if (style_.qk_norm == QkNorm::kFullWidth) {
    q = norm(layer.q_norm, std::move(q), kTokens);
    k = norm(layer.k_norm, f_.linear(layer.k, x), kTokens);
    v = f_.linear(layer.v, x);
    q = f_.split_heads(std::move(q));
    k = f_.split_heads(std::move(k));
    v = f_.split_heads(std::move(v));
    return;
  }
  const bool before = style_.qk_norm == QkNorm::kPerHead || style_.qk_norm == QkNorm::kEachHead;
  if (before) q = norm(layer.q_norm, std::move(q), q_rows);
  q = f_.split_heads(std::move(q));
  k = f_.linear(layer.k, x);
  if (before) k = norm(layer.k_norm, std::move(k), k_rows);
  k = f_.split_heads(std::move(k));
  v = f_.split_heads(f_.linear(layer.v, x));
  if (style_.qk_norm != QkNorm::kPerHeadAfter) return;
  q = norm(layer.q_norm, std::move(q), q_rows);
  k = norm(layer.k_norm, std::move(k), k_rows);
}

Value Decoder::turn(Value given) {
  Value x = std::move(given);
  if (!style_.wide_rotation) return f_.rotate(std::move(x), rotary_);
  x = f_.cast(std::move(x), Width::kSingle);
  return f_.cast(f_.rotate(std::move(x), rotary_), Width::kProduct);
}

void Decoder::rotate_both(Value& q, Value& k) {
  if (style_.rotary_parts == RotaryParts::kWhole) {
    Value new_q = turn(q), new_k = turn(k);
    q = std::move(new_q);
    k = std::move(new_k);
    return;
  }
  auto parts = [&](const Value& x, std::int64_t heads) {
    Value turning = f_.slice(x, kTokens.split_into(heads, shape_.rotary_dim));
    Value passing = f_.slice(x, kTokens.split_into(heads, shape_.head_dim - shape_.rotary_dim));
    return std::pair(std::move(turning), std::move(passing));
  };
  auto [q_turning, q_passing] = parts(q, shape_.heads);
  auto [k_turning, k_passing] = parts(k, shape_.kv_heads);
  Value new_q, new_k;
  if (style_.rotary_parts == RotaryParts::kJoinEach) {
    new_q = f_.cat(f_.rotate(q_turning, rotary_), q_passing);
    new_k = f_.cat(f_.rotate(k_turning, rotary_), k_passing);
  } else {
    new_q = f_.rotate(q_turning, rotary_);
    new_k = f_.rotate(k_turning, rotary_);
    new_q = f_.cat(std::move(new_q), q_passing);
    new_k = f_.cat(std::move(new_k), k_passing);
  }
  q = std::move(new_q);
  k = std::move(new_k);
}

// ---------------------------------------------------------------- MLP and experts

Value Decoder::feed_forward(Value given, const Layer& layer) {
  Value x = f_.gather_rows(std::move(given));
  if (layer.experts_in) return f_.scatter_rows(mixture(std::move(x), layer));
  return f_.scatter_rows(mlp(std::move(x), layer.mlp));
}

Value Decoder::mlp(Value given, const Mlp& weights) {
  Value x = std::move(given);
  if (weights.gate_up) {
    Value both = f_.linear(weights.gate_up, x);
    auto [gate, up] = f_.halves(std::move(both));
    Value activated = f_.activate(gate, shape_.activation, true);
    up = f_.gate(std::move(activated), std::move(up), true);
    return f_.linear(weights.down, up);
  }
  if (weights.gate) {
    Value gated = f_.linear(weights.gate, x);
    gated = f_.activate(std::move(gated), shape_.activation, true);
    Value upper = f_.linear(weights.up, x);
    Value product = f_.gate(std::move(gated), std::move(upper));
    return f_.linear(weights.down, std::move(product));
  }
  x = f_.linear(weights.up, std::move(x));
  x = f_.activate(std::move(x), shape_.activation);
  return f_.linear(weights.down, std::move(x));
}

Value Decoder::mixture(Value given, const Layer& layer) {
  Value x = std::move(given);
  const Experts& experts = *shape_.experts;
  ExpertsOp how;
  how.count = experts.count;
  how.per_token = experts.per_token;
  how.hidden = shape_.hidden;
  how.intermediate = experts.intermediate;
  how.router = layer.router;
  how.in = layer.experts_in;
  how.out = layer.experts_out;
  how.activation = shape_.activation;
  how.narrow_weights = style_.narrow_routing_weights;
  how.clamped = style_.expert_bias;
  Value y = f_.experts(x, how);
  if (layer.shared.down) {
    Value shared = mlp(x, layer.shared);
    if (layer.shared_switch) {
      Value share = f_.activate(f_.linear(layer.shared_switch, x), Activation::kSigmoid);
      shared = f_.multiply(std::move(share), std::move(shared));
    }
    y = f_.add(std::move(y), std::move(shared));
  }
  return y;
}

}  // namespace rightsize::model
