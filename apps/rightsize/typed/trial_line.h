// Command lines that are tried before they are suggested.
#pragma once

#include <string>
#include <vector>

namespace rightsize::app {

// Whether a command line only reads and prints.
bool only_reads(const std::vector<std::string>& words);

// What to add so that a command answers sooner, with the same mistakes in its input: plans without a search for better
// ones. `words` begin with the command and have our names of flags.
std::vector<std::string> quick_flags(const std::vector<std::string>& words);

}  // namespace rightsize::app
