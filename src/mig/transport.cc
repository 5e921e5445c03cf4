#include "mig/transport.h"

#include <algorithm>

namespace rightsize::mig {
namespace {

// Kind after kind along paths that move earlier ones aside (Ford and Fulkerson, 1956).
class Transport {
 public:
  Transport(const std::vector<UnitKind>& kinds, const std::vector<std::vector<int>>& slices) {
    for (std::size_t t = 0; t < slices.size(); ++t) {
      for (std::size_t p = 0; p < slices[t].size(); ++p) {
        free_.push_back(slices[t][p]);
        sorts_.emplace_back(t, p);
      }
    }
    taken_.assign(kinds.size(), std::vector<int>(free_.size(), 0));
    for (const UnitKind& kind : kinds) {
      allowed_.emplace_back();
      for (const auto& [t, p] : sorts_) allowed_.back().push_back(kind.allowed[t][p]);
    }
    for (std::size_t k = 0; k < kinds.size(); ++k) {
      for (int left = static_cast<int>(kinds[k].units.size()); left > 0;) {
        const int moved = send(k, left);
        if (moved == 0) break;
        left -= moved;
      }
    }
  }

  // [kind][type][plain profile]
  std::vector<std::vector<std::vector<int>>> quota() const {
    std::vector<std::vector<std::vector<int>>> quota;
    for (const std::vector<int>& of_kind : taken_) {
      quota.emplace_back();
      for (std::size_t s = 0; s < sorts_.size(); ++s) {
        if (sorts_[s].first == quota.back().size()) quota.back().emplace_back();
        quota.back().back().push_back(of_kind[s]);
      }
    }
    return quota;
  }

 private:
  // The shortest way from a kind to a free slice: into a sort, out of it the kind that is there, and so on.
  int send(std::size_t kind, int most) {
    struct Step {
      std::size_t kind = 0;
      int from = -1;  // the sort that `kind` left, by the index of the step before
    };
    std::vector<Step> steps{{kind, -1}};
    std::vector<int> reached_by(free_.size(), -1), came_from(free_.size(), -1);
    std::vector<bool> seen_kind(taken_.size(), false);
    seen_kind[kind] = true;
    for (std::size_t at = 0; at < steps.size(); ++at) {
      for (std::size_t s = 0; s < free_.size(); ++s) {
        if (!allowed_[steps[at].kind][s] || reached_by[s] >= 0) continue;
        reached_by[s] = static_cast<int>(steps[at].kind);
        came_from[s] = steps[at].from;
        if (free_[s] > 0) return push(s, most, reached_by, came_from);
        for (std::size_t other = 0; other < taken_.size(); ++other) {
          if (seen_kind[other] || taken_[other][s] == 0) continue;
          seen_kind[other] = true;
          steps.push_back({other, static_cast<int>(s)});
        }
      }
    }
    return 0;
  }

  int push(std::size_t end, int most, const std::vector<int>& reached_by, const std::vector<int>& came_from) {
    most = std::min(most, free_[end]);
    for (std::size_t s = end; came_from[s] >= 0; s = static_cast<std::size_t>(came_from[s])) {
      most = std::min(most, taken_[static_cast<std::size_t>(reached_by[s])][static_cast<std::size_t>(came_from[s])]);
    }
    free_[end] -= most;
    for (int s = static_cast<int>(end); s >= 0; s = came_from[static_cast<std::size_t>(s)]) {
      const auto sort = static_cast<std::size_t>(s);
      std::vector<int>& of_kind = taken_[static_cast<std::size_t>(reached_by[sort])];
      of_kind[sort] += most;
      if (came_from[sort] >= 0) of_kind[static_cast<std::size_t>(came_from[sort])] -= most;
    }
    return most;
  }

  std::vector<int> free_;                                   // by sort of slice
  std::vector<std::pair<std::size_t, std::size_t>> sorts_;  // type and plain profile
  std::vector<std::vector<int>> taken_;                     // [kind][sort]
  std::vector<std::vector<bool>> allowed_;                  // [kind][sort]
};

}  // namespace

std::vector<std::vector<std::vector<int>>> share_out(const std::vector<UnitKind>& kinds,
                                                     const std::vector<std::vector<int>>& slices) {
  return Transport(kinds, slices).quota();
}

}  // namespace rightsize::mig
