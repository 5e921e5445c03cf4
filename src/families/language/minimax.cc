// MiniMax M2: 256 small experts, norms over all of q and of k, half of each head rotated.
#include "families/decoder.h"

namespace rightsize::model {

static void read_minimax_m2(const Config& config, ModelShape& shape) {
  const DecoderStyle style = {
      .vocabulary = 200'064,
      .intermediate = 1'536,
      .kv_heads = 8,
      .head_dim = 128,
      .context = 196'608,
      .experts = {256, 8},
      .qk_norm = config.flag("use_qk_norm", true) ? QkNorm::kFullWidth : QkNorm::kNone,
      .exact = false,
  };
  read_decoder_sizes(config, style, shape);
  shape.rotary_dim = config.count("rotary_dim", shape.rotary_dim, 1, shape.head_dim);
  // The framework counts neither the routing bias, which is a buffer, nor the MTP modules, which are a separate model.
  Decoder(config, style, shape).write();
}

Families minimax() { return {{"minimax_m2", "MiniMax M2: 256 small experts, 8 per token", read_minimax_m2}}; }

}  // namespace rightsize::model
