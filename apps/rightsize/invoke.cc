#include "rightsize/invoke.h"

#include <CLI/CLI.hpp>

namespace rightsize::app {

std::deque<FlagInfo> flags_of(AddCommand add) {
  CLI::App command;
  FlagSet flags(command);
  const Run run = add(flags);
  return flags.declared();
}

Checked<Outcome> invoke(AddCommand add, const std::vector<std::string>& words) {
  CLI::App command;
  command.set_help_flag();
  FlagSet flags(command);
  const Run run = add(flags);
  try {
    command.parse(std::vector<std::string>(words.rbegin(), words.rend()));  // the library takes the last word first
  } catch (const CLI::ParseError& failure) {
    return fail(bad_input(failure.what()));
  }
  return run();
}

}  // namespace rightsize::app
