// Places units on a given number of GPUs of each type: a depth-first search in a fixed order.
#include <algorithm>
#include <map>
#include <tuple>

#include "mig/assign.h"

namespace rightsize::mig {
namespace {

constexpr int kShare = 840;  // of a GPU: a unit in which the memory and compute slices of every type are integers

// Units that go onto one GPU together, and the least share of it they take.
struct Bundle {
  std::vector<std::size_t> units;
  int memory = 0, compute = 0;
  bool like_previous = false;  // equivalent to the bundle before it
};

struct PartlyFilled {
  std::size_t type = 0;
  std::vector<int> counts;  // by plain profile
  std::vector<int> apart;   // sorted
  std::vector<std::pair<std::size_t, std::size_t>> slots;

  auto state() const { return std::tie(type, counts, apart); }
};

class UnitSearch {
 public:
  UnitSearch(const std::vector<SliceUnit>& units, const std::vector<GpuType>& types,
             const std::vector<std::size_t>& gpus)
      : units_(units), types_(types) {
    for (std::size_t t = 0; t < types.size(); ++t) {
      const std::vector<int> none(types[t].geometry->plain_profiles().size(), 0);
      gpus_.insert(gpus_.end(), gpus[t], {t, none, {}, {}});
    }
    make_bundles();
  }

  UnitPlacement run() {
    UnitPlacement result;
    int memory = static_cast<int>(gpus_.size()) * kShare, compute = memory;
    for (const Bundle& bundle : bundles_) memory -= bundle.memory, compute -= bundle.compute;
    result.found = memory >= 0 && compute >= 0 && place(0, 0, memory, compute);
    result.exhausted = !result.found && steps_ <= kMostSteps;
    for (PartlyFilled& gpu : gpus_) {
      if (result.found && !gpu.slots.empty()) result.gpus.push_back({gpu.type, std::move(gpu.slots)});
    }
    return result;
  }

 private:
  static constexpr int kMostSteps = 20'000;

  std::pair<int, int> share_of(std::size_t type, std::size_t p) const {
    const Geometry& geometry = *types_[type].geometry;
    const catalog::MigProfile& profile = geometry.profile(geometry.plain_profiles()[p]);
    return {profile.memory_slices * kShare / geometry.memory_slices(),
            profile.compute_slices * kShare / geometry.compute_slices()};
  }

  // Large before small, those with rules before those without, and equivalent ones next to each other.
  auto rank(const Bundle& bundle) const {
    const SliceUnit& first = units_[bundle.units[0]];
    return std::tuple(std::max(bundle.memory, bundle.compute), bundle.memory + bundle.compute, bundle.units.size(),
                      first.apart, first.allowed);
  }

  void make_bundles() {
    std::map<int, std::size_t> group_bundle;
    for (std::size_t u = 0; u < units_.size(); ++u) {
      const int group = units_[u].together;
      const auto [at, fresh] =
          group < 0 ? std::pair{group_bundle.end(), true} : group_bundle.try_emplace(group, bundles_.size());
      Bundle& bundle = fresh ? bundles_.emplace_back() : bundles_[at->second];
      int memory = kShare, compute = kShare;
      for (std::size_t t = 0; t < types_.size(); ++t) {
        for (std::size_t p = 0; p < units_[u].allowed[t].size(); ++p) {
          if (!units_[u].allowed[t][p]) continue;
          memory = std::min(memory, share_of(t, p).first), compute = std::min(compute, share_of(t, p).second);
        }
      }
      bundle.units.push_back(u), bundle.memory += memory, bundle.compute += compute;
    }
    std::ranges::stable_sort(bundles_, [&](const Bundle& a, const Bundle& b) { return rank(a) > rank(b); });
    for (std::size_t j = 1; j < bundles_.size(); ++j) {
      const SliceUnit &a = units_[bundles_[j - 1].units[0]], &b = units_[bundles_[j].units[0]];
      bundles_[j].like_previous = a.together < 0 && b.together < 0 && a.allowed == b.allowed && a.apart == b.apart;
    }
  }

  // Places bundle j and all that follow. `memory` and `compute` are the amounts that remain unused when all are placed,
  // so a branch that wastes more ends immediately. Among GPUs in the same state only the first is tried, and equivalent
  // bundles are placed in order: neither rule loses an answer, and without them the tree would be factorially wider.
  bool place(std::size_t j, std::size_t previous, int memory, int compute) {
    if (j == bundles_.size()) return true;
    for (std::size_t g = bundles_[j].like_previous ? previous : 0; g < gpus_.size(); ++g) {
      if (++steps_ > kMostSteps) return false;
      const bool seen = std::any_of(gpus_.begin(), gpus_.begin() + static_cast<std::ptrdiff_t>(g),
                                    [&](const PartlyFilled& other) { return other.state() == gpus_[g].state(); });
      if (!seen && put(j, 0, g, memory, compute)) return true;
    }
    return false;
  }

  // The bundle's units from `at` on, each in its smallest slice first. `memory` and `compute` may still be wasted.
  bool put(std::size_t j, std::size_t at, std::size_t g, int memory, int compute) {
    const Bundle& bundle = bundles_[j];
    if (at == bundle.units.size()) return place(j + 1, g, memory + bundle.memory, compute + bundle.compute);
    const SliceUnit& unit = units_[bundle.units[at]];
    const PartlyFilled before = gpus_[g];
    for (int id : unit.apart) {
      if (std::ranges::binary_search(before.apart, id)) return false;
    }
    for (std::size_t p = 0; p < before.counts.size(); ++p) {
      const auto [more_memory, more_compute] = share_of(before.type, p);
      if (!unit.allowed[before.type][p] || memory + bundle.memory < more_memory ||
          compute + bundle.compute < more_compute)
        continue;
      PartlyFilled& gpu = gpus_[g];
      ++gpu.counts[p];
      if (types_[gpu.type].geometry->fits(gpu.counts)) {
        gpu.apart.insert(gpu.apart.end(), unit.apart.begin(), unit.apart.end());
        std::ranges::sort(gpu.apart);
        gpu.slots.emplace_back(p, bundle.units[at]);
        if (put(j, at + 1, g, memory - more_memory, compute - more_compute)) return true;
      }
      gpus_[g] = before;
    }
    return false;
  }

  const std::vector<SliceUnit>& units_;
  const std::vector<GpuType>& types_;
  std::vector<PartlyFilled> gpus_;
  std::vector<Bundle> bundles_;
  int steps_ = 0;
};

}  // namespace

UnitPlacement search_assignment(const std::vector<SliceUnit>& units, const std::vector<GpuType>& types,
                                const std::vector<std::size_t>& gpus_by_type) {
  constexpr std::size_t kMostUnits = 150;  // with more, this order rarely reaches the optimum in time
  if (units.size() > kMostUnits) return {};
  return UnitSearch(units, types, gpus_by_type).run();
}

}  // namespace rightsize::mig
