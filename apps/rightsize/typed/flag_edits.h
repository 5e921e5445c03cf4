// Changes to the words of a command line, for the steps that read several flags together.
#pragma once

#include <deque>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "rightsize/typed/typed.h"

namespace rightsize::app {

class FlagEdits {
 public:
  // Whether a value is the one that is looked for.
  using Test = std::function<bool(const std::string& value)>;

  FlagEdits(Typed& typed, const std::deque<FlagInfo>& declared) : typed_(typed), declared_(declared) {}

 protected:
  bool has(std::string_view name) const { return find_flag(declared_, name) != nullptr; }
  // Removes a flag in any of its spellings and returns its value, if `test` accepts that. Without a test, a flag of the
  // command itself stays.
  std::optional<std::string> take(std::string_view names, const Test& test = nullptr);
  // The value of the first of these flags, in any of its spellings; empty if it is absent.
  std::string value_in(std::string_view names) const;
  bool has_word(std::string_view flag) const;  // whether it was typed, with underscores too
  // Removes a flag that has no value.
  bool take_switch(std::string_view name);
  void put(const std::string& flag, const std::string& value);
  void say(const std::string& text) { typed_.renamed.push_back(text); }
  // Takes the first of these flags and puts ours.
  void rename(std::string_view names, const std::string& flag);

  Typed& typed_;
  const std::deque<FlagInfo>& declared_;
};

}  // namespace rightsize::app
