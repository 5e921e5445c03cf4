// Phi 1 to 2: parallel attention and MLP with biases. Phi 3 and 4: fused q/k/v and gate/up projections.
#include "families/decoder.h"

namespace rightsize::model {
namespace {

void read_phi(const Config& config, ModelShape& shape) {
  read_decoder(config, shape,
               {.vocabulary = 51'200,
                .intermediate = 8'192,
                .activation = "gelu_new",
                .rotary_fraction = 0.5,
                .dropout = "resid_pdrop",
                .qkv_bias = true,
                .output_bias = true,
                .mlp_bias = true,
                .head_bias = true,
                .gated = false,
                .qk_norm = config.flag("qk_layernorm", false) ? QkNorm::kPerHead : QkNorm::kNone,
                .norm = NormKind::kLayer,
                .norm_bias = true,
                .q_norm_name = "self_attn.q_layernorm",
                .k_norm_name = "self_attn.k_layernorm",
                .output_name = "self_attn.dense",
                .up_name = "fc1",
                .down_name = "fc2",
                .final_norm = "final_layernorm",
                .layer_norms = {"input_layernorm"},
                .order = BlockOrder::kParallel});
}

void read_phi3(const Config& config, ModelShape& shape) {
  read_decoder(config, shape,
               {.vocabulary = 32'064,
                .intermediate = 8'192,
                .context = 4'096,
                .dropout = "resid_pdrop",
                .window = 0,
                .fused_qkv = true,
                .fused_gate_up = true,
                .rotary_parts = RotaryParts::kJoinEach});
}

}  // namespace

Families phi() {
  return {
      {"phi", "Phi 1 to 2: parallel attention and MLP, biases throughout", read_phi},
      {"phi3", "Phi 3 and 4: fused q/k/v and gate/up", read_phi3},
  };
}

}  // namespace rightsize::model
