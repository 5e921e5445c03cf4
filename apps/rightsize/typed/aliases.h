// Other tools' names for our commands, flags and values: tables only. Spellings of one meaning share a row.
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace rightsize::app {

enum class When { kAlways, kServing, kTraining };

// `typed` lists what people write, separated by spaces. `meant` is a flag ("--provider"), a flag with its value for
// what is a switch elsewhere ("--purchase=spot"), or a flag with the unit of a bare number ("--deadline=*h"). The first
// row whose flag the command has is used.
struct FlagAlias {
  std::string_view typed, meant;
  When when = When::kAlways;
};
std::span<const FlagAlias> flag_aliases();

// `typed` lists what people write; `meant` is our command, with further words where needed: "prices --purchase=spot".
struct CommandAlias {
  std::string_view typed, meant;
};
std::span<const CommandAlias> command_aliases();

// A value as the flag spells it: `--precision bfloat16` is bf16, `--job inference` is serve. Others unchanged.
std::string meant_value(std::string_view flag, const std::string& typed);

}  // namespace rightsize::app
