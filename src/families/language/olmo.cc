// OLMo: layer norms without weights. OLMo 2: norms after each part and on q and k.
#include "families/decoder.h"

namespace rightsize::model {
namespace {

constexpr std::int64_t kVocabulary = 50'304;

void read_olmo(const Config& config, ModelShape& shape) {
  read_decoder(
      config, shape,
      {.vocabulary = kVocabulary, .attention_bias = false, .norm = NormKind::kLayerWide, .norm_weight = false});
}

void read_olmo2(const Config& config, ModelShape& shape) {
  read_decoder(config, shape,
               {.vocabulary = kVocabulary,
                .attention_bias = false,
                .qk_norm = QkNorm::kFullWidth,
                .norm = NormKind::kRmsWide,
                .layer_norms = {"post_attention_layernorm", "post_feedforward_layernorm"},
                .order = BlockOrder::kPostNorm});
}

}  // namespace

Families olmo() {
  return {
      {"olmo", "OLMo: norms without weights", read_olmo},
      {"olmo2", "OLMo 2: norms after each part, also on q and k", read_olmo2},
  };
}

}  // namespace rightsize::model
