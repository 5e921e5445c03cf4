// The memory that a serving engine allocates at start, before the first request.
#pragma once

#include <cstdint>
#include <optional>

#include "catalog/catalog.h"
#include "model/job.h"
#include "model/model_shape.h"

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

}  // namespace rightsize::memory
