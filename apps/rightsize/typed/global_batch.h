// The size of a training step in the user's words.
#pragma once

#include <deque>

#include "rightsize/typed/typed.h"

namespace rightsize::app {

// `--global-batch 4M` of a language model is tokens: training with 100,000 sequences per step is not realistic. If a
// command takes accumulation passes instead, the global batch is the batch per GPU x data-parallel copies x passes.
// Expects the output of meant_flags().
void put_global_batch(Typed& typed, const std::deque<FlagInfo>& declared, bool language_model);

// Hugging Face's Trainer in a plan: the samples of a pass and the passes of a step are its --global-batch, and the
// steps an amount of data, unless one was given.
void put_trainer(Typed& typed, bool work_given);

}  // namespace rightsize::app
