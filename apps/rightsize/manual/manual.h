// What the program says about itself: help, manual pages and completions, all from the flags that commands declare.
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
};

// Long lists under headings that are the same for every command; short ones stay as they are.
void sort_into_groups(std::deque<FlagInfo>& flags);

// Words that can be completed after a flag, by its name; empty where anything may be written.
struct KnownValues {
  std::vector<std::string> models, gpus, providers, regions;

  const std::vector<std::string>& of(const std::string& flag) const;
};

// Those of the built-in models and of the user's catalogue.
KnownValues known_values();

// `rightsize COMMAND --help`, no line longer than the width unless a word is.
std::string help_text(const CommandInfo& command, std::size_t width);
// `rightsize --help`.
std::string overview_text(std::span<const CommandInfo> commands, std::size_t width);

// A page for man(1), in its own markup.
std::string manual_page(const CommandInfo& command);
std::string overview_page(std::span<const CommandInfo> commands);

// What bash, zsh or fish reads to complete commands, flags and values. Another shell's name gets a suggestion.
Result<std::string> completion_script(std::string_view shell, std::span<const CommandInfo> commands,
                                      const KnownValues& values);

}  // namespace rightsize::app
