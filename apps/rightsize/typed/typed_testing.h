// Helpers for tests of command lines.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "base/text.h"
#include "rightsize/call.h"
#include "rightsize/typed/work.h"

namespace rightsize::app {

inline std::vector<std::string> words_in(const std::string& line) {
  const std::vector<std::string_view> words = split_list(line, ' ');
  return {words.begin(), words.end()};
}

// All steps from what was typed to the flags of the command.
inline Typed meant_words(std::vector<std::string> words) {
  Typed typed = meant_command(std::move(words), command_names());
  const Result<CommandInfo> command = describe_command(typed.words.front());
  return command ? meant_work(meant_flags(std::move(typed), command->flags), command->flags) : typed;
}
inline Typed meant_line(const std::string& line) { return meant_words(words_in(line)); }

// The value of a flag; empty if it is absent.
inline std::string typed_value(const Typed& typed, const std::string& flag) {
  for (std::size_t i = 1; i < typed.words.size(); ++i) {
    if (typed.words[i].starts_with(flag + "=")) return typed.words[i].substr(flag.size() + 1);
    if (typed.words[i - 1] == flag) return typed.words[i];
  }
  return {};
}

}  // namespace rightsize::app
