// The command line as it was meant: commands and flags by the names other tools gave people's fingers.
//
// Our own names always win; what we do not know is left as it stands, for the parser to refuse with a suggestion.
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
  std::vector<std::string> notes;  // what was read as what, to be said beside the answer
  bool plain = false;              // --no-color
};

// With the command first, by its own name: `show-gpus`, `get gpus` and `GPU` are `gpus`, `--format json gpus` is
// `gpus --format json`, `gpus help` is `gpus --help`. Words that name something we do not do are an error that says
// what to use.
Result<Typed> meant_command(std::vector<std::string> words, std::span<const std::string> commands);

// With the flags the command declares: `--cloud` is `--provider`, `--batch_size` is `--batch`, `--json` is
// `--format json`. Words behind "--", and a command line that is the command's argument, stay as they are.
Result<Typed> meant_flags(Typed typed, const std::deque<FlagInfo>& declared);

}  // namespace rightsize::app
