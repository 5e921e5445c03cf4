// "did you mean ...?" for unknown names.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace rightsize {

// The number of single-character insertions, deletions, changes and swaps of neighbours between two words.
int edit_distance(std::string_view a, std::string_view b);

// The best candidates for a mistyped name: those that begin with it, otherwise those with the smallest edit distance,
// if that is at most a third of its length. Ties keep their order. Ignores case and the separators '-', '_', '.' and
// space.
std::vector<std::string> suggest(std::string_view typed, std::span<const std::string> candidates, std::size_t most = 3);

// "did you mean 'x'?" or "did you mean 'x', 'y' or 'z'?", or an empty text if no candidate is close.
std::string did_you_mean(std::string_view typed, std::span<const std::string> candidates);

// Lower case without '-', '_', '.' and spaces: how names are compared.
std::string fold_name(std::string_view name);

}  // namespace rightsize
