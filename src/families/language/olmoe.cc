// OLMoE: OLMo 2 attention with 64 experts, eight per token.
#include "families/decoder.h"
#include "families/families.h"

namespace rightsize::model {
namespace {

void read_olmoe(const Config& config, ModelShape& shape) {
  DecoderStyle style;
  style.vocabulary = 50'304;
  style.intermediate = 2'048;
  style.heads = 16;
  style.context = 4'096;
  style.qkv_bias = style.output_bias = config.flag("attention_bias", false);
  style.qk_norm = QkNorm::kFullWidth;
  style.exact = false;
  read_decoder_sizes(config, style, shape);
  shape.experts = read_experts(config, {"num_experts", "num_local_experts"}, 64, 8);
  shape.experts->intermediate = shape.intermediate;
  Decoder(config, style, shape).write({{shape.layers, true}});
}

}  // namespace

Families olmoe() {
  return {
      {"olmoe", "OLMoE: OLMo 2 attention, 64 experts, 8 per token", read_olmoe},
  };
}

}  // namespace rightsize::model
