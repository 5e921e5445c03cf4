// Serving memory: weights, KV cache, workspace, graphs, and each engine's rule for how much cache it may have.
#pragma once

#include "memory/memory.h"

namespace rightsize::memory {

// Decoders behind an engine, or in plain PyTorch.
MemoryNeed estimate_serving(const model::ModelShape& model, const model::Job& job, const catalog::Gpu* gpu);
// Everything else: encoders, images, encoders with a decoder.
MemoryNeed estimate_batches(const model::ModelShape& model, const model::Job& job, const catalog::Gpu* gpu);

}  // namespace rightsize::memory
