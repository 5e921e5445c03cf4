// gpt-oss: experts with biases, attention sinks, sliding windows in every second layer.
#include "families/decoder.h"
#include "families/families.h"

namespace rightsize::model {
namespace {

void read_gpt_oss(const Config& config, ModelShape& shape) {
  DecoderStyle style;
  style.vocabulary = 201'088;
  style.intermediate = 2'880;
  style.heads = 64;
  style.kv_heads = 8;
  style.head_dim = 64;
  style.context = 131'072;
  style.qkv_bias = style.output_bias = config.flag("attention_bias", true);
  style.attention_sinks = true;
  style.router_name = "mlp.router";
  style.router_bias = style.expert_bias = true;
  style.adapted_experts = false;
  style.exact = false;
  read_decoder_sizes(config, style, shape);
  shape.sliding_window = config.size("sliding_window", 128, kLongestContext);
  shape.full_attention_every = 2;
  shape.experts = read_experts(config, {"num_local_experts", "num_experts"}, 128, 4);
  shape.experts->intermediate = shape.intermediate;
  Decoder(config, style, shape).write({{shape.layers, true}});
}

}  // namespace

Families gpt_oss() {
  return {
      {"gpt_oss", "gpt-oss: experts with biases, attention sinks, sliding windows", read_gpt_oss},
  };
}

}  // namespace rightsize::model
