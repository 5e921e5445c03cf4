// Nemotron 3 and 4: layer norms around one, squared ReLU without a gate, half of each head rotated.
#include "families/decoder.h"
#include "families/families.h"

namespace rightsize::model {
namespace {

void read_nemotron(const Config& config, ModelShape& shape) {
  DecoderStyle style;
  style.vocabulary = 256'000;
  style.intermediate = 24'576;
  style.heads = 48;
  style.kv_heads = 8;
  style.context = 4'096;
  style.activation = "relu2";
  style.rotary_fraction = 0.5;
  style.gated = false;
  style.qkv_bias = style.output_bias = config.flag("attention_bias", false);
  style.mlp_bias = config.flag("mlp_bias", false);
  style.norm = NormKind::kLayer;
  style.norm_bias = true;
  style.exact = false;
  read_decoder_sizes(config, style, shape);
  Decoder(config, style, shape).write();
}

}  // namespace

Families nemotron() {
  return {
      {"nemotron", "Nemotron 3 and 4: squared ReLU, layer norms, partly rotary", read_nemotron},
  };
}

}  // namespace rightsize::model
