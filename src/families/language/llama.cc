// Llama 1 to 3 and models that copy them (Granite, SmolLM): grouped-query attention and SwiGLU.
#include "families/decoder.h"

namespace rightsize::model {
namespace {

void read_llama(const Config& config, ModelShape& shape) {
  read_decoder(config, shape, {.attention_bias = false, .mlp_bias = config.flag("mlp_bias", false)});
}

void read_smollm3(const Config& config, ModelShape& shape) {
  read_decoder(config, shape,
               {.vocabulary = 128'256,
                .heads = 16,
                .kv_heads = 4,
                .context = 32'768,
                .tied = true,
                .attention_bias = false,
                .mlp_bias = config.flag("mlp_bias", false)});
}

}  // namespace

Families llama() {
  return {
      {"llama", "Llama 1-3 and models that copy them: grouped-query attention, SwiGLU", read_llama},
      {"granite", "Granite 3: Llama with other multipliers", read_llama},
      {"smollm3", "SmolLM 3: Llama, some layers without rotary positions", read_smollm3},
  };
}

}  // namespace rightsize::model
