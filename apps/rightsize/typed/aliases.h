// Other tools' names for our commands, flags and values: tables only. Spellings of one meaning share a row.
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace rightsize::app {

enum class When { kAlways, kServing };

// `typed` lists other tools' flags, separated by spaces. `meant` is our flag ("--provider"), our flag with a value for
// a switch of another tool ("--purchase=spot"), or our flag with the unit of a bare number ("--deadline=*h").
// "default": a switch that changes nothing here; "ignored": a flag with a value that no answer depends on, which a note
// names. The first row whose flag the command has is used.
struct FlagAlias {
  std::string_view typed, meant;
  When when = When::kAlways;
};
std::span<const FlagAlias> flag_aliases();

// `typed` lists other tools' commands; `meant` is ours, with further words where needed: "prices --purchase=spot".
struct CommandAlias {
  std::string_view typed, meant;
  std::string_view note = {};  // how ours differs; such a row is suggested, never applied
};
std::span<const CommandAlias> command_aliases();

// Our spelling of a value: `--precision bfloat16` is bf16, `--job inference` is serve. Other values are unchanged.
std::string meant_value(std::string_view flag, const std::string& typed);

}  // namespace rightsize::app
