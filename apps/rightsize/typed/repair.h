// After a refusal: a command that runs and is as close as possible to what was typed.
#pragma once

#include <deque>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "rightsize/flags.h"

namespace rightsize::app {

// Whether a command line (without the program's name) gives an answer. Called many times.
using Runs = std::function<bool(const std::vector<std::string>& words)>;

// Changes as little as possible, as the errors and their hints suggest, until the command runs: replaces values that
// are out of range or misspelt, adds missing flags, drops flags that do not belong. Empty if no change helps.
std::optional<std::vector<std::string>> repaired(const std::vector<std::string>& words, const Errors& errors,
                                                 const std::deque<FlagInfo>& declared, const Runs& runs);

// The command that lists the models of a family, if the error is about an unknown model; otherwise empty.
std::vector<std::string> models_like(const Errors& errors);

// The models, GPUs and files that a command line names.
std::vector<std::string> named_things(const std::vector<std::string>& words);

// Replaces flags and values by the nearest ones that the command accepts.
std::vector<std::string> with_known_flags(const std::vector<std::string>& words, const std::deque<FlagInfo>& declared);

// The flags of `typed` that `suggested` does not have.
std::vector<std::string> left_out(const std::vector<std::string>& typed, const std::vector<std::string>& suggested);

// The flags of `suggested`, with their values, that `typed` lacks: examples for the user to replace.
std::vector<std::string> put_in(const std::vector<std::string>& typed, const std::vector<std::string>& suggested);

// "rightsize recommend --gpu 'a100 80gb'": the words quoted for a shell.
std::string as_typed(const std::vector<std::string>& words);

}  // namespace rightsize::app
