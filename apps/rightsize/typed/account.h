// What a sentence says that its reading leaves out: exclusions, and numbers that no setting takes.
#pragma once

#include <deque>
#include <string>
#include <string_view>
#include <vector>

#include "rightsize/flags.h"
#include "rightsize/typed/typed.h"

namespace rightsize::app {

// Takes exclusions from the words of a sentence and returns them as flags: "not on aws or azure" is --no-aws
// --no-azure, "without gradient checkpointing" is --no-gradient-checkpointing. "not more than" begins a limit and
// stays.
std::vector<std::string> take_exclusions(std::vector<std::string>& words);

// Our flag with its value for --no-NAME, --without-NAME and the like: --no-amd is --exclude=amd, --no-lora is
// --method=full. "--exclude" takes the value that follows, and "default" changes nothing. Empty for other names.
std::string meant_exclusion(std::string_view flag, const std::deque<FlagInfo>& declared);

// Whether the terms at `at` are allowed besides the usual ones rather than required, "spot is fine", and how many words
// after them say so.
struct Permission {
  bool allowed = false;
  std::size_t words = 0;
};
Permission permission(const std::vector<std::string>& words, std::size_t at);

// The first phrase of the sentence with a number, a period of work or an exclusion that no word, note or name
// of the reading has: "35 %", "a day", "without downtime". Empty if all are used.
std::string unread_phrase(const Typed& typed);

}  // namespace rightsize::app
