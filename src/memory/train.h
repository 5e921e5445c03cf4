// Training memory: the tape's peak, the allocator's reserve, the driver's share, and how sure of it we are.
#pragma once

#include "memory/memory.h"

namespace rightsize::memory {

MemoryNeed estimate_training(const workload::ModelShape& model, const workload::Job& job);

}  // namespace rightsize::memory
