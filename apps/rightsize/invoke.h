// A command run inside the program, with the words a command line would have: what `serve` does for its clients.
#pragma once

#include <deque>
#include <string>
#include <vector>

#include "rightsize/command.h"

namespace rightsize::app {

using AddCommand = Run (*)(FlagSet& command);

// What the command can be given.
std::deque<FlagInfo> flags_of(AddCommand add);

// Declares the flags, reads the words ("--model=llama-3.1-8b", "compare") and runs the command.
Checked<Outcome> invoke(AddCommand add, const std::vector<std::string>& words);

}  // namespace rightsize::app
