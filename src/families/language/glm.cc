// GLM-4: fused gate and up, rotary positions on half of each head. GLM-4-0414 adds two norms per layer.
#include "families/decoder.h"

namespace rightsize::model {
namespace {

DecoderStyle glm_style(const Config& config) {
  return {
      .vocabulary = 151'552,
      .intermediate = 13'696,
      .kv_heads = 2,
      .head_dim = 128,
      .context = 131'072,
      .rotary_fraction = 0.5,
      .qkv_bias = config.flag("attention_bias", true),
      .fused_gate_up = true,
  };
}

void read_glm(const Config& config, ModelShape& shape) { read_decoder(config, shape, glm_style(config)); }

void read_glm4(const Config& config, ModelShape& shape) {
  DecoderStyle style = glm_style(config);
  style.layer_norms = {"input_layernorm", "post_attention_layernorm", "post_self_attn_layernorm", "post_mlp_layernorm"};
  style.norm_order = {0, 2, 1, 3};
  read_decoder(config, shape, style);
}

}  // namespace

Families glm() {
  return {
      {"glm", "GLM-4: fused gate/up, half rotary", read_glm},
      {"glm4", "GLM-4-0414: four norms per layer", read_glm4},
  };
}

}  // namespace rightsize::model
