// StarCoder 2: biases, layer norms, an MLP without a gate.
#include "families/decoder.h"

namespace rightsize::model {

static void read_starcoder2(const Config& config, ModelShape& shape) {
  const bool bias = config.flag("use_bias", true);
  read_decoder(config, shape,
               {.vocabulary = 49'152,
                .intermediate = 12'288,
                .heads = 24,
                .kv_heads = 2,
                .context = 4'096,
                .activation = "gelu_pytorch_tanh",
                .tied = true,
                .dropout = "residual_dropout",
                .window = 0,
                .qkv_bias = bias,
                .output_bias = bias,
                .mlp_bias = bias,
                .gated = false,
                .norm = NormKind::kLayer,
                .norm_bias = true});
}

Families starcoder2() {
  return {{"starcoder2", "StarCoder 2: biases, layer norms, MLP without a gate", read_starcoder2}};
}

}  // namespace rightsize::model
