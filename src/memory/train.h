// Training memory: peak of the tape, allocator reserve, driver share, and the interval.
#pragma once

#include <memory>

#include "memory/memory.h"
#include "memory/tape/training_tape.h"

namespace rightsize::memory {

MemoryNeed estimate_training(const model::ModelShape& model, const model::Job& job);

// A fast form for searches (nanoseconds for any batch and number of replicas): live memory from a compiled surface,
// plus the smallest allocator overhead seen. Slightly below estimate_training(), which decides in the end.
class TrainingNeeds {
 public:
  // Ignores job.batch; job.parallel.gpus only matters for whether there are several replicas.
  TrainingNeeds(const model::ModelShape& model, const model::Job& job);

  // Upper bound of the memory that nvidia-smi would show; `replicas` is the number of data-parallel groups. `more`:
  // live bytes that the job has beyond the one given above; may be negative.
  Bytes high(double batch, double replicas, Bytes more = {}) const;

 private:
  std::shared_ptr<const tape::TrainingSurface> surface_;
  Bytes runtime_;
  Bytes reference_;       // weights of a frozen reference model, before sharding
  double sequences_ = 1;  // of a sample
  bool sharded_ = false;  // the reference, over the replicas
  double spread_ = 1;
};

}  // namespace rightsize::memory
