// Mistral 7B, Nemo and Small (Llama with a sliding window or wide heads), and Mixtral, its mixture of experts.
#include "families/decoder.h"

namespace rightsize::model {
namespace {

constexpr std::int64_t kIntermediate = 14'336, kContext = 131'072;

void read_mistral(const Config& config, ModelShape& shape) {
  // An absent field means the class's default of 4096; null, as in every Mistral since v0.2, means no window.
  const bool given = config.json().value().find("sliding_window") != nullptr;
  read_decoder(config, shape,
               {.intermediate = kIntermediate, .kv_heads = 8, .context = kContext, .window = given ? 0 : 4'096});
}

void read_mixtral(const Config& config, ModelShape& shape) {
  read_decoder(config, shape,
               {.intermediate = kIntermediate,
                .kv_heads = 8,
                .context = kContext,
                .window = 0,
                .experts = {8, 2},
                .narrow_routing_weights = false});
}

}  // namespace

Families mistral() {
  return {
      {"mistral", "Mistral 7B, Nemo, Small: Llama with a sliding window or wide heads", read_mistral},
      {"mixtral", "Mixtral: Mistral with 8 experts, 2 per token", read_mixtral},
  };
}

}  // namespace rightsize::model
