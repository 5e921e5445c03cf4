// The command line as it was meant: commands, flags and values by the names of other tools become ours.
//
// Our own names always win. What is not understood stays as it is; the parser refuses it with a suggestion.
#pragma once

#include <deque>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "rightsize/flags.h"

namespace rightsize::app {

struct Typed {
  std::vector<std::string> words;  // without the program's name
  std::vector<std::string> notes;  // what was read as what, to be shown with the answer
  bool plain = false;              // --no-color
};

// Puts the command first and names it as we do: `show-gpus`, `get gpus` and `GPU` are `gpus`, `--format json gpus` is
// `gpus --format json`, `gpus help` is `gpus --help`, `prices RTX 4090` is `prices RTX-4090`.
Typed meant_command(std::vector<std::string> words, std::span<const std::string> commands);

// Names the flags as the command declares them: `--cloud` is `--provider`, `--batch_size` is `--batch`, `--json` is
// `--format json`. Words after -- and the command line that `profile` runs stay as they are.
Typed meant_flags(Typed typed, const std::deque<FlagInfo>& declared);

// Our flag for another tool's, with its value where it has one ("--purchase=spot"); empty where there is none.
std::string meant_flag(std::string_view typed, const std::deque<FlagInfo>& declared, bool serving);

}  // namespace rightsize::app
