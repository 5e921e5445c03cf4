// Llama 1 to 3 and models that copy them: grouped-query attention and SwiGLU.
#include "families/decoder.h"
#include "families/families.h"

namespace rightsize::model {
namespace {

void read_llama(const Config& config, ModelShape& shape) {
  DecoderStyle style;
  style.qkv_bias = style.output_bias = config.flag("attention_bias", false);
  style.mlp_bias = config.flag("mlp_bias", false);
  read_decoder_sizes(config, style, shape);
  Decoder(config, style, shape).write();
}

}  // namespace

Families llama() {
  return {
      {"llama", "Llama 1-3 and models that copy them: grouped-query attention, SwiGLU", read_llama},
      {"granite", "Granite 3: Llama with other multipliers", read_llama},
  };
}

}  // namespace rightsize::model
