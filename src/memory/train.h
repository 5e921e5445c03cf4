// Training memory: the tape's peak, the allocator's reserve, the driver's share, and how sure of it we are.
#pragma once

#include <memory>

#include "memory/memory.h"
#include "memory/tape/training_tape.h"

namespace rightsize::memory {

MemoryNeed estimate_training(const model::ModelShape& model, const model::Job& job);

// The same for any batch and number of replicas in nanoseconds, for searches: live memory from a compiled surface, and
// what the allocator holds beyond it at the least that was seen. A little below estimate_training, which has the last
// word.
class TrainingNeeds {
 public:
  // job.batch is not looked at, and job.parallel.gpus only for whether there are several replicas.
  TrainingNeeds(const model::ModelShape& model, const model::Job& job);

  // The high bound of what nvidia-smi would show; `replicas` is the number of data-parallel groups.
  Bytes high(double batch, double replicas) const;

 private:
  std::shared_ptr<const tape::TrainingSurface> surface_;
  Bytes runtime_;
  double spread_ = 1;
};

}  // namespace rightsize::memory
