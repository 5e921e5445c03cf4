// GLM-4: fused gate and up, rotary positions on half of each head; GLM-4-0414 adds two norms per layer. GLM-4.5 to 4.7
// have experts beside a shared one after a few dense layers; the framework does not load their multi-token prediction.
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

void read_glm4_moe(const Config& config, ModelShape& shape) {
  const DecoderStyle style = {
      .vocabulary = 151'552,
      .intermediate = 10'944,
      .heads = 96,
      .kv_heads = 8,
      .head_dim = 128,
      .context = 131'072,
      .rotary_fraction = 0.5,
      .qkv_bias = config.flag("attention_bias", false),
      .qk_norm = config.flag("use_qk_norm", false) ? QkNorm::kPerHead : QkNorm::kNone,
      .shared_name = "mlp.shared_experts",
      .router_last = true,
      .exact = false,
  };
  read_decoder_sizes(config, style, shape);
  read_routed_experts(config, {.count = 128, .per_token = 8, .intermediate = 1'408}, 1, 1, shape);
  Decoder(config, style, shape).write();
}

}  // namespace

Families glm() {
  return {
      {"glm", "GLM-4: fused gate/up, half rotary", read_glm},
      {"glm4", "GLM-4-0414: four norms per layer", read_glm4},
      {"glm4_moe", "GLM-4.5, 4.6, 4.7: experts beside a shared one", read_glm4_moe},
  };
}

}  // namespace rightsize::model
