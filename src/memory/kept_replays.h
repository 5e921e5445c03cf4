// Training replays that are kept for the lifetime of the program; see tape/replay_cache.h.
#pragma once

#include <memory>

#include "memory/tape/training_tape.h"

namespace rightsize::memory {

std::shared_ptr<const tape::TrainingSurface> surface_of(const model::ModelShape& model, const model::Job& job);
tape::TrainingPeak peak_of(const model::ModelShape& model, const model::Job& job);

}  // namespace rightsize::memory
