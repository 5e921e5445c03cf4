// The trainer's part of a step: passes without gradients and optimizer steps.
#pragma once

#include "rl/rl.h"

namespace rightsize::rl {

struct Training {
  Seconds forward;  // one pass over all sequences, without gradients
  Seconds update;   // all optimizer steps
  double optimizer_steps = 1;
  perf::Basis basis = perf::Basis::kMeasured;
  perf::PowerEstimate forward_power, update_power;
};

// Sequences are packed: a micro-batch has as many as fit the longest sequence. `forward` and `update` are those of the
// policy alone, without the framework's factors.
Result<Training> estimate_trainer(const perf::Constants& constants, const perf::ModelWork& work, const RlJob& job,
                                  const Pool& pool);

// The trainer's job at its peak: one micro-batch of the longest sequence.
model::Job peak_training(const RlJob& job);

// The share of a GPU's memory that the engine may use: as given, or as usual for the layout.
double memory_of_engine(const RlJob& job);

// The stack that models a framework's trainer: Megatron, or PyTorch's sharded data parallelism.
model::Stack trainer_stack(Framework framework, const model::Parallelism& parallel);

}  // namespace rightsize::rl
