#include "base/suggest.h"

#include <algorithm>
#include <cstdlib>

#include "base/text.h"

namespace rightsize {

int edit_distance(std::string_view a, std::string_view b) {
  // Optimal string alignment over three rolling rows.
  std::vector<int> before(b.size() + 1), above(b.size() + 1), row(b.size() + 1);
  for (std::size_t j = 0; j <= b.size(); ++j) above[j] = static_cast<int>(j);
  for (std::size_t i = 1; i <= a.size(); ++i) {
    row[0] = static_cast<int>(i);
    for (std::size_t j = 1; j <= b.size(); ++j) {
      int change = above[j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1);
      row[j] = std::min({above[j] + 1, row[j - 1] + 1, change});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1]) row[j] = std::min(row[j], before[j - 2] + 1);
    }
    std::swap(before, above);
    std::swap(above, row);
  }
  return above[b.size()];
}

std::string fold_name(std::string_view name) {
  std::string folded;
  folded.reserve(name.size());
  for (char c : name) {
    if (c == '-' || c == '_' || c == ' ' || c == '.') continue;
    folded += to_lower(c);
  }
  return folded;
}

std::vector<std::string> suggest(std::string_view typed, std::span<const std::string> candidates, std::size_t most) {
  constexpr std::size_t kLongestName = 64;  // longer text is not a typo of a name
  std::string want = fold_name(typed.substr(0, kLongestName));
  if (want.empty() || typed.size() > kLongestName) return {};

  struct Scored {
    int distance;
    const std::string* name;
  };
  const int limit = std::max(1, static_cast<int>(want.size()) / 3);
  std::vector<Scored> near;
  for (const std::string& candidate : candidates) {
    std::string have = fold_name(candidate);
    if (have.starts_with(want)) {
      near.push_back({0, &candidate});
      continue;
    }
    // The difference of the lengths is a lower bound of the distance.
    if (std::abs(static_cast<int>(want.size()) - static_cast<int>(have.size())) > limit) continue;
    if (const int distance = edit_distance(want, have); distance <= limit) near.push_back({distance, &candidate});
  }
  std::stable_sort(near.begin(), near.end(), [](const Scored& a, const Scored& b) { return a.distance < b.distance; });

  std::vector<std::string> best;
  for (const Scored& scored : near) {
    if (best.size() == most || scored.distance > near.front().distance) break;
    if (std::find(best.begin(), best.end(), *scored.name) == best.end()) best.push_back(*scored.name);
  }
  return best;
}

std::string did_you_mean(std::string_view typed, std::span<const std::string> candidates) {
  std::vector<std::string> best = suggest(typed, candidates);
  if (best.empty()) return {};
  std::string text = "did you mean '" + best[0] + "'";
  for (std::size_t i = 1; i < best.size(); ++i) {
    text += (i + 1 == best.size() ? " or '" : ", '") + best[i] + "'";
  }
  return text + "?";
}

}  // namespace rightsize
