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

// Runs a command line (without the program's name). Empty if it gives an answer, otherwise its errors; no errors mean
// that it is not worth changing further. Called many times.
using Trial = std::function<std::optional<Errors>(const std::vector<std::string>& words)>;

// The line without what the errors of each attempt and their hints name, or with it corrected: misspelt names and
// values, a wrong file replaced by the flags that it contains, missing flags with examples. It never has a number that
// was neither typed nor marked as an example, and keeps the command unless an unknown flag names another one: `gpus
// a100 --mig` is `mig a100`. `errors`: of the line as it was typed. Empty if no change helps.
std::optional<std::vector<std::string>> repaired(const std::vector<std::string>& words,
                                                 const std::deque<FlagInfo>& declared, const Trial& trial,
                                                 const Errors& errors = {});

// Commands that list the names there are, nearest first, if the error is about an unknown model or GPU.
std::vector<std::vector<std::string>> names_like(const Errors& errors);

// The models, GPUs and files that a command line names.
std::vector<std::string> named_things(const std::vector<std::string>& words);

// Replaces flags and values by the nearest ones that the command accepts.
std::vector<std::string> with_known_flags(const std::vector<std::string>& words, const std::deque<FlagInfo>& declared);

// How a suggestion differs from what was typed, in sentences: what it leaves out, replaces and adds as an example.
std::vector<std::string> changes(const std::vector<std::string>& typed, const std::vector<std::string>& suggested,
                                 const std::deque<FlagInfo>& declared);

// "rightsize recommend --gpu 'a100 80gb'": the words quoted for a shell.
std::string as_typed(const std::vector<std::string>& words);

}  // namespace rightsize::app
