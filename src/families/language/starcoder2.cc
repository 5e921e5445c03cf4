// StarCoder 2: biases, layer norms, an MLP without a gate.
#include "families/decoder.h"
#include "families/families.h"

namespace rightsize::model {
namespace {

void read_starcoder2(const Config& config, ModelShape& shape) {
  DecoderStyle style;
  style.vocabulary = 49'152;
  style.intermediate = 12'288;
  style.heads = 24;
  style.kv_heads = 2;
  style.context = 4'096;
  style.activation = "gelu_pytorch_tanh";
  style.tied = true;
  style.gated = false;
  style.qkv_bias = style.output_bias = style.mlp_bias = config.flag("use_bias", true);
  style.norm = NormKind::kLayer;
  style.norm_bias = true;
  read_decoder_sizes(config, style, shape);
  shape.dropout = config.dropout("residual_dropout", 0.0);
  shape.sliding_window = config.size("sliding_window", 0, kLongestContext);
  Decoder(config, style, shape).write();
}

}  // namespace

Families starcoder2() {
  return {
      {"starcoder2", "StarCoder 2: biases, layer norms, MLP without a gate", read_starcoder2},
  };
}

}  // namespace rightsize::model
