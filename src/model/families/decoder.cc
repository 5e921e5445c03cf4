#include "model/families/decoder.h"

#include <algorithm>

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
  shape.fused_gate_up = style.fused_gate_up;
  shape.qk_norm = style.qk_norm != QkNorm::kNone;
  shape.norm = style.norm;
  shape.norms_per_layer = static_cast<int>(style.layer_norms.size());
  shape.positions = Positions::kRotary;
  shape.rotary_dim = static_cast<int>(shape.head_dim * rotary_fraction(config, style.rotary_fraction));
}

void add_attention(Inventory& inventory, const ModelShape& shape, const DecoderStyle& style) {
  const WeightRole role = WeightRole::kAttention;
  const std::int64_t q = std::int64_t{shape.heads} * shape.head_dim;
  const std::int64_t kv = std::int64_t{shape.kv_heads} * shape.head_dim;
  if (style.attention_sinks) inventory.vector("self_attn.sinks", WeightRole::kOther, shape.heads);
  if (style.fused_qkv) {
    inventory.linear("self_attn.qkv_proj", role, q + 2 * kv, shape.hidden, style.qkv_bias);
  } else {
    inventory.linear("self_attn.q_proj", role, q, shape.hidden, style.qkv_bias);
    inventory.linear("self_attn.k_proj", role, kv, shape.hidden, style.qkv_bias);
    inventory.linear("self_attn.v_proj", role, kv, shape.hidden, style.qkv_bias);
  }
  inventory.linear("self_attn.o_proj", role, shape.hidden, q, style.output_bias);
  if (style.qk_norm == QkNorm::kNone) return;
  const bool shared = style.qk_norm == QkNorm::kPerHead;
  inventory.norm("self_attn.q_norm", shared ? shape.head_dim : q, false);
  inventory.norm("self_attn.k_norm", shared ? shape.head_dim : kv, false);
}

void add_mlp(Inventory& inventory, const ModelShape& shape, const DecoderStyle& style, const std::string& prefix,
             std::int64_t intermediate) {
  const WeightRole role = WeightRole::kMlp;
  if (style.fused_gate_up) {
    inventory.linear(prefix + ".gate_up_proj", role, 2 * intermediate, shape.hidden, style.mlp_bias);
  } else {
    if (style.gated) inventory.linear(prefix + ".gate_proj", role, intermediate, shape.hidden, style.mlp_bias);
    inventory.linear(prefix + ".up_proj", role, intermediate, shape.hidden, style.mlp_bias);
  }
  inventory.linear(prefix + ".down_proj", role, shape.hidden, intermediate, style.mlp_bias);
}

void add_layer_norms(Inventory& inventory, const ModelShape& shape, const DecoderStyle& style) {
  if (!style.norm_weight) return;
  for (const std::string& name : style.layer_norms) inventory.norm(name, shape.hidden, style.norm_bias);
}

void add_decoder_head(const Config& config, Inventory& inventory, ModelShape& shape, bool bias) {
  switch (config.head(Head::kCausalLm)) {
    case Head::kBase:
      return;
    case Head::kSequenceClassification:
      shape.labels = config.labels();
      inventory.linear("score", WeightRole::kHead, shape.labels, shape.hidden, false);
      return;
    case Head::kTokenClassification:
      shape.labels = config.labels();
      inventory.linear("score", WeightRole::kHead, shape.labels, shape.hidden, true);
      return;
    case Head::kQuestionAnswering:
      shape.labels = 2;
      inventory.linear("qa_outputs", WeightRole::kHead, 2, shape.hidden, true);
      return;
    default:
      break;
  }
  if (!shape.tied_embeddings) {
    inventory.linear("lm_head", WeightRole::kHead, shape.vocabulary, shape.hidden, bias);
  } else if (bias) {
    inventory.vector("lm_head.bias", WeightRole::kHead, shape.vocabulary);
  }
}

void add_decoder(const Config& config, const DecoderStyle& style, ModelShape& shape,
                 const std::function<void(Inventory&)>& add_layers) {
  Inventory inventory(shape.weights);
  inventory.embedding("embed_tokens", WeightRole::kTokenEmbedding, shape.vocabulary, shape.hidden);
  add_layers(inventory);
  if (style.norm_weight) inventory.norm("norm", shape.hidden, style.norm_bias);
  add_decoder_head(config, inventory, shape);
}

void add_dense_decoder(const Config& config, const DecoderStyle& style, ModelShape& shape) {
  add_decoder(config, style, shape, [&](Inventory& inventory) {
    inventory.begin_block(shape.layers);
    add_attention(inventory, shape, style);
    add_mlp(inventory, shape, style, "mlp", shape.intermediate);
    add_layer_norms(inventory, shape, style);
    inventory.end_block();
  });
}

}  // namespace rightsize::model
