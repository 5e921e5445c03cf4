// Mistral 7B, Nemo and Small: Llama with a sliding window or wide heads.
#include "families/decoder.h"

namespace rightsize::model {

static void read_mistral(const Config& config, ModelShape& shape) {
  // An absent field means the class's default of 4096; null, as in every Mistral since v0.2, means no window.
  const bool given = config.json().value().find("sliding_window") != nullptr;
  read_decoder(config, shape, {.intermediate = 14'336, .kv_heads = 8, .context = 131'072, .window = given ? 0 : 4'096});
}

Families mistral() {
  return {{"mistral", "Mistral 7B, Nemo, Small: Llama with a sliding window or wide heads", read_mistral}};
}

}  // namespace rightsize::model
