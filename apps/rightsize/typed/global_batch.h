// The size of a training step in the user's words.
#pragma once

#include <deque>

#include "rightsize/typed/typed.h"

namespace rightsize::app {

// `--global-batch 4M` of a language model is tokens: a step of 100,000 sequences is longer than anyone trains with.
// Where a command takes passes instead, a global batch is the batch of a GPU times its copies times the passes.
// Expects the words as meant_flags() leaves them.
void put_global_batch(Typed& typed, const std::deque<FlagInfo>& declared, bool language_model);

}  // namespace rightsize::app
