// The open decoders of 2022-23 with layouts of their own: OPT, MPT, BLOOM, Falcon.
#include "model/families/decoder.h"
#include "model/families/families.h"

namespace rightsize::model {
namespace {

struct OptLayout {
  std::int64_t embedding_width;
  bool bias, norm_affine, final_norm;
};

void add_opt_norm(Inventory& inventory, const char* name, const ModelShape& shape, const OptLayout& layout) {
  if (layout.norm_affine) inventory.norm(name, shape.hidden, true);
}

void add_opt_layers(Inventory& inventory, const ModelShape& shape, const OptLayout& layout) {
  inventory.begin_block(shape.layers);
  for (const char* name : {"self_attn.k_proj", "self_attn.v_proj", "self_attn.q_proj", "self_attn.out_proj"}) {
    inventory.linear(name, WeightRole::kAttention, shape.hidden, shape.hidden, layout.bias);
  }
  add_opt_norm(inventory, "self_attn_layer_norm", shape, layout);
  inventory.linear("fc1", WeightRole::kMlp, shape.intermediate, shape.hidden, layout.bias);
  inventory.linear("fc2", WeightRole::kMlp, shape.hidden, shape.intermediate, layout.bias);
  add_opt_norm(inventory, "final_layer_norm", shape, layout);
  inventory.end_block();
}

}  // namespace

void read_opt(const Config& config, ModelShape& shape) {
  shape.kind = ModelKind::kDecoder;
  shape.layers = config.layers("num_hidden_layers");
  shape.hidden = config.hidden("hidden_size");
  shape.heads = shape.kv_heads = config.count("num_attention_heads", 12, 1, kMostHeads);
  shape.head_dim = config.divide(shape.hidden, "hidden_size", shape.heads, "num_attention_heads");
  shape.intermediate = config.size("ffn_dim", 3'072, kWidestMlp);
  shape.vocabulary = config.size("vocab_size", 50'272, kLargestVocabulary);
  shape.context = config.size("max_position_embeddings", 2'048, kLongestContext);
  shape.activation = config.activation("activation_function", "relu");
  shape.dropout = config.dropout("dropout", 0.1);
  shape.attention_dropout = config.dropout("attention_dropout", 0.0);
  shape.norm = Norm::kLayer;
  shape.positions = Positions::kLearned;
  shape.tied_embeddings = config.flag("tie_word_embeddings", true);

  OptLayout layout{};
  layout.embedding_width = config.size("word_embed_proj_dim", shape.hidden);
  layout.bias = config.flag("enable_bias", true);
  layout.norm_affine = config.flag("layer_norm_elementwise_affine", true);
  layout.final_norm = config.flag("do_layer_norm_before", true) && !config.flag("_remove_final_layer_norm", false);

  Inventory inventory(shape.weights);
  const bool projected = layout.embedding_width != shape.hidden;  // OPT-350M embeds in 512 of its 1024
  inventory.embedding("embed_tokens", WeightRole::kTokenEmbedding, shape.vocabulary, layout.embedding_width);
  inventory.embedding("embed_positions", WeightRole::kPositionEmbedding, shape.context + 2, shape.hidden);
  if (projected) {
    inventory.linear("project_out", WeightRole::kOther, layout.embedding_width, shape.hidden, false);
    inventory.linear("project_in", WeightRole::kOther, shape.hidden, layout.embedding_width, false);
  }
  if (layout.final_norm) add_opt_norm(inventory, "final_layer_norm", shape, layout);
  add_opt_layers(inventory, shape, layout);
  // Heads read the projected width.
  ModelShape head = shape;
  head.hidden = layout.embedding_width;
  head.weights.clear();
  Inventory head_inventory(head.weights);
  add_decoder_head(config, head_inventory, head);
  shape.labels = head.labels;
  for (Weight& weight : head.weights) inventory.add(std::move(weight));
}

namespace {

struct MptLayout {
  bool bias, learned_positions, qk_norm;
};

// MPT exists twice: llm-foundry's MPTForCausalLM, with biases and learned positions unless turned off, and
// transformers' MptForCausalLM, which has neither and ignores the switches.
MptLayout read_mpt_layout(const Config& config, const Config& attention, ModelShape& shape) {
  const bool foundry = shape.architecture.starts_with("MPT");
  const bool alibi = attention.flag("alibi", !foundry);
  const bool rope = attention.flag("rope", false);
  const bool no_bias = config.flag("no_bias", !foundry);
  const bool learned = config.flag("learned_pos_emb", true);
  shape.positions = alibi || !foundry ? Positions::kAlibi : rope ? Positions::kRotary : Positions::kLearned;
  if (shape.positions == Positions::kLearned && !learned) shape.positions = Positions::kNone;
  if (shape.positions == Positions::kRotary) shape.rotary_dim = shape.head_dim;
  MptLayout layout{};
  layout.bias = foundry && !no_bias;
  layout.learned_positions = shape.positions == Positions::kLearned;
  layout.qk_norm = attention.flag("qk_ln", false) && foundry;
  return layout;
}

int read_mpt_kv_heads(const Config& attention, const ModelShape& shape) {
  std::string type = attention.json().get_string("attn_type").value_or("multihead_attention");
  if (type == "multiquery_attention") return 1;
  if (type == "grouped_query_attention") return attention.count("kv_n_heads", shape.heads, 1, kMostHeads);
  return shape.heads;
}

}  // namespace

void read_mpt(const Config& config, ModelShape& shape) {
  const FieldNames width = {"d_model", "hidden_size"};
  const FieldNames heads = {"n_heads", "num_attention_heads"};
  shape.kind = ModelKind::kDecoder;
  shape.layers = config.layers({"n_layers", "num_hidden_layers"});
  shape.hidden = config.hidden(width);
  shape.heads = config.count(heads, 16, 1, kMostHeads);
  shape.head_dim = config.divide(shape.hidden, width, shape.heads, heads);
  Config attention = config.section("attn_config");
  shape.kv_heads = read_mpt_kv_heads(attention, shape);
  check_groups(config, shape, heads, "kv_n_heads");
  shape.intermediate = static_cast<std::int64_t>(config.number("expansion_ratio", 4.0, 0.001, 1'000.0) *
                                                 static_cast<double>(shape.hidden));
  shape.vocabulary = config.size("vocab_size", 50'368, kLargestVocabulary);
  shape.context = config.size({"max_seq_len", "max_position_embeddings"}, 2'048, kLongestContext);
  shape.activation = Activation::kGelu;
  shape.dropout = config.dropout("resid_pdrop", 0.0);
  shape.attention_dropout = attention.dropout("attn_pdrop", 0.0);
  shape.norm = Norm::kLayer;
  shape.fused_qkv = true;
  shape.tied_embeddings = config.flag("tie_word_embeddings", true);
  MptLayout layout = read_mpt_layout(config, attention, shape);
  shape.qk_norm = layout.qk_norm;

  const std::int64_t kv = std::int64_t{shape.kv_heads} * shape.head_dim;
  Inventory inventory(shape.weights);
  inventory.embedding("wte", WeightRole::kTokenEmbedding, shape.vocabulary, shape.hidden);
  if (layout.learned_positions) {
    inventory.embedding("wpe", WeightRole::kPositionEmbedding, shape.context, shape.hidden);
  }
  inventory.begin_block(shape.layers);
  inventory.norm("norm_1", shape.hidden, layout.bias);
  inventory.linear("attn.Wqkv", WeightRole::kAttention, shape.hidden + 2 * kv, shape.hidden, layout.bias);
  if (layout.qk_norm) {
    inventory.norm("attn.q_ln", shape.hidden, layout.bias);
    inventory.norm("attn.k_ln", kv, layout.bias);
  }
  inventory.linear("attn.out_proj", WeightRole::kAttention, shape.hidden, shape.hidden, layout.bias);
  inventory.norm("norm_2", shape.hidden, layout.bias);
  inventory.linear("ffn.up_proj", WeightRole::kMlp, shape.intermediate, shape.hidden, layout.bias);
  inventory.linear("ffn.down_proj", WeightRole::kMlp, shape.hidden, shape.intermediate, layout.bias);
  inventory.end_block();
  inventory.norm("norm_f", shape.hidden, layout.bias);
  add_decoder_head(config, inventory, shape);
}

void read_bloom(const Config& config, ModelShape& shape) {
  const FieldNames width = {"hidden_size", "n_embed"};
  const FieldNames heads = {"n_head", "num_attention_heads"};
  shape.kind = ModelKind::kDecoder;
  shape.layers = config.layers({"n_layer", "num_hidden_layers"});
  shape.hidden = config.hidden(width);
  shape.heads = shape.kv_heads = config.count(heads, 8, 1, kMostHeads);
  shape.head_dim = config.divide(shape.hidden, width, shape.heads, heads);
  shape.intermediate = 4 * shape.hidden;
  shape.vocabulary = config.size("vocab_size", 250'880, kLargestVocabulary);
  shape.context = config.size("seq_length", 2'048, kLongestContext);
  shape.activation = Activation::kGeluTanh;
  shape.dropout = config.dropout("hidden_dropout", 0.0);
  shape.attention_dropout = config.dropout("attention_dropout", 0.0);
  shape.norm = Norm::kLayer;
  shape.positions = Positions::kAlibi;
  shape.fused_qkv = true;
  shape.tied_embeddings = config.flag("tie_word_embeddings", true);

  Inventory inventory(shape.weights);
  inventory.embedding("word_embeddings", WeightRole::kTokenEmbedding, shape.vocabulary, shape.hidden);
  inventory.norm("word_embeddings_layernorm", shape.hidden, true);
  inventory.begin_block(shape.layers);
  inventory.norm("input_layernorm", shape.hidden, true);
  inventory.linear("self_attention.query_key_value", WeightRole::kAttention, 3 * shape.hidden, shape.hidden, true);
  inventory.linear("self_attention.dense", WeightRole::kAttention, shape.hidden, shape.hidden, true);
  inventory.norm("post_attention_layernorm", shape.hidden, true);
  inventory.linear("mlp.dense_h_to_4h", WeightRole::kMlp, shape.intermediate, shape.hidden, true);
  inventory.linear("mlp.dense_4h_to_h", WeightRole::kMlp, shape.hidden, shape.intermediate, true);
  inventory.end_block();
  inventory.norm("ln_f", shape.hidden, true);
  add_decoder_head(config, inventory, shape);
}

namespace {

const FieldNames kFalconHeads = {"num_attention_heads", "n_head"};
const FieldNames kFalconKvHeads = {"num_kv_heads", "n_head_kv"};

// 40B and 180B share keys among groups; 7B has one key for all heads; the RW models have one for each.
int read_falcon_kv_heads(const Config& config, const ModelShape& shape, bool new_decoder, bool multi_query) {
  int given = config.count(kFalconKvHeads, shape.heads, 1, kMostHeads);
  if (new_decoder) return given;
  return multi_query ? 1 : shape.heads;
}

// Parallel blocks read one norm, or in the new decoder one each for attention and MLP.
std::vector<std::string> falcon_norms(const Config& config, bool new_decoder, bool parallel) {
  int norms = config.count("num_ln_in_parallel_attn", new_decoder ? 2 : 1, 1, 2);
  if (!parallel) return {"input_layernorm", "post_attention_layernorm"};
  if (norms == 2) return {"ln_attn", "ln_mlp"};
  return {"input_layernorm"};
}

}  // namespace

void read_falcon(const Config& config, ModelShape& shape) {
  const FieldNames width = {"hidden_size", "n_embed"};
  shape.kind = ModelKind::kDecoder;
  shape.layers = config.layers({"num_hidden_layers", "n_layer"});
  shape.hidden = config.hidden(width);
  shape.heads = config.count(kFalconHeads, 71, 1, kMostHeads);
  shape.head_dim = config.divide(shape.hidden, width, shape.heads, kFalconHeads);
  const bool new_decoder = config.flag("new_decoder_architecture", false);
  const bool multi_query = config.flag("multi_query", true);
  const bool bias = config.flag("bias", false);
  shape.kv_heads = read_falcon_kv_heads(config, shape, new_decoder, multi_query);
  check_groups(config, shape, kFalconHeads, kFalconKvHeads);
  shape.parallel_block = new_decoder || config.flag("parallel_attn", true);
  shape.intermediate = config.size("ffn_hidden_size", 4 * shape.hidden, kWidestMlp);
  shape.vocabulary = config.size("vocab_size", 65'024, kLargestVocabulary);
  shape.context = config.size("max_position_embeddings", 2'048, kLongestContext);
  shape.activation = config.activation("activation", "gelu");
  shape.dropout = config.dropout("hidden_dropout", 0.0);
  shape.attention_dropout = config.dropout("attention_dropout", 0.0);
  shape.norm = Norm::kLayer;
  shape.positions = config.flag("alibi", false) ? Positions::kAlibi : Positions::kRotary;
  if (shape.positions == Positions::kRotary) shape.rotary_dim = shape.head_dim;
  shape.fused_qkv = true;
  shape.tied_embeddings = config.flag("tie_word_embeddings", true);
  std::vector<std::string> norms = falcon_norms(config, new_decoder, shape.parallel_block);
  shape.norms_per_layer = static_cast<int>(norms.size());

  const std::int64_t qkv = std::int64_t{shape.heads + 2 * shape.kv_heads} * shape.head_dim;
  Inventory inventory(shape.weights);
  inventory.embedding("word_embeddings", WeightRole::kTokenEmbedding, shape.vocabulary, shape.hidden);
  inventory.begin_block(shape.layers);
  inventory.linear("self_attention.query_key_value", WeightRole::kAttention, qkv, shape.hidden, bias);
  inventory.linear("self_attention.dense", WeightRole::kAttention, shape.hidden, shape.hidden, bias);
  inventory.linear("mlp.dense_h_to_4h", WeightRole::kMlp, shape.intermediate, shape.hidden, bias);
  inventory.linear("mlp.dense_4h_to_h", WeightRole::kMlp, shape.hidden, shape.intermediate, bias);
  for (const std::string& name : norms) inventory.norm(name, shape.hidden, true);
  inventory.end_block();
  inventory.norm("ln_f", shape.hidden, true);
  add_decoder_head(config, inventory, shape);
}

}  // namespace rightsize::model
