// SmolLM 3: Llama with some layers without rotary positions.
#include "families/decoder.h"
#include "families/families.h"

namespace rightsize::model {
namespace {

void read_smollm3(const Config& config, ModelShape& shape) {
  DecoderStyle style;
  style.vocabulary = 128'256;
  style.intermediate = 11'008;
  style.heads = 16;
  style.kv_heads = 4;
  style.context = 32'768;
  style.tied = true;
  style.qkv_bias = style.output_bias = config.flag("attention_bias", false);
  style.mlp_bias = config.flag("mlp_bias", false);
  read_decoder_sizes(config, style, shape);
  Decoder(config, style, shape).write();
}

}  // namespace

Families smollm3() {
  return {
      {"smollm3", "SmolLM 3: Llama, some layers without rotary positions", read_smollm3},
  };
}

}  // namespace rightsize::model
