// Phrases of a sentence whose meaning no other words change: "3 billion input and 400 million output tokens a month",
// "passages of 256 tokens", "checkpoint every 30 min", "with activation checkpointing".
#pragma once

#include "rightsize/typed/typed.h"

namespace rightsize::app {

// Writes such phrases as flags at the end of the words, so that no reader of questions, jobs and amounts takes their
// numbers for something else.
void take_phrases(Typed& typed);

}  // namespace rightsize::app
