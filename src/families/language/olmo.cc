// OLMo: layer norms without weights; OLMo 2: norms after each part and on q and k.
#include "families/decoder.h"
#include "families/families.h"

namespace rightsize::model {
namespace {

void read_olmo(const Config& config, ModelShape& shape) {
  DecoderStyle style;
  style.vocabulary = 50'304;
  style.qkv_bias = style.output_bias = config.flag("attention_bias", false);
  style.norm = NormKind::kLayerWide;
  style.norm_weight = false;  // its layer norms have nothing to learn
  read_decoder_sizes(config, style, shape);
  Decoder(config, style, shape).write();
}

void read_olmo2(const Config& config, ModelShape& shape) {
  DecoderStyle style;
  style.vocabulary = 50'304;
  style.qkv_bias = style.output_bias = config.flag("attention_bias", false);
  style.qk_norm = QkNorm::kFullWidth;
  style.norm = NormKind::kRmsWide;
  style.order = BlockOrder::kPostNorm;
  style.layer_norms = {"post_attention_layernorm", "post_feedforward_layernorm"};
  read_decoder_sizes(config, style, shape);
  Decoder(config, style, shape).write();
}

}  // namespace

Families olmo() {
  return {
      {"olmo", "OLMo: norms without weights", read_olmo},
      {"olmo2", "OLMo 2: norms after each part, also on q and k", read_olmo2},
  };
}

}  // namespace rightsize::model
