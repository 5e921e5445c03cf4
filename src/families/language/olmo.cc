// OLMo: layer norms without weights. OLMo 2: norms after each part and on q and k. OLMoE: 64 experts, eight per token.
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

void read_olmoe(const Config& config, ModelShape& shape) {
  read_decoder(config, shape,
               {.vocabulary = kVocabulary,
                .intermediate = 2'048,
                .heads = 16,
                .context = 4'096,
                .attention_bias = false,
                .experts = {64, 8, {"num_experts", "num_local_experts"}},
                .qk_norm = QkNorm::kFullWidth,
                .exact = false});
}

}  // namespace

Families olmo() {
  return {
      {"olmo", "OLMo: norms without weights", read_olmo},
      {"olmo2", "OLMo 2: norms after each part, also on q and k", read_olmo2},
      {"olmoe", "OLMoE: OLMo 2 attention, 64 experts, 8 per token", read_olmoe},
  };
}

}  // namespace rightsize::model
