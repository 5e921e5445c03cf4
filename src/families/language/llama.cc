// Llama 1 to 3 and models that copy them (Granite, SmolLM 1 and 2): grouped-query attention and SwiGLU.
#include "families/decoder.h"

namespace rightsize::model {

static void read_llama(const Config& config, ModelShape& shape) {
  read_decoder(config, shape, {.attention_bias = false, .mlp_bias = config.flag("mlp_bias", false)});
}

Families llama() {
  return {
      {"llama", "Llama 1-3 and models that copy them: grouped-query attention, SwiGLU", read_llama},
      {"granite", "Granite 3: Llama with other multipliers", read_llama},
  };
}

}  // namespace rightsize::model
