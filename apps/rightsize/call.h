// The commands as functions, for callers in the same process: the page, the Python module, the C++ library.
#pragma once

#include <string>
#include <vector>

#include "rightsize/command.h"
#include "rightsize/manual/manual.h"

namespace rightsize::app {

// The report that `rightsize COMMAND WORDS...` would print, with the same flags and errors. --format, --wide and
// --quiet are accepted, but the caller renders the report; --help is refused. Thread-safe.
Checked<Outcome> call(const std::string& command, const std::vector<std::string>& words);

// A command and its flags. Fails on an unknown name, with a suggestion.
Result<CommandInfo> describe_command(const std::string& command);
std::vector<std::string> command_names();

// Parses, runs and prints, as the program does. Returns the exit code.
int run_program(int argc, char** argv);

}  // namespace rightsize::app
