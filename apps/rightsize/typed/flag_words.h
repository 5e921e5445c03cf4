// Flags by the meaning of their words: --power-limit is --power-cap, --history-duration is --window.
#pragma once

#include <deque>
#include <string>

#include "rightsize/flags.h"

namespace rightsize::app {

// The one declared flag (as in the alias table, "--recompute=full" for a fixed value) whose name, or another tool's
// name for it, consists of words with the same meaning. Empty where none or several do, or where the flag does not
// accept `value`.
std::string flag_by_words(const std::string& typed, const std::string& value, const std::deque<FlagInfo>& declared,
                          bool serving);

}  // namespace rightsize::app
