// Qwen3-Next: three of four layers have a recurrent state (gated delta rule), the fourth has gated attention; many
// small experts and a shared one.
#include "families/delta_decoder.h"

namespace rightsize::model {

static void read_qwen3_next(const Config& config, ModelShape& shape) { read_delta_decoder(config, shape, {}); }

Families qwen3_next() {
  return {{"qwen3_next", "Qwen3-Next: gated delta rule in 3 of 4 layers, 512 small experts", read_qwen3_next}};
}

}  // namespace rightsize::model
