// GLM-4: fused gate/up, rotary positions on half of each head; GLM-4-0414 adds two norms per layer.
#include "families/decoder.h"
#include "families/families.h"

namespace rightsize::model {
namespace {

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

Families glm() {
  return {
      {"glm", "GLM-4: fused gate/up, half rotary", read_glm},
      {"glm4", "GLM-4-0414: four norms per layer", read_glm4},
  };
}

}  // namespace rightsize::model
