// Qwen 1.5 to 3, dense: biases on q, k and v, from Qwen 3 norms on q and k instead.
#include "families/decoder.h"
#include "families/families.h"

namespace rightsize::model {
namespace {

// Qwen names a window even where it is off. The first max_window_layers layers stay full, which for every published
// model is all of them.
void read_qwen_window(const Config& config, ModelShape& shape) {
  if (config.flag("use_sliding_window", false))
    shape.sliding_window = config.size("sliding_window", 4'096, kLongestContext);
}

void read_qwen2(const Config& config, ModelShape& shape) {
  DecoderStyle style;
  style.vocabulary = 151'936;
  style.intermediate = 22'016;
  style.context = 32'768;
  style.qkv_bias = true;
  read_decoder_sizes(config, style, shape);
  read_qwen_window(config, shape);
  Decoder(config, style, shape).write();
}

void read_qwen3(const Config& config, ModelShape& shape) {
  DecoderStyle style;
  style.vocabulary = 151'936;
  style.intermediate = 22'016;
  style.context = 32'768;
  style.head_dim = 128;
  style.qkv_bias = style.output_bias = config.flag("attention_bias", false);
  style.qk_norm = QkNorm::kPerHead;
  read_decoder_sizes(config, style, shape);
  read_qwen_window(config, shape);
  Decoder(config, style, shape).write();
}

}  // namespace

Families qwen() {
  return {
      {"qwen2", "Qwen 1.5, 2 and 2.5: Llama with biases on q, k and v", read_qwen2},
      {"qwen3", "Qwen 3 dense: norms on q and k instead of biases", read_qwen3},
  };
}

}  // namespace rightsize::model
