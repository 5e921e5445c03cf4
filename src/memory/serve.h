// Serving memory: weights, KV cache, workspace, graphs, and each engine's rule for its cache size.
#pragma once

#include "memory/memory.h"

namespace rightsize::memory {

// Decoders, on an engine or in plain PyTorch.
MemoryNeed estimate_serving(const model::ModelShape& model, const model::Job& job, const catalog::Gpu* gpu);
// All other models: encoders, images, encoder-decoders.
MemoryNeed estimate_batches(const model::ModelShape& model, const model::Job& job, const catalog::Gpu* gpu);

// NCCL buffers and kernels on each of several GPUs (AIConfigurator's system files).
inline Bytes communicator_bytes(int gpus) { return gpus > 2 ? mib(392) : gpus > 1 ? mib(342) : Bytes{}; }

}  // namespace rightsize::memory
