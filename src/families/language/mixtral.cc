// Mixtral: Mistral with a mixture of experts.
#include "families/decoder.h"

namespace rightsize::model {

static void read_mixtral(const Config& config, ModelShape& shape) {
  read_decoder(config, shape,
               {.intermediate = 14'336,
                .kv_heads = 8,
                .context = 131'072,
                .window = 0,
                .experts = {8, 2},
                .narrow_routing_weights = false});
}

Families mixtral() { return {{"mixtral", "Mixtral: Mistral with 8 experts, 2 per token", read_mixtral}}; }

}  // namespace rightsize::model
