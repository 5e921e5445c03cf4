// Settings that other tools spread over several flags or write as one: --height and --width are --resolution, --host
// and --port are --listen, gcp/europe-west4 is a provider and a region, and verl's trainer.nnodes=2 is --nodes 2.
#pragma once

#include <deque>

#include "rightsize/typed/typed.h"

namespace rightsize::app {

// Expects the words as typed, with the command first.
void combine_flags(Typed& typed, const std::deque<FlagInfo>& declared);

// The frames of a video of this length, at the rate of its model; adds a note.
int frames_in(double seconds, Typed& typed);

// The RL algorithm that a word names: grpo, ppo, ...; empty: none.
std::string algorithm_of(std::string_view word);
// Whether a command line is about reinforcement learning, in which prompts are not an amount of work.
bool says_rl(const std::vector<std::string>& words);

}  // namespace rightsize::app
