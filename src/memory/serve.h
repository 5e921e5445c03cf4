// Serving memory: weights, KV cache, workspace, graphs, and each engine's rule for its cache size.
#pragma once

#include "memory/memory.h"

namespace rightsize::memory {

// Decoders, on an engine or in plain PyTorch.
MemoryNeed estimate_serving(const model::ModelShape& model, const model::Job& job, const catalog::Gpu* gpu);
// All other models: encoders, images, encoder-decoders.
MemoryNeed estimate_batches(const model::ModelShape& model, const model::Job& job, const catalog::Gpu* gpu);

}  // namespace rightsize::memory
