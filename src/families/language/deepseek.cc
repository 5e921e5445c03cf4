// DeepSeek V2 and V3: latent attention, fine-grained and shared experts, a few dense layers first. From V3.2 on, an
// index chooses the tokens to attend to.
#include "families/latent_decoder.h"

namespace rightsize::model {
namespace {

void read_deepseek_v2(const Config& config, ModelShape& shape) {
  read_latent_decoder(config, shape,
                      {.vocabulary = 32'000,
                       .intermediate = 11'008,
                       .expert_intermediate = 1'407,
                       .context = 2'048,
                       .heads = 32,
                       .experts = 64,
                       .per_token = 6,
                       .shared = 2,
                       .dense_layers = 0});
}

void read_deepseek_v3(const Config& config, ModelShape& shape) { read_latent_decoder(config, shape, {}); }

void read_deepseek_v32(const Config& config, ModelShape& shape) {
  read_latent_decoder(config, shape, {.index_heads = 64});
}

}  // namespace

Families deepseek() {
  return {
      {"deepseek_v2", "DeepSeek V2: latent attention, experts beside shared ones", read_deepseek_v2},
      {"deepseek_v3", "DeepSeek V3 and R1: V2 with 256 experts, 8 per token", read_deepseek_v3},
      {"deepseek_v32", "DeepSeek V3.2: V3 that attends to the tokens an index chooses", read_deepseek_v32},
  };
}

}  // namespace rightsize::model
