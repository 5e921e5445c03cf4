// Llama and the dense decoders that differ from it in biases, norms and fused matrices only.
#include "model/families/decoder.h"
#include "model/families/families.h"

namespace rightsize::model {

void read_llama(const Config& config, ModelShape& shape) {
  DecoderStyle style;
  style.qkv_bias = style.output_bias = config.flag("attention_bias", false);
  style.mlp_bias = config.flag("mlp_bias", false);
  read_decoder_sizes(config, style, shape);
  add_dense_decoder(config, style, shape);
}

void read_mistral(const Config& config, ModelShape& shape) {
  DecoderStyle style;
  style.intermediate = 14'336;
  style.kv_heads = 8;
  style.context = 131'072;
  read_decoder_sizes(config, style, shape);
  // Absent means the class's default of 4096; null, as in every Mistral since v0.2, means none.
  const JsonMember* window = config.json().value().find("sliding_window");
  shape.sliding_window = window ? config.size("sliding_window", 0, kLongestContext) : 4'096;
  add_dense_decoder(config, style, shape);
}

namespace {

// Qwen names a window even where it is off. The first max_window_layers layers stay full, which for every published
// model is all of them.
void read_qwen_window(const Config& config, ModelShape& shape) {
  if (config.flag("use_sliding_window", false))
    shape.sliding_window = config.size("sliding_window", 4'096, kLongestContext);
}

}  // namespace

void read_qwen2(const Config& config, ModelShape& shape) {
  DecoderStyle style;
  style.vocabulary = 151'936;
  style.intermediate = 22'016;
  style.context = 32'768;
  style.qkv_bias = true;
  read_decoder_sizes(config, style, shape);
  read_qwen_window(config, shape);
  add_dense_decoder(config, style, shape);
}

void read_qwen3(const Config& config, ModelShape& shape) {
  DecoderStyle style;
  style.vocabulary = 151'936;
  style.intermediate = 22'016;
  style.context = 32'768;
  style.head_dim = 128;
  style.qkv_bias = style.output_bias = config.flag("attention_bias", false);
  style.qk_norm = QkNorm::kPerHead;
  read_decoder_sizes(config, style, shape);
  read_qwen_window(config, shape);
  add_dense_decoder(config, style, shape);
}

void read_phi3(const Config& config, ModelShape& shape) {
  DecoderStyle style;
  style.vocabulary = 32'064;
  style.intermediate = 8'192;
  style.context = 4'096;
  style.fused_qkv = style.fused_gate_up = true;
  read_decoder_sizes(config, style, shape);
  shape.dropout = config.dropout("resid_pdrop", 0.0);
  shape.sliding_window = config.size("sliding_window", 0, kLongestContext);
  add_dense_decoder(config, style, shape);
}

void read_granite(const Config& config, ModelShape& shape) { read_llama(config, shape); }

void read_smollm3(const Config& config, ModelShape& shape) {
  DecoderStyle style;
  style.vocabulary = 128'256;
  style.intermediate = 11'008;
  style.heads = 16;
  style.kv_heads = 4;
  style.context = 32'768;
  style.tied = true;
  style.qkv_bias = style.output_bias = config.flag("attention_bias", false);
  style.mlp_bias = config.flag("mlp_bias", false);
  read_decoder_sizes(config, style, shape);
  add_dense_decoder(config, style, shape);
}

void read_olmo(const Config& config, ModelShape& shape) {
  DecoderStyle style;
  style.vocabulary = 50'304;
  style.qkv_bias = style.output_bias = config.flag("attention_bias", false);
  style.norm = Norm::kLayer;
  style.norm_weight = false;  // its layer norms have nothing to learn
  read_decoder_sizes(config, style, shape);
  add_dense_decoder(config, style, shape);
}

void read_olmo2(const Config& config, ModelShape& shape) {
  DecoderStyle style;
  style.vocabulary = 50'304;
  style.qkv_bias = style.output_bias = config.flag("attention_bias", false);
  style.qk_norm = QkNorm::kFullWidth;
  style.layer_norms = {"post_attention_layernorm", "post_feedforward_layernorm"};
  read_decoder_sizes(config, style, shape);
  add_dense_decoder(config, style, shape);
}

void read_starcoder2(const Config& config, ModelShape& shape) {
  DecoderStyle style;
  style.vocabulary = 49'152;
  style.intermediate = 12'288;
  style.heads = 24;
  style.kv_heads = 2;
  style.context = 4'096;
  style.activation = "gelu_pytorch_tanh";
  style.tied = true;
  style.gated = false;
  style.qkv_bias = style.output_bias = style.mlp_bias = config.flag("use_bias", true);
  style.norm = Norm::kLayer;
  style.norm_bias = true;
  read_decoder_sizes(config, style, shape);
  shape.dropout = config.dropout("residual_dropout", 0.0);
  shape.sliding_window = config.size("sliding_window", 0, kLongestContext);
  add_dense_decoder(config, style, shape);
}

void read_stablelm(const Config& config, ModelShape& shape) {
  DecoderStyle style;
  style.vocabulary = 50'304;
  style.intermediate = 6'912;
  style.context = 4'096;
  style.rotary_fraction = 0.25;
  style.qkv_bias = config.flag("use_qkv_bias", false);
  style.norm = Norm::kLayer;
  style.norm_bias = true;
  if (config.flag("qk_layernorm", false)) style.qk_norm = QkNorm::kEachHead;
  shape.parallel_block = config.flag("use_parallel_residual", false);
  if (shape.parallel_block) style.layer_norms = {"input_layernorm"};
  read_decoder_sizes(config, style, shape);
  shape.dropout = config.dropout("hidden_dropout", 0.0);
  add_dense_decoder(config, style, shape);
}

namespace {

DecoderStyle cohere_style(const Config& config) {
  DecoderStyle style;
  style.vocabulary = 256'000;
  style.intermediate = 22'528;
  style.heads = 64;
  style.context = 8'192;
  style.tied = true;
  style.qkv_bias = style.output_bias = config.flag("attention_bias", false);
  style.norm = Norm::kLayer;
  style.layer_norms = {"input_layernorm"};
  return style;
}

DecoderStyle glm_style(const Config& config) {
  DecoderStyle style;
  style.vocabulary = 151'552;
  style.intermediate = 13'696;
  style.kv_heads = 2;
  style.head_dim = 128;
  style.context = 131'072;
  style.rotary_fraction = 0.5;
  style.qkv_bias = config.flag("attention_bias", true);  // GlmConfig and Glm4Config have it where a file does not say
  style.fused_gate_up = true;
  return style;
}

}  // namespace

void read_cohere(const Config& config, ModelShape& shape) {
  DecoderStyle style = cohere_style(config);
  if (config.flag("use_qk_norm", false)) style.qk_norm = QkNorm::kEachHead;
  shape.parallel_block = true;
  read_decoder_sizes(config, style, shape);
  add_dense_decoder(config, style, shape);
}

void read_cohere2(const Config& config, ModelShape& shape) {
  DecoderStyle style = cohere_style(config);
  shape.parallel_block = true;
  read_decoder_sizes(config, style, shape);
  shape.sliding_window = config.size("sliding_window", 4'096, kLongestContext);
  shape.full_attention_every = config.count({"sliding_window_pattern", "_sliding_window_pattern"}, 4);
  add_dense_decoder(config, style, shape);
}

void read_glm(const Config& config, ModelShape& shape) {
  DecoderStyle style = glm_style(config);
  read_decoder_sizes(config, style, shape);
  add_dense_decoder(config, style, shape);
}

void read_glm4(const Config& config, ModelShape& shape) {
  DecoderStyle style = glm_style(config);
  style.layer_norms = {"input_layernorm", "post_attention_layernorm", "post_self_attn_layernorm", "post_mlp_layernorm"};
  read_decoder_sizes(config, style, shape);
  add_dense_decoder(config, style, shape);
}

}  // namespace rightsize::model
