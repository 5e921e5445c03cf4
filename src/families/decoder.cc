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

// The rotated share of a head is a field of the configuration or, since transformers 5, of rope_parameters.
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
  // The family's default belongs to its default number of heads and need not divide another number.
  int kv_default = style.kv_heads == 0 || shape.heads % style.kv_heads != 0 ? shape.heads : style.kv_heads;
  shape.kv_heads = config.count(kKvHeads, kv_default, 1, kMostHeads);
  shape.head_dim = config.count("head_dim", style.head_dim, 1, kWidestHead);
  if (shape.head_dim == 0)
    shape.head_dim = config.divide(shape.hidden, kHiddenSize, shape.heads, kHeads, " when 'head_dim' is absent");
  check_groups(config, shape, kHeads, kKvHeads);
  shape.intermediate = config.size("intermediate_size", style.intermediate, kWidestMlp);
  shape.vocabulary = config.size("vocab_size", style.vocabulary, kLargestVocabulary);
  shape.context = config.size("max_position_embeddings", style.context, kLongestContext);
  shape.tied_embeddings = config.flag("tie_word_embeddings", style.tied);
  shape.activation = config.activation(style.activation_names, style.activation);
  shape.attention_dropout = config.dropout("attention_dropout", 0.0);
  if (!style.dropout.empty()) shape.dropout = config.dropout(style.dropout, 0.0);
  if (style.window) shape.sliding_window = config.size("sliding_window", *style.window, kLongestContext);
  shape.gated_mlp = style.gated;
  shape.fused_qkv = style.fused_qkv;
  shape.parallel_block = style.order == BlockOrder::kParallel;
  shape.positions = Positions::kRotary;
  shape.rotary_dim = static_cast<int>(shape.head_dim * rotary_fraction(config, style.rotary_fraction));
  if (style.experts.count > 0) read_experts(config, style.experts, shape);
}

void read_decoder(const Config& config, ModelShape& shape, const DecoderStyle& style) {
  read_decoder_sizes(config, style, shape);
  Decoder(config, style, shape).write();
}

void read_experts(const Config& config, const ExpertFields& fields, ModelShape& shape) {
  Experts& experts = shape.experts.emplace();
  experts.count = config.count(fields.names, fields.count, 1, kMostExperts);
  experts.per_token = config.count({"num_experts_per_tok", "experts_per_token"}, fields.per_token, 1, kMostExperts);
  if (experts.per_token > experts.count && !config.json().is_wrong(fields.names)) {
    config.json().fail_at("num_experts_per_tok", fmt::format("'num_experts_per_tok' ({}) must not exceed '{}' ({})",
                                                             experts.per_token, fields.names.first(), experts.count));
    experts.per_token = experts.count;
  }
  experts.intermediate = shape.intermediate;
  if (fields.intermediate > 0)
    experts.intermediate = config.size("moe_intermediate_size", fields.intermediate, kWidestMlp);
  if (fields.shared_intermediate == 0) return;
  experts.shared = 1;
  experts.shared_intermediate = config.size({"shared_expert_intermediate_size", "moe_shared_expert_intermediate_size"},
                                            fields.shared_intermediate, kWidestMlp);
}

void read_routed_experts(const Config& config, ExpertFields fields, int shared, int dense_layers, ModelShape& shape) {
  fields.names = {"n_routed_experts", "num_local_experts"};
  read_experts(config, fields, shape);
  Experts& experts = *shape.experts;
  experts.shared = config.count("n_shared_experts", shared, 0, kMostExperts);
  experts.shared_intermediate = experts.shared * experts.intermediate;
  experts.dense_layers = std::min(shape.layers, config.count("first_k_dense_replace", dense_layers, 0));
}

Decoder::Decoder(const Config& config, DecoderStyle style, ModelShape& shape)
    : FamilyWriter(config, shape), style_(std::move(style)) {
  if (style_.rotary_parts == RotaryParts::kWhole && shape.rotary_dim > 0 && shape.rotary_dim < shape.head_dim)
    style_.rotary_parts = RotaryParts::kJoinLate;
  if (style_.attention_bias)
    style_.qkv_bias = style_.output_bias = config.flag("attention_bias", *style_.attention_bias);
}

// ---------------------------------------------------------------- weights

void Decoder::declare_attention(Layer& layer) {
  const bool fused = style_.fused_qkv, bias = style_.qkv_bias;
  if (style_.attention_sinks) layer.first = inventory_.vector("self_attn.sinks", WeightRole::kOther, shape_.heads);
  declare(layer, {{&Layer::qkv, fused ? "self_attn.qkv_proj" : "", bias},
                  {&Layer::q, fused ? "" : "self_attn.q_proj", bias},
                  {&Layer::k, fused ? "" : "self_attn.k_proj", bias},
                  {&Layer::v, fused ? "" : "self_attn.v_proj", bias},
                  {&Layer::o, style_.output_name, style_.output_bias}});
  if (style_.qk_norm == QkNorm::kNone) return;
  const bool shared = style_.qk_norm == QkNorm::kPerHead || style_.qk_norm == QkNorm::kPerHeadAfter;
  if (shared) {
    layer.q_norm = inventory_.norm(style_.q_norm_name, shape_.head_dim, style_.norm_bias);
    layer.k_norm = inventory_.norm(style_.k_norm_name, shape_.head_dim, style_.norm_bias);
  } else {
    declare(layer, {{&Layer::q_norm, style_.q_norm_name, false}, {&Layer::k_norm, style_.k_norm_name, false}});
  }
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
  for (WeightRef weight : {layer.experts_in, layer.experts_out}) {
    if (weight) shape_.weights[static_cast<std::size_t>(weight.index)].spared = !style_.adapted_experts;
  }
  if (style_.router_last) router();
  if (experts.shared == 0) return;
  layer.shared = declare_mlp(style_.shared_name, experts.shared_intermediate);
  if (style_.shared_switch)
    layer.shared_switch = inventory_.linear("mlp.shared_expert_gate", WeightRole::kRouter, 1, shape_.hidden, false);
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
  for (std::size_t i = 0; style_.norm_weight && i < declared.size(); ++i)
    declared[i] = inventory_.norm(style_.layer_norms[i], shape_.hidden, style_.norm_bias);
  for (std::size_t i = 0; i < declared.size(); ++i) layer.norms.push_back(declared[style_.norm_order[i]]);
  inventory_.end_block();
  return layer;
}

// ---------------------------------------------------------------- the forward pass

std::vector<Decoder::Run> Decoder::runs_of(const std::vector<Run>& each_layer) {
  std::vector<Run> runs;
  for (const Run& layer : each_layer) {
    if (runs.empty() || runs.back().experts != layer.experts || runs.back().mixer != layer.mixer)
      runs.push_back({0, layer.experts, layer.mixer});
    ++runs.back().layers;
  }
  return runs;
}

std::int64_t Decoder::window_of(std::int64_t layer) const {
  const int every = shape_.full_attention_every;
  return every > 0 && (layer + 1) % every == 0 ? 0 : shape_.sliding_window;
}

void Decoder::write() {
  const std::int64_t dense = shape_.experts ? shape_.experts->dense_layers : shape_.layers;
  std::vector<Run> runs;
  if (dense > 0) runs.push_back({dense, false});
  if (dense < shape_.layers) runs.push_back({shape_.layers - dense, true});
  write(runs);
}

void Decoder::write(const std::vector<Run>& runs) {
  const WeightRef table = tokens("embed_tokens");
  std::vector<Layer> kinds;
  for (const Run& run : runs) kinds.push_back(declare_layer(run));
  WeightRef final_norm;
  if (style_.norm_weight) final_norm = inventory_.norm(style_.final_norm, shape_.hidden, style_.norm_bias);
  const DecoderHead head = declare_head(shape_.hidden, style_.head_bias);
  Value x = body(table, final_norm, runs, kinds);
  f_.forward().exact = style_.exact;
  f_.forward().logit_softcap = shape_.logit_softcap;
  finish_decoder(std::move(x), head, table, style_.scaled_logits);
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

// One program per kind of layer and window.
std::int32_t Decoder::write_layers(const std::vector<Run>& runs, const std::vector<Layer>& kinds) {
  const std::int32_t stack = f_.add_stack();
  std::int64_t number = 0;
  for (std::size_t i = 0; i < runs.size(); ++i) {
    std::map<std::int64_t, std::int32_t> by_window;
    std::vector<std::int32_t> programs;
    for (std::int64_t r = 0; r < runs[i].layers; ++r, ++number) {
      const std::int64_t window = window_of(number);
      auto [found, is_new] = by_window.try_emplace(window, std::int32_t{0});
      if (is_new)
        found->second = f_.program({kResidual.times(shape_.hidden)},
                                   [&](std::span<Value> in) { return block(in[0], kinds[i], window); });
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
  AttentionOp how = attention_op();
  how.sinks = style_.attention_sinks;
  how.window = window;
  Value q, k, v;
  if (layer.qkv) {
    Value qkv = f_.linear(layer.qkv, x);
    q = f_.slice(qkv, q_size());
    k = f_.slice(qkv, kv_size());
    v = f_.slice(qkv, kv_size());
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

// q, k and v with heads first. Some families norm q and k before heads are moved, some after.
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
  rotate_parts(q, k, rotary_, style_.rotary_parts == RotaryParts::kJoinEach);
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
