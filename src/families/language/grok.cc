// Grok-1: eight wide experts, two per token; four norms per layer, tied embeddings.
#include "families/decoder.h"

namespace rightsize::model {

static void read_grok1(const Config& config, ModelShape& shape) {
  read_decoder(config, shape,
               {.vocabulary = 131'072,
                .intermediate = 32'768,
                .heads = 48,
                .kv_heads = 8,
                .context = 8'192,
                .activation = "gelu",
                .tied = true,
                .experts = {8, 2, {"num_experts", "num_local_experts"}},
                .layer_norms = {"pre_attn_norm", "post_attn_norm", "pre_moe_norm", "post_moe_norm"},
                .scaled_embedding = true,
                .exact = false});
}

Families grok() {
  return {{"grok-1", "Grok-1: 8 experts, 2 per token, four norms per layer", read_grok1, {"grok1", "grok_1"}}};
}

}  // namespace rightsize::model
