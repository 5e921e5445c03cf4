// Decoders with a recurrent state (gated delta rule) in most layers and gated attention in every fourth (Qwen3-Next,
// Qwen3.5).
#pragma once

#include "families/decoder.h"

namespace rightsize::model {

// The defaults of a configuration class. Those given here are Qwen3-Next's.
struct DeltaDefaults {
  std::int64_t vocabulary = 151'936;
  int kv_heads = 2, experts = 512, per_token = 10;  // no experts: a dense MLP
};

// Reads the sizes, declares the weights and writes the forward pass.
void read_delta_decoder(const Config& config, ModelShape& shape, const DeltaDefaults& defaults);

}  // namespace rightsize::model
