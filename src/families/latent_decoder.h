// Decoders with latent attention (DeepSeek V2 and later, Kimi K2, GLM-5): queries and keys go through low-rank factors.
// Fine-grained and shared experts follow a few dense layers.
#pragma once

#include "families/decoder.h"

namespace rightsize::model {

// The defaults of a configuration class. Those given here are DeepSeek V3's.
struct LatentDefaults {
  std::int64_t vocabulary = 129'280, intermediate = 18'432, expert_intermediate = 2'048, context = 4'096;
  int heads = 128, experts = 256, per_token = 8, shared = 1, dense_layers = 3;
  std::int64_t q_rank = 1'536;
  int nope_dim = 128, value_dim = 128;
  int index_heads = 0;  // of the index that chooses the tokens to attend to; 0: no index
};

// Reads the sizes, declares the weights and writes the forward pass.
void read_latent_decoder(const Config& config, ModelShape& shape, const LatentDefaults& defaults);

}  // namespace rightsize::model
