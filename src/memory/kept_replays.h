// Replays of training steps, kept for the life of the program.
//
// A replay depends on the model and the job alone, not on prices, deadlines or the GPU, and a search asks for the same
// ones in every variant of a request; so does a page whose slider moves. Models are told apart by their forward pass,
// which a shape shares with its copies. Bounded; from any thread.
#pragma once

#include <memory>

#include "memory/tape/training_tape.h"

namespace rightsize::memory {

std::shared_ptr<const tape::TrainingSurface> surface_of(const model::ModelShape& model, const model::Job& job);
tape::TrainingPeak peak_of(const model::ModelShape& model, const model::Job& job);

}  // namespace rightsize::memory
