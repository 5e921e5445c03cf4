// SmolLM 3: Llama with tied embeddings and without rotary positions in every fourth layer.
#include "families/decoder.h"

namespace rightsize::model {

static void read_smollm3(const Config& config, ModelShape& shape) {
  read_decoder(config, shape,
               {.vocabulary = 128'256,
                .heads = 16,
                .kv_heads = 4,
                .context = 32'768,
                .tied = true,
                .attention_bias = false,
                .mlp_bias = config.flag("mlp_bias", false)});
}

Families smollm3() { return {{"smollm3", "SmolLM 3: Llama, some layers without rotary positions", read_smollm3}}; }

}  // namespace rightsize::model
