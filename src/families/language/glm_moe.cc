// GLM mixtures: routed experts and a shared one, after a few dense layers. GLM-4.5 to 4.7 have GLM-4's attention, GLM-5
// that of DeepSeek V3.2. The framework does not load the layers for multi-token prediction.
#include "families/latent_decoder.h"

namespace rightsize::model {
namespace {

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

void read_glm_moe_dsa(const Config& config, ModelShape& shape) {
  read_latent_decoder(config, shape,
                      {.vocabulary = 154'880,
                       .intermediate = 12'288,
                       .context = 202'752,
                       .heads = 64,
                       .q_rank = 2'048,
                       .nope_dim = 192,
                       .value_dim = 256,
                       .index_heads = 32});
}

}  // namespace

Families glm_moe() {
  return {
      {"glm4_moe", "GLM-4.5, 4.6, 4.7: experts beside a shared one", read_glm4_moe},
      {"glm_moe_dsa", "GLM-5: DeepSeek V3.2's attention, 256 experts", read_glm_moe_dsa},
  };
}

}  // namespace rightsize::model
