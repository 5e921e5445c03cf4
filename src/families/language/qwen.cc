// Qwen 1.5 to 3: Llama with biases on q, k and v; from Qwen 3 on, norms on q and k instead.
#include "families/qwen_style.h"

namespace rightsize::model {
namespace {

void read_qwen2(const Config& config, ModelShape& shape) {
  DecoderStyle style = qwen_style(config);
  style.intermediate = 22'016;
  style.qkv_bias = true;
  read_decoder(config, shape, style);
}

void read_qwen3(const Config& config, ModelShape& shape) {
  DecoderStyle style = qwen_style(config);
  style.intermediate = 22'016;
  style.head_dim = 128;
  style.attention_bias = false;
  style.qk_norm = QkNorm::kPerHead;
  read_decoder(config, shape, style);
}

}  // namespace

Families qwen() {
  return {
      {"qwen2", "Qwen 1.5, 2 and 2.5: Llama with biases on q, k and v", read_qwen2},
      {"qwen3", "Qwen 3 dense: norms on q and k instead of biases", read_qwen3},
  };
}

}  // namespace rightsize::model
