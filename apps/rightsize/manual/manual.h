// Help, manual pages and shell completion, derived from the flags that commands declare.
#pragma once

#include <deque>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "rightsize/flags.h"

namespace rightsize::app {

// A command and its flags.
struct CommandInfo {
  std::string name, summary;
  std::vector<std::string> examples;  // as typed
  std::deque<FlagInfo> flags;
  std::vector<Verb> verbs = {};
  std::string short_help = {};  // options of the short help, most useful first; empty: all
  std::string group = {};       // the heading in the list of commands
};

// The description of a verb that the words of a command line name, `prices spot`; otherwise of the whole command.
CommandInfo of_verb(CommandInfo command, const std::vector<std::string>& words);

// Sorts the flags by heading. Short lists get no headings.
void sort_into_groups(std::deque<FlagInfo>& flags);

// The names that a shell completes after a flag; empty if any text is possible.
struct KnownValues {
  std::vector<std::string> models, gpus, providers, regions;

  const std::vector<std::string>& of(const std::string& flag) const;
};

// The names of the built-in models and of the user's catalogue.
KnownValues known_values();

// `rightsize COMMAND --help` fits one screen: the options that most people need. `help COMMAND --all` has all of them.
// Only a single long word can exceed the width.
std::string help_text(const CommandInfo& command, std::size_t width);
std::string full_help_text(const CommandInfo& command, std::size_t width);
// `rightsize --help`.
std::string overview_text(std::span<const CommandInfo> commands, std::size_t width);

// A page for man(1), in troff.
std::string manual_page(const CommandInfo& command);
std::string overview_page(std::span<const CommandInfo> commands);

// A script for bash, zsh or fish that completes commands, flags and values.
Result<std::string> completion_script(std::string_view shell, std::span<const CommandInfo> commands,
                                      const KnownValues& values);

}  // namespace rightsize::app
