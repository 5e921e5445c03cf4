// OLMoE: the attention of OLMo 2 with 64 experts, eight per token.
#include "families/decoder.h"

namespace rightsize::model {

static void read_olmoe(const Config& config, ModelShape& shape) {
  read_decoder(config, shape,
               {.vocabulary = 50'304,
                .intermediate = 2'048,
                .heads = 16,
                .context = 4'096,
                .attention_bias = false,
                .experts = {64, 8, {"num_experts", "num_local_experts"}},
                .qk_norm = QkNorm::kFullWidth,
                .exact = false});
}

Families olmoe() { return {{"olmoe", "OLMoE: OLMo 2 attention, 64 experts, 8 per token", read_olmoe}}; }

}  // namespace rightsize::model
