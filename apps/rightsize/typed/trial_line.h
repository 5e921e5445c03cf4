// Command lines that are tried before they are suggested.
#pragma once

#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"

namespace rightsize::app {

// Whether a command line only reads and prints.
bool only_reads(const std::vector<std::string>& words);

// What to add so that a command answers sooner, with the same mistakes in its input: plans without a search for better
// ones. `words` begin with the command and have our names of flags.
std::vector<std::string> quick_flags(const std::vector<std::string>& words);

// The lines that a line without a command may mean, the likeliest first: by a name like its first word, by a file, and
// by the models, GPUs and jobs that it names.
std::vector<std::vector<std::string>> lines_without_command(const std::vector<std::string>& words);

// The first example that `runs` and needs no file that is not here. If the user named models, GPUs or files, it must
// have one of them; any other would answer a different question.
std::optional<std::vector<std::string>> example_with(
    const std::vector<std::string>& named, std::span<const std::string> examples,
    const std::function<bool(const std::vector<std::string>& words)>& runs);

// The error for a first word that is not a command: it may name a model, a GPU or another tool's command.
Error unknown_command(const std::string& typed);

}  // namespace rightsize::app
