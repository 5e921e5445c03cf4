// gpt-oss: experts with biases, attention sinks, sliding windows in every second layer.
#include "families/decoder.h"

namespace rightsize::model {

static void read_gpt_oss(const Config& config, ModelShape& shape) {
  shape.full_attention_every = 2;
  read_decoder(config, shape,
               {.vocabulary = 201'088,
                .intermediate = 2'880,
                .heads = 64,
                .kv_heads = 8,
                .head_dim = 64,
                .context = 131'072,
                .window = 128,
                .attention_bias = true,
                .experts = {128, 4},
                .attention_sinks = true,
                .router_name = "mlp.router",
                .router_bias = true,
                .expert_bias = true,
                .adapted_experts = false,
                .exact = false});
}

Families gpt_oss() {
  return {{"gpt_oss", "gpt-oss: experts with biases, attention sinks, sliding windows", read_gpt_oss}};
}

}  // namespace rightsize::model
