// Other tools' names for flags and values: tables only.
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace rightsize::app {

enum class When { kAlways, kServing, kTraining };

// The flag is read as the command's argument without a flag: -f FILE.
inline constexpr std::string_view kArgument = "argument";

// `typed` is `flag`, if the command has it. With a value it is a switch that stands for the flag with that value; with
// a unit, a bare number is meant in it. No flag: it means nothing to us, and `value` says why.
struct Spelling {
  std::string_view typed, flag;
  std::string_view value = {};
  std::string_view unit = {};
  When when = When::kAlways;
  bool takes_value = false;  // the next word belongs to it, though we do not use it
};
std::span<const Spelling> spellings();

// What has no counterpart, and what to do.
struct Refusal {
  std::string_view typed, why;
};
std::span<const Refusal> refusals();

// A value as the flag spells it: `--precision float16` is fp16, `--job inference` is serve. Anything else unchanged.
std::string meant_value(std::string_view flag, const std::string& typed);

}  // namespace rightsize::app
