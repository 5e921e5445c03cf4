// The commands as functions, for callers in the same process: the page, the Python module, the C++ library.
#pragma once

#include <string>
#include <vector>

#include "rightsize/command.h"
#include "rightsize/manual/manual.h"

namespace rightsize::app {

// The report that `rightsize COMMAND WORDS...` would print: the same flags, answers and errors. --format, --wide and
// --quiet are accepted and left to the caller; --help is refused. May be called from several threads.
Checked<Outcome> call(const std::string& command, const std::vector<std::string>& words);

// A command and its flags. Fails on an unknown name, with a suggestion.
Result<CommandInfo> describe_command(const std::string& command);
std::vector<std::string> command_names();

// The whole program: parses, runs, prints; the exit code.
int run_program(int argc, char** argv);

}  // namespace rightsize::app
