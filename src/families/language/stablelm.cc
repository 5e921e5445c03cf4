// StableLM: layer norms, rotary positions on part of each head.
#include "families/decoder.h"
#include "families/families.h"

namespace rightsize::model {
namespace {

void read_stablelm(const Config& config, ModelShape& shape) {
  DecoderStyle style;
  style.vocabulary = 50'304;
  style.intermediate = 6'912;
  style.context = 4'096;
  style.rotary_fraction = 0.25;
  style.qkv_bias = config.flag("use_qkv_bias", false);
  style.norm = NormKind::kLayer;
  style.norm_bias = true;
  if (config.flag("qk_layernorm", false)) style.qk_norm = QkNorm::kEachHead;
  shape.parallel_block = config.flag("use_parallel_residual", false);
  if (shape.parallel_block) {
    style.order = BlockOrder::kParallel;
    style.layer_norms = {"input_layernorm"};
  }
  read_decoder_sizes(config, style, shape);
  shape.dropout = config.dropout("hidden_dropout", 0.0);
  Decoder(config, style, shape).write();
}

}  // namespace

Families stablelm() {
  return {
      {"stablelm", "StableLM: layer norms, partial rotary positions", read_stablelm},
  };
}

}  // namespace rightsize::model
