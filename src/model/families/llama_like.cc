// Llama and the dense decoders that differ from it in biases, norms and fused matrices only.
#include "model/decoder.h"
#include "model/families.h"

namespace rightsize::model {
namespace {

void read_llama(const Config& config, ModelShape& shape) {
  DecoderStyle style;
  style.qkv_bias = style.output_bias = config.flag("attention_bias", false);
  style.mlp_bias = config.flag("mlp_bias", false);
  read_decoder_sizes(config, style, shape);
  Decoder(config, style, shape).write();
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
  Decoder(config, style, shape).write();
}

// Qwen names a window even where it is off. The first max_window_layers layers stay full, which for every published
// model is all of them.
void read_qwen_window(const Config& config, ModelShape& shape) {
  if (config.flag("use_sliding_window", false))
    shape.sliding_window = config.size("sliding_window", 4'096, kLongestContext);
}

void read_qwen2(const Config& config, ModelShape& shape) {
  DecoderStyle style;
  style.vocabulary = 151'936;
  style.intermediate = 22'016;
  style.context = 32'768;
  style.qkv_bias = true;
  read_decoder_sizes(config, style, shape);
  read_qwen_window(config, shape);
  Decoder(config, style, shape).write();
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
  Decoder(config, style, shape).write();
}

void read_phi3(const Config& config, ModelShape& shape) {
  DecoderStyle style;
  style.vocabulary = 32'064;
  style.intermediate = 8'192;
  style.context = 4'096;
  style.fused_qkv = style.fused_gate_up = true;
  style.rotary_parts = RotaryParts::kJoinEach;
  read_decoder_sizes(config, style, shape);
  shape.dropout = config.dropout("resid_pdrop", 0.0);
  shape.sliding_window = config.size("sliding_window", 0, kLongestContext);
  Decoder(config, style, shape).write();
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
  Decoder(config, style, shape).write();
}

void read_olmo(const Config& config, ModelShape& shape) {
  DecoderStyle style;
  style.vocabulary = 50'304;
  style.qkv_bias = style.output_bias = config.flag("attention_bias", false);
  style.norm = NormKind::kLayerWide;
  style.norm_weight = false;  // its layer norms have nothing to learn
  read_decoder_sizes(config, style, shape);
  Decoder(config, style, shape).write();
}

void read_olmo2(const Config& config, ModelShape& shape) {
  DecoderStyle style;
  style.vocabulary = 50'304;
  style.qkv_bias = style.output_bias = config.flag("attention_bias", false);
  style.qk_norm = QkNorm::kFullWidth;
  style.norm = NormKind::kRmsWide;
  style.order = BlockOrder::kPostNorm;
  style.layer_norms = {"post_attention_layernorm", "post_feedforward_layernorm"};
  read_decoder_sizes(config, style, shape);
  Decoder(config, style, shape).write();
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
  style.norm = NormKind::kLayer;
  style.norm_bias = true;
  read_decoder_sizes(config, style, shape);
  shape.dropout = config.dropout("residual_dropout", 0.0);
  shape.sliding_window = config.size("sliding_window", 0, kLongestContext);
  Decoder(config, style, shape).write();
}

void read_stablelm(const Config& config, ModelShape& shape) {
  DecoderStyle style;
  style.vocabulary = 50'304;
  style.intermediate = 6'912;
  style.context = 4'096;
  style.rotary_fraction = 0.25;
  style.qkv_bias = config.flag("use_qkv_bias", false);
  style.norm = NormKind::kLayer;
  style.norm_bias = true;
  if (config.flag("qk_layernorm", false)) style.qk_norm = QkNorm::kEachHead;
  shape.parallel_block = config.flag("use_parallel_residual", false);
  if (shape.parallel_block) {
    style.order = BlockOrder::kParallel;
    style.layer_norms = {"input_layernorm"};
  }
  read_decoder_sizes(config, style, shape);
  shape.dropout = config.dropout("hidden_dropout", 0.0);
  Decoder(config, style, shape).write();
}

DecoderStyle cohere_style(const Config& config) {
  DecoderStyle style;
  style.vocabulary = 256'000;
  style.intermediate = 22'528;
  style.heads = 64;
  style.context = 8'192;
  style.tied = true;
  style.qkv_bias = style.output_bias = config.flag("attention_bias", false);
  style.norm = NormKind::kLayerSpelled;
  style.layer_norms = {"input_layernorm"};
  style.order = BlockOrder::kParallel;
  style.residual_first = style.wide_rotation = style.scaled_logits = true;
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

void read_cohere(const Config& config, ModelShape& shape) {
  DecoderStyle style = cohere_style(config);
  if (config.flag("use_qk_norm", false)) style.qk_norm = QkNorm::kEachHead;
  shape.parallel_block = true;
  read_decoder_sizes(config, style, shape);
  Decoder(config, style, shape).write();
}

void read_cohere2(const Config& config, ModelShape& shape) {
  DecoderStyle style = cohere_style(config);
  style.exact = false;
  shape.parallel_block = true;
  read_decoder_sizes(config, style, shape);
  shape.sliding_window = config.size("sliding_window", 4'096, kLongestContext);
  shape.full_attention_every = config.count({"sliding_window_pattern", "_sliding_window_pattern"}, 4);
  Decoder(config, style, shape).write();
}

void read_glm(const Config& config, ModelShape& shape) {
  DecoderStyle style = glm_style(config);
  read_decoder_sizes(config, style, shape);
  Decoder(config, style, shape).write();
}

void read_glm4(const Config& config, ModelShape& shape) {
  DecoderStyle style = glm_style(config);
  style.layer_norms = {"input_layernorm", "post_attention_layernorm", "post_self_attn_layernorm", "post_mlp_layernorm"};
  style.norm_order = {0, 2, 1, 3};
  read_decoder_sizes(config, style, shape);
  Decoder(config, style, shape).write();
}

}  // namespace

Families llama_like() {
  return {
      {"llama", "Llama 1-3 and what copies them: grouped-query attention, SwiGLU", read_llama},
      {"mistral", "Mistral 7B, Nemo, Small: Llama with a sliding window or wide heads", read_mistral},
      {"qwen2", "Qwen 1.5, 2 and 2.5: Llama with biases on q, k and v", read_qwen2},
      {"qwen3", "Qwen 3 dense: norms on q and k instead of biases", read_qwen3},
      {"phi3", "Phi 3 and 4: fused q/k/v and gate/up", read_phi3},
      {"granite", "Granite 3: Llama with other multipliers", read_granite},
      {"smollm3", "SmolLM 3: Llama, some layers without rotation", read_smollm3},
      {"olmo", "OLMo: norms without weights", read_olmo},
      {"olmo2", "OLMo 2: norms after each part, on q and k too", read_olmo2},
      {"starcoder2", "StarCoder 2: biases, layer norms, plain MLP", read_starcoder2},
      {"stablelm", "StableLM: layer norms, partly rotary", read_stablelm},
      {"cohere", "Command R: parallel block, tied embeddings", read_cohere},
      {"cohere2", "Command R7B: every fourth layer full", read_cohere2},
      {"glm", "GLM-4: fused gate/up, half rotary", read_glm},
      {"glm4", "GLM-4-0414: four norms a layer", read_glm4},
  };
}

}  // namespace rightsize::model
