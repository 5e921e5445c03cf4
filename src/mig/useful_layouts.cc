#include <functional>

#include "mig/assign.h"

namespace rightsize::mig {
namespace {

using Needs = std::vector<std::vector<std::vector<bool>>>;

// One layout of one type, slice by slice.
struct Cut {
  std::size_t type = 0;
  std::vector<std::size_t> slices;  // positions in plain_profiles()
  std::vector<int> counts;
};

// Is slice `q` of type `u` good for every kind that slice `p` of type `t` is good for?
bool as_good(const Needs& needs, std::size_t t, std::size_t p, std::size_t u, std::size_t q) {
  for (const auto& allowed : needs) {
    if (allowed[t][p] && !allowed[u][q]) return false;
  }
  return true;
}

bool useless(const Needs& needs, std::size_t t, std::size_t p) {
  for (const auto& allowed : needs) {
    if (allowed[t][p]) return false;
  }
  return true;
}

// A slice of `b` for every slice of `a`, each used once: bipartite matching by augmenting paths.
bool covers(const Needs& needs, const Cut& a, const Cut& b) {
  std::vector<int> owner(b.slices.size(), -1);
  for (std::size_t i = 0; i < a.slices.size(); ++i) {
    if (useless(needs, a.type, a.slices[i])) continue;
    std::vector<bool> tried(b.slices.size(), false);
    std::function<bool(std::size_t)> match = [&](std::size_t slice) {
      for (std::size_t k = 0; k < b.slices.size(); ++k) {
        if (tried[k] || !as_good(needs, a.type, a.slices[slice], b.type, b.slices[k])) continue;
        tried[k] = true;
        if (owner[k] >= 0 && !match(static_cast<std::size_t>(owner[k]))) continue;
        owner[k] = static_cast<int>(slice);
        return true;
      }
      return false;
    };
    if (!match(i)) return false;
  }
  return true;
}

}  // namespace

LayoutsByType useful_layouts(const Needs& needs, const std::vector<GpuType>& types) {
  const LayoutsByType all = maximal_layouts(types);
  std::vector<Cut> kept;
  for (std::size_t t = 0; t < all.size(); ++t) {
    for (const std::vector<int>& counts : all[t]) {
      Cut cut{t, {}, counts};
      for (std::size_t p = 0; p < counts.size(); ++p)
        cut.slices.insert(cut.slices.end(), static_cast<std::size_t>(counts[p]), p);
      // Of two that cover each other the one met first stays: whatever leaves is covered by something that stays.
      auto beats = [&](const Cut& b, const Cut& a) {
        return types[b.type].usd_per_hour() <= types[a.type].usd_per_hour() && covers(needs, a, b);
      };
      bool covered = false;
      for (const Cut& other : kept) covered = covered || beats(other, cut);
      if (covered) continue;
      std::erase_if(kept, [&](const Cut& other) { return beats(cut, other); });
      kept.push_back(std::move(cut));
    }
  }
  LayoutsByType layouts(types.size());
  for (Cut& cut : kept) layouts[cut.type].push_back(std::move(cut.counts));
  return layouts;
}

}  // namespace rightsize::mig
