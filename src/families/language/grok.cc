// Grok-1: eight wide experts, two per token; four norms per layer, tied embeddings.
#include "families/decoder.h"
#include "families/families.h"

namespace rightsize::model {
namespace {

void read_grok1(const Config& config, ModelShape& shape) {
  DecoderStyle style;
  style.vocabulary = 131'072;
  style.intermediate = 32'768;
  style.heads = 48;
  style.kv_heads = 8;
  style.context = 8'192;
  style.activation = "gelu";
  style.tied = style.scaled_embedding = true;
  style.layer_norms = {"pre_attn_norm", "post_attn_norm", "pre_moe_norm", "post_moe_norm"};
  style.exact = false;
  read_decoder_sizes(config, style, shape);
  shape.experts = read_experts(config, {"num_experts", "num_local_experts"}, 8, 2);
  shape.experts->intermediate = shape.intermediate;
  Decoder(config, style, shape).write({{shape.layers, true}});
}

}  // namespace

Families grok() {
  return {
      {"grok-1", "Grok-1: 8 experts, 2 per token, four norms per layer", read_grok1, {"grok1", "grok_1"}},
  };
}

}  // namespace rightsize::model
