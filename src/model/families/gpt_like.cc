// GPT-2 and its line: learned or rotary positions, layer norms and biases, plain MLPs.
#include "model/families/decoder.h"
#include "model/families/families.h"

namespace rightsize::model {
namespace {

const FieldNames kWidth = {"n_embd", "hidden_size"};
const FieldNames kDepth = {"n_layer", "num_hidden_layers"};
const FieldNames kHeadCount = {"n_head", "num_attention_heads"};

// The fields GPT-2, GPT-J and GPT BigCode spell alike.
void read_gpt_sizes(const Config& config, ModelShape& shape, int heads, std::int64_t context, const char* activation) {
  shape.kind = ModelKind::kDecoder;
  shape.layers = config.layers(kDepth);
  shape.hidden = config.hidden(kWidth);
  shape.heads = shape.kv_heads = config.count(kHeadCount, heads, 1, kMostHeads);
  shape.head_dim = config.divide(shape.hidden, kWidth, shape.heads, kHeadCount);
  shape.intermediate = config.size("n_inner", 4 * shape.hidden, kWidestMlp);
  shape.vocabulary = config.size("vocab_size", 50'257, kLargestVocabulary);
  shape.context = config.size({"n_positions", "max_position_embeddings"}, context, kLongestContext);
  shape.activation = config.activation("activation_function", activation);
  shape.dropout = config.dropout("resid_pdrop", 0.1);
  shape.attention_dropout = config.dropout("attn_pdrop", 0.1);
  shape.norm = Norm::kLayer;
}

void add_gpt2(const Config& config, ModelShape& shape, std::int64_t qkv_width) {
  shape.fused_qkv = true;
  shape.positions = Positions::kLearned;
  Inventory inventory(shape.weights);
  inventory.embedding("wte", WeightRole::kTokenEmbedding, shape.vocabulary, shape.hidden);
  inventory.embedding("wpe", WeightRole::kPositionEmbedding, shape.context, shape.hidden);
  inventory.begin_block(shape.layers);
  inventory.norm("ln_1", shape.hidden, true);
  inventory.linear("attn.c_attn", WeightRole::kAttention, qkv_width, shape.hidden, true);
  inventory.linear("attn.c_proj", WeightRole::kAttention, shape.hidden, shape.hidden, true);
  inventory.norm("ln_2", shape.hidden, true);
  inventory.linear("mlp.c_fc", WeightRole::kMlp, shape.intermediate, shape.hidden, true);
  inventory.linear("mlp.c_proj", WeightRole::kMlp, shape.hidden, shape.intermediate, true);
  inventory.end_block();
  inventory.norm("ln_f", shape.hidden, true);
  add_decoder_head(config, inventory, shape);
}

}  // namespace

void read_gpt2(const Config& config, ModelShape& shape) {
  read_gpt_sizes(config, shape, 12, 1'024, "gelu_new");
  shape.tied_embeddings = config.flag("tie_word_embeddings", true);
  add_gpt2(config, shape, 3 * shape.hidden);
}

void read_gpt_bigcode(const Config& config, ModelShape& shape) {
  read_gpt_sizes(config, shape, 12, 1'024, "gelu_pytorch_tanh");
  shape.tied_embeddings = config.flag("tie_word_embeddings", true);
  if (config.flag("multi_query", true)) shape.kv_heads = 1;
  add_gpt2(config, shape, shape.hidden + 2 * std::int64_t{shape.kv_heads} * shape.head_dim);
}

void read_gpt_neo(const Config& config, ModelShape& shape) {
  const FieldNames heads = {"num_heads", "num_attention_heads"};
  shape.kind = ModelKind::kDecoder;
  shape.layers = config.layers({"num_layers", "num_hidden_layers"});
  shape.hidden = config.hidden("hidden_size");
  shape.heads = shape.kv_heads = config.count(heads, 16, 1, kMostHeads);
  shape.head_dim = config.divide(shape.hidden, "hidden_size", shape.heads, heads);
  shape.intermediate = config.size("intermediate_size", 4 * shape.hidden, kWidestMlp);
  shape.vocabulary = config.size("vocab_size", 50'257, kLargestVocabulary);
  shape.context = config.size("max_position_embeddings", 2'048, kLongestContext);
  shape.activation = config.activation("activation_function", "gelu_new");
  shape.dropout = config.dropout("resid_dropout", 0.0);
  shape.attention_dropout = config.dropout("attention_dropout", 0.0);
  shape.norm = Norm::kLayer;
  shape.positions = Positions::kLearned;
  shape.sliding_window = config.size("window_size", 256, kLongestContext);
  shape.full_attention_every = 2;
  shape.tied_embeddings = config.flag("tie_word_embeddings", true);

  Inventory inventory(shape.weights);
  inventory.embedding("wte", WeightRole::kTokenEmbedding, shape.vocabulary, shape.hidden);
  inventory.embedding("wpe", WeightRole::kPositionEmbedding, shape.context, shape.hidden);
  inventory.begin_block(shape.layers);
  inventory.norm("ln_1", shape.hidden, true);
  for (const char* name : {"attn.attention.k_proj", "attn.attention.v_proj", "attn.attention.q_proj"}) {
    inventory.linear(name, WeightRole::kAttention, shape.hidden, shape.hidden, false);
  }
  inventory.linear("attn.attention.out_proj", WeightRole::kAttention, shape.hidden, shape.hidden, true);
  inventory.norm("ln_2", shape.hidden, true);
  inventory.linear("mlp.c_fc", WeightRole::kMlp, shape.intermediate, shape.hidden, true);
  inventory.linear("mlp.c_proj", WeightRole::kMlp, shape.hidden, shape.intermediate, true);
  inventory.end_block();
  inventory.norm("ln_f", shape.hidden, true);
  add_decoder_head(config, inventory, shape);
}

void read_gptj(const Config& config, ModelShape& shape) {
  read_gpt_sizes(config, shape, 16, 2'048, "gelu_new");
  shape.dropout = config.dropout("resid_pdrop", 0.0);
  shape.attention_dropout = config.dropout("attn_pdrop", 0.0);
  shape.vocabulary = config.size("vocab_size", 50'400, kLargestVocabulary);
  shape.rotary_dim = config.count("rotary_dim", 64, 1, kWidestHead);
  shape.parallel_block = true;
  shape.norms_per_layer = 1;
  shape.tied_embeddings = config.flag("tie_word_embeddings", false);

  Inventory inventory(shape.weights);
  inventory.embedding("wte", WeightRole::kTokenEmbedding, shape.vocabulary, shape.hidden);
  inventory.begin_block(shape.layers);
  inventory.norm("ln_1", shape.hidden, true);
  for (const char* name : {"attn.k_proj", "attn.v_proj", "attn.q_proj", "attn.out_proj"}) {
    inventory.linear(name, WeightRole::kAttention, shape.hidden, shape.hidden, false);
  }
  inventory.linear("mlp.fc_in", WeightRole::kMlp, shape.intermediate, shape.hidden, true);
  inventory.linear("mlp.fc_out", WeightRole::kMlp, shape.hidden, shape.intermediate, true);
  inventory.end_block();
  inventory.norm("ln_f", shape.hidden, true);
  add_decoder_head(config, inventory, shape, /*bias=*/true);
}

namespace {

// GPT-NeoX and Phi share the field names of the llama line but have biases and layer norms throughout.
DecoderStyle layer_norm_style(std::int64_t vocabulary, std::int64_t intermediate, int heads, const char* activation) {
  DecoderStyle style;
  style.vocabulary = vocabulary;
  style.intermediate = intermediate;
  style.heads = heads;
  style.activation = activation;
  style.gated = false;
  style.norm = Norm::kLayer;
  return style;
}

// Before transformers 5, and in every GPT-NeoX file, the share of a head that is rotated is called rotary_pct.
void read_rotary_percentage(const Config& config, ModelShape& shape) {
  double fraction = config.number("rotary_pct", -1.0, 0.0, 1.0);
  if (fraction >= 0.0) shape.rotary_dim = static_cast<int>(shape.head_dim * fraction);
}

}  // namespace

void read_gpt_neox(const Config& config, ModelShape& shape) {
  DecoderStyle style = layer_norm_style(50'432, 24'576, 64, "gelu");
  style.rotary_fraction = 0.25;
  style.fused_qkv = true;
  read_decoder_sizes(config, style, shape);
  read_rotary_percentage(config, shape);
  shape.dropout = config.dropout("hidden_dropout", 0.0);
  shape.parallel_block = config.flag("use_parallel_residual", true);
  const bool bias = config.flag("attention_bias", true);

  Inventory inventory(shape.weights);
  inventory.embedding("embed_in", WeightRole::kTokenEmbedding, shape.vocabulary, shape.hidden);
  inventory.begin_block(shape.layers);
  inventory.norm("input_layernorm", shape.hidden, true);
  inventory.norm("post_attention_layernorm", shape.hidden, true);
  inventory.linear("attention.query_key_value", WeightRole::kAttention, 3 * shape.hidden, shape.hidden, bias);
  inventory.linear("attention.dense", WeightRole::kAttention, shape.hidden, shape.hidden, bias);
  inventory.linear("mlp.dense_h_to_4h", WeightRole::kMlp, shape.intermediate, shape.hidden, true);
  inventory.linear("mlp.dense_4h_to_h", WeightRole::kMlp, shape.hidden, shape.intermediate, true);
  inventory.end_block();
  inventory.norm("final_layer_norm", shape.hidden, true);
  add_decoder_head(config, inventory, shape);
}

void read_phi(const Config& config, ModelShape& shape) {
  DecoderStyle style = layer_norm_style(51'200, 8'192, 32, "gelu_new");
  style.rotary_fraction = 0.5;
  style.layer_norms = {"input_layernorm"};
  read_decoder_sizes(config, style, shape);
  shape.dropout = config.dropout("resid_pdrop", 0.0);
  shape.parallel_block = true;
  shape.qk_norm = config.flag("qk_layernorm", false);
  const std::int64_t q = std::int64_t{shape.heads} * shape.head_dim;
  const std::int64_t kv = std::int64_t{shape.kv_heads} * shape.head_dim;

  Inventory inventory(shape.weights);
  inventory.embedding("embed_tokens", WeightRole::kTokenEmbedding, shape.vocabulary, shape.hidden);
  inventory.begin_block(shape.layers);
  inventory.linear("self_attn.q_proj", WeightRole::kAttention, q, shape.hidden, true);
  inventory.linear("self_attn.k_proj", WeightRole::kAttention, kv, shape.hidden, true);
  inventory.linear("self_attn.v_proj", WeightRole::kAttention, kv, shape.hidden, true);
  inventory.linear("self_attn.dense", WeightRole::kAttention, shape.hidden, q, true);
  if (shape.qk_norm) {
    inventory.norm("self_attn.q_layernorm", shape.head_dim, true);
    inventory.norm("self_attn.k_layernorm", shape.head_dim, true);
  }
  inventory.linear("mlp.fc1", WeightRole::kMlp, shape.intermediate, shape.hidden, true);
  inventory.linear("mlp.fc2", WeightRole::kMlp, shape.hidden, shape.intermediate, true);
  inventory.norm("input_layernorm", shape.hidden, true);
  inventory.end_block();
  inventory.norm("final_layernorm", shape.hidden, true);
  add_decoder_head(config, inventory, shape, /*bias=*/true);
}

}  // namespace rightsize::model
