// Serving memory: weights, KV cache, workspace, graphs, and each engine's rule for how much cache it may have.
#pragma once

#include "memory/memory.h"

namespace rightsize::memory {

MemoryNeed estimate_serving(const model::ModelShape& model, const model::Job& job, const catalog::Gpu* gpu);

}  // namespace rightsize::memory
