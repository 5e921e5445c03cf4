// The commands, for whoever has no command line: other programs in the same process.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "rightsize/command.h"
#include "rightsize/manual/manual.h"

namespace rightsize::app {

// What `rightsize COMMAND WORDS...` would print, before it is written: the same flags, the same answers, the same
// errors.
// --format, --wide and --quiet are taken and left to the caller; --help is refused. May be called from several threads.
Checked<Outcome> call(const std::string& command, const std::vector<std::string>& words);

// A command and its flags, and which of them may be given more than once. Fails on an unknown name, with a suggestion.
struct CallInfo {
  CommandInfo command;
  std::set<std::string> repeatable;  // long names: "--price"
};
Result<CallInfo> describe_command(const std::string& command);
std::vector<std::string> command_names();

// The whole program: parses, runs, prints; the exit code.
int run_program(int argc, char** argv);

}  // namespace rightsize::app
