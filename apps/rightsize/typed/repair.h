// After a refusal: a command that runs and is as close as possible to what was typed.
#pragma once

#include <deque>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "rightsize/flags.h"

namespace rightsize::app {

// Runs a command line (without the program's name). Empty if it gives an answer, otherwise its errors; no errors mean
// that it is not worth changing further. Called many times.
using Trial = std::function<std::optional<Errors>(const std::vector<std::string>& words)>;

// Changes as little as possible until the command runs, led by the errors of each attempt and their hints: replaces
// values that are out of range or misspelt, a wrong file by the flags that it contains, adds missing flags, drops flags
// that do not belong. An unknown flag may name another command: `gpus a100 --mig` is `mig a100`. Empty if no change
// helps.
std::optional<std::vector<std::string>> repaired(const std::vector<std::string>& words,
                                                 const std::deque<FlagInfo>& declared, const Trial& trial);

// Commands that list the names there are, nearest first, if the error is about an unknown model or GPU.
std::vector<std::vector<std::string>> names_like(const Errors& errors);

// The models, GPUs and files that a command line names.
std::vector<std::string> named_things(const std::vector<std::string>& words);

// The first example that `runs` and needs no file that is not here. If the user named models, GPUs or files, it must
// have one of them; any other would answer a different question.
std::optional<std::vector<std::string>> example_with(
    const std::vector<std::string>& named, std::span<const std::string> examples,
    const std::function<bool(const std::vector<std::string>& words)>& runs);

// Replaces flags and values by the nearest ones that the command accepts.
std::vector<std::string> with_known_flags(const std::vector<std::string>& words, const std::deque<FlagInfo>& declared);

// How a suggestion differs from what was typed, in sentences: what it leaves out, replaces and adds as an example.
std::vector<std::string> changes(const std::vector<std::string>& typed, const std::vector<std::string>& suggested,
                                 const std::deque<FlagInfo>& declared);

// "rightsize recommend --gpu 'a100 80gb'": the words quoted for a shell.
std::string as_typed(const std::vector<std::string>& words);

}  // namespace rightsize::app
