// Serving memory: weights, KV cache, workspace, graphs, and each engine's rule for its cache size, which it allocates
// at start, before the first request.
#pragma once

#include "memory/memory.h"

namespace rightsize::memory {

struct EngineLaunch {
  Bytes device;                  // what nvidia-smi shows on each GPU
  Bytes kv_cache;                // included in `device`
  std::int64_t kv_tokens = 0;    // tokens in the caches of one copy of the model
  std::int64_t sequences = 0;    // sequences of isl + osl tokens that fit
  std::int64_t max_context = 0;  // tokens of the longest sequence, at most the model's context
};

// Empty for models that do not generate tokens, and for plain PyTorch, where the cache grows with the batch.
std::optional<EngineLaunch> engine_launch(const model::ModelShape& model, const model::Job& job,
                                          const catalog::Gpu& gpu);

// Decoders, on an engine or in plain PyTorch.
MemoryNeed estimate_serving(const model::ModelShape& model, const model::Job& job, const catalog::Gpu* gpu);
// All other models: encoders, images, encoder-decoders.
MemoryNeed estimate_batches(const model::ModelShape& model, const model::Job& job, const catalog::Gpu* gpu);

// NCCL buffers and kernels on each of several GPUs (AIConfigurator's system files).
inline Bytes communicator_bytes(int gpus) { return gpus > 2 ? mib(392) : gpus > 1 ? mib(342) : Bytes{}; }

}  // namespace rightsize::memory
