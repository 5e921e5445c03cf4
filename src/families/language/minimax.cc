// MiniMax M2: 256 small experts, norms over all of q and of k, half of each head rotated.
#include "families/decoder.h"
#include "families/families.h"

namespace rightsize::model {
namespace {

void read_minimax_m2(const Config& config, ModelShape& shape) {
  DecoderStyle style;
  style.vocabulary = 200'064;
  style.intermediate = 1'536;
  style.kv_heads = 8;
  style.head_dim = 128;
  style.context = 196'608;
  if (config.flag("use_qk_norm", true)) style.qk_norm = QkNorm::kFullWidth;
  style.exact = false;
  read_decoder_sizes(config, style, shape);
  shape.rotary_dim = config.count("rotary_dim", shape.rotary_dim, 1, shape.head_dim);
  shape.experts = read_experts(config, {"num_local_experts", "num_experts"}, 256, 8);
  shape.experts->intermediate = shape.intermediate;
  // The routing bias is a buffer, which the framework does not count; MTP modules come as a model of their own.
  Decoder(config, style, shape).write({{shape.layers, true}});
}

}  // namespace

Families minimax() {
  return {
      {"minimax_m2", "MiniMax M2: 256 small experts, 8 per token", read_minimax_m2},
  };
}

}  // namespace rightsize::model
