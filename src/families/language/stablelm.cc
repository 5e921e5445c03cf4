// StableLM: layer norms, rotary positions on part of each head.
#include "families/decoder.h"

namespace rightsize::model {

static void read_stablelm(const Config& config, ModelShape& shape) {
  DecoderStyle style = {
      .vocabulary = 50'304,
      .intermediate = 6'912,
      .context = 4'096,
      .rotary_fraction = 0.25,
      .dropout = "hidden_dropout",
      .qkv_bias = config.flag("use_qkv_bias", false),
      .qk_norm = config.flag("qk_layernorm", false) ? QkNorm::kEachHead : QkNorm::kNone,
      .norm = NormKind::kLayer,
      .norm_bias = true,
  };
  if (config.flag("use_parallel_residual", false)) {
    style.order = BlockOrder::kParallel;
    style.layer_norms = {"input_layernorm"};
  }
  read_decoder(config, shape, style);
}

Families stablelm() { return {{"stablelm", "StableLM: layer norms, partial rotary positions", read_stablelm}}; }

}  // namespace rightsize::model
