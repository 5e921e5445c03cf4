// A cache of training replays for the lifetime of the program.
//
// A replay depends only on the model and the job, not on prices, deadlines or the GPU. A search needs the same replays
// in every variant of a request, and so does a page while a slider moves. Models are identified by their forward pass;
// copies of a shape share it. Bounded and thread-safe.
#pragma once

#include <memory>

#include "memory/tape/training_tape.h"

namespace rightsize::memory {

std::shared_ptr<const tape::TrainingSurface> surface_of(const model::ModelShape& model, const model::Job& job);
tape::TrainingPeak peak_of(const model::ModelShape& model, const model::Job& job);

}  // namespace rightsize::memory
