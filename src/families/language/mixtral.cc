// Mixtral: Mistral with eight experts, two per token.
#include "families/decoder.h"
#include "families/families.h"

namespace rightsize::model {
namespace {

void read_mixtral(const Config& config, ModelShape& shape) {
  DecoderStyle style;
  style.narrow_routing_weights = false;
  style.intermediate = 14'336;
  style.kv_heads = 8;
  style.context = 131'072;
  read_decoder_sizes(config, style, shape);
  shape.sliding_window = config.size("sliding_window", 0, kLongestContext);
  shape.experts = read_experts(config, {"num_local_experts", "num_experts"}, 8, 2);
  shape.experts->intermediate = shape.intermediate;
  Decoder(config, style, shape).write({{shape.layers, true}});
}

}  // namespace

Families mixtral() {
  return {
      {"mixtral", "Mixtral: Mistral with 8 experts, 2 per token", read_mixtral},
  };
}

}  // namespace rightsize::model
