// Nemotron 3 and 4: layer norms with weights relative to one, squared ReLU without a gate, half of each head rotated.
#include "families/decoder.h"

namespace rightsize::model {

static void read_nemotron(const Config& config, ModelShape& shape) {
  read_decoder(config, shape,
               {.vocabulary = 256'000,
                .intermediate = 24'576,
                .heads = 48,
                .kv_heads = 8,
                .context = 4'096,
                .activation = "relu2",
                .rotary_fraction = 0.5,
                .attention_bias = false,
                .mlp_bias = config.flag("mlp_bias", false),
                .gated = false,
                .norm = NormKind::kLayer,
                .norm_bias = true,
                .exact = false});
}

Families nemotron() {
  return {{"nemotron", "Nemotron 3 and 4: squared ReLU, layer norms, partly rotary", read_nemotron}};
}

}  // namespace rightsize::model
