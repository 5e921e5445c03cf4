#include "mig/assign.h"

#include <algorithm>
#include <map>
#include <set>

#include "solve/mip.h"

namespace rightsize::mig {

using solve::kInfinity;
using Allowed = std::vector<std::vector<bool>>;

LayoutsByType maximal_layouts(const std::vector<GpuType>& types) {
  LayoutsByType layouts;
  for (const GpuType& type : types) {
    layouts.emplace_back();
    for (const Combination& combination : type.geometry->combinations()) {
      if (combination.maximal) layouts.back().push_back(combination.counts);
    }
  }
  return layouts;
}

namespace {

// Units that may go into the same slices: one row of the model each.
struct Kind {
  Allowed allowed;
  std::vector<std::size_t> units;
};

std::vector<Kind> kinds_of(const std::vector<Unit>& units) {
  std::map<Allowed, std::size_t> seen;
  std::vector<Kind> kinds;
  for (std::size_t u = 0; u < units.size(); ++u) {
    const auto [at, fresh] = seen.try_emplace(units[u].allowed, kinds.size());
    if (fresh) kinds.push_back({units[u].allowed, {}});
    kinds[at->second].units.push_back(u);
  }
  return kinds;
}

// How many GPUs of each type and layout, and how many of each kind in each sort of slice.
struct Counted {
  bool solved = false;
  double cost = 0, bound = 0;
  std::vector<std::vector<int>> gpus;                // [type][layout]
  std::vector<std::vector<std::vector<int>>> quota;  // [kind][type][plain profile]
};

std::size_t largest_apart(const std::vector<Unit>& units) {
  std::map<int, std::size_t> sizes;
  std::size_t most = 0;
  for (const Unit& unit : units) {
    for (int id : unit.apart) most = std::max(most, ++sizes[id]);
  }
  return most;
}

// With `fixed` GPUs, which kind goes where in whole numbers; without, the GPUs, and quotas that may be fractions: for
// whole GPUs a whole quota always exists (a transport problem), and the search need not look for it.
class CountingModel {
 public:
  CountingModel(const std::vector<Kind>& kinds, const std::vector<GpuType>& types, const LayoutsByType& layouts,
                std::size_t least_gpus, const std::vector<std::vector<int>>* fixed)
      : types_(types), whole_quota_(fixed != nullptr) {
    const int total = least_gpus > 1 ? model_.add_row(static_cast<double>(least_gpus), kInfinity) : -1;
    for (std::size_t t = 0; t < types.size(); ++t) {
      std::vector<int> supply;
      for (std::size_t p = 0; p < types[t].geometry->plain_profiles().size(); ++p) {
        supply.push_back(model_.add_row(-kInfinity, 0));  // taken - offered <= 0
      }
      supply_.push_back(supply);
      gpu_columns_.emplace_back();
      for (std::size_t l = 0; l < layouts[t].size(); ++l) {
        const std::vector<int>& layout = layouts[t][l];
        const double least = fixed != nullptr ? (*fixed)[t][l] : 0, most = fixed != nullptr ? least : kInfinity;
        const int column = model_.add_column(types[t].usd_per_hour, least, most, true);
        gpu_columns_.back().push_back(column);
        if (total >= 0) model_.add_entry(total, column, 1);
        for (std::size_t p = 0; p < supply.size(); ++p) model_.add_entry(supply[p], column, -layout[p]);
      }
    }
    for (const Kind& kind : kinds) add_kind(kind);
  }

  Counted solve(double seconds) const {
    Counted counted;
    solve::Limits limits;
    limits.seconds = seconds;
    const solve::Solution solution = solve::solve(model_, limits);
    counted.bound = solution.bound;
    if (solution.values.empty()) return counted;
    counted.solved = true;
    counted.cost = solution.objective;
    auto whole = [&](int column) { return static_cast<int>(solution.values[static_cast<std::size_t>(column)]); };
    for (const std::vector<int>& columns : gpu_columns_) {
      counted.gpus.emplace_back();
      for (int column : columns) counted.gpus.back().push_back(whole(column));
    }
    for (const auto& by_type : quota_columns_) {
      counted.quota.emplace_back();
      for (const std::vector<int>& columns : by_type) {
        counted.quota.back().emplace_back();
        for (int column : columns) counted.quota.back().back().push_back(column < 0 ? 0 : whole(column));
      }
    }
    return counted;
  }

 private:
  void add_kind(const Kind& kind) {
    const double number = static_cast<double>(kind.units.size());
    const int placed = model_.add_row(number, number);
    quota_columns_.emplace_back();
    for (std::size_t t = 0; t < types_.size(); ++t) {
      quota_columns_.back().emplace_back();
      for (std::size_t p = 0; p < kind.allowed[t].size(); ++p) {
        int column = -1;
        if (kind.allowed[t][p]) {
          column = model_.add_column(0, 0, number, whole_quota_);
          model_.add_entry(placed, column, 1);
          model_.add_entry(supply_[t][p], column, 1);
        }
        quota_columns_.back().back().push_back(column);
      }
    }
  }

  const std::vector<GpuType>& types_;
  bool whole_quota_ = false;
  solve::Model model_;
  std::vector<std::vector<int>> supply_, gpu_columns_;
  std::vector<std::vector<std::vector<int>>> quota_columns_;
};

Counted count(const std::vector<Kind>& kinds, const std::vector<GpuType>& types, const LayoutsByType& layouts,
              std::size_t least_gpus, double seconds) {
  const Counted gpus = CountingModel(kinds, types, layouts, least_gpus, nullptr).solve(seconds);
  if (!gpus.solved) return gpus;
  Counted counted = CountingModel(kinds, types, layouts, least_gpus, &gpus.gpus).solve(seconds);
  counted.bound = gpus.bound;
  return counted;
}

// From counts to GPUs with names in their slices.
class Realisation {
 public:
  Realisation(const std::vector<Unit>& units, const std::vector<Kind>& kinds, const Counted& counted,
              const LayoutsByType& layouts)
      : units_(units), quota_(counted.quota), kind_of_(units.size()) {
    for (std::size_t k = 0; k < kinds.size(); ++k) {
      for (std::size_t u : kinds[k].units) kind_of_[u] = k;
    }
    for (std::size_t t = 0; t < layouts.size(); ++t) {
      for (std::size_t l = 0; l < layouts[t].size(); ++l) {
        for (int n = 0; n < counted.gpus[t][l]; ++n) gpus_.push_back({{t, {}}, layouts[t][l], {}});
      }
    }
  }

  // Groups first, then workloads with the most replicas to keep apart, then the rest. Gives the units whose rule could
  // not be met with these GPUs this way.
  std::vector<std::size_t> run() {
    std::vector<std::size_t> left;
    std::map<int, std::vector<std::size_t>> groups;
    std::map<int, std::size_t> apart_sizes;
    for (std::size_t u = 0; u < units_.size(); ++u) {
      if (units_[u].together >= 0) groups[units_[u].together].push_back(u);
      for (int id : units_[u].apart) ++apart_sizes[id];
    }
    for (const auto& [id, members] : groups) {
      if (!place_group(members)) left.insert(left.end(), members.begin(), members.end());
    }
    std::vector<std::size_t> rest;
    for (std::size_t u = 0; u < units_.size(); ++u) {
      if (units_[u].together < 0) rest.push_back(u);
    }
    auto hardness = [&](std::size_t u) {
      std::size_t most = 0;
      for (int id : units_[u].apart) most = std::max(most, apart_sizes[id]);
      return most;
    };
    std::stable_sort(rest.begin(), rest.end(), [&](std::size_t a, std::size_t b) { return hardness(a) > hardness(b); });
    for (std::size_t u : rest) {
      if (!place_one(u)) left.push_back(u);
    }
    return left;
  }

  std::vector<AssignedGpu> take() {
    std::vector<AssignedGpu> gpus;
    for (OpenGpu& gpu : gpus_) gpus.push_back(std::move(gpu.assigned));
    return gpus;
  }

 private:
  struct OpenGpu {
    AssignedGpu assigned;
    std::vector<int> free;  // by plain profile
    std::set<int> apart;
  };

  int& quota(std::size_t unit, std::size_t type, std::size_t p) { return quota_[kind_of_[unit]][type][p]; }

  bool clashes(const OpenGpu& gpu, std::size_t unit) const {
    return std::any_of(units_[unit].apart.begin(), units_[unit].apart.end(),
                       [&](int id) { return gpu.apart.count(id) > 0; });
  }

  // The slice of this GPU the unit takes, or -1.
  int slot_for(const OpenGpu& gpu, std::size_t unit) {
    if (clashes(gpu, unit)) return -1;
    for (std::size_t p = 0; p < gpu.free.size(); ++p) {
      if (gpu.free[p] > 0 && quota(unit, gpu.assigned.type, p) > 0) return static_cast<int>(p);
    }
    return -1;
  }

  void put(OpenGpu& gpu, std::size_t unit, std::size_t p) {
    --gpu.free[p];
    --quota(unit, gpu.assigned.type, p);
    gpu.assigned.slots.emplace_back(p, unit);
    gpu.apart.insert(units_[unit].apart.begin(), units_[unit].apart.end());
  }

  // Units without rules fill GPU after GPU (`first_open_` skips the full ones); those to be kept apart go where most
  // is free, which keeps the others' choices even.
  bool place_one(std::size_t unit) {
    const bool bound = !units_[unit].apart.empty();
    OpenGpu* best = nullptr;
    int best_slot = -1, best_free = -1;
    while (first_open_ < gpus_.size() && free_slots(gpus_[first_open_]) == 0) ++first_open_;
    for (std::size_t g = first_open_; g < gpus_.size(); ++g) {
      const int slot = slot_for(gpus_[g], unit);
      if (slot < 0) continue;
      const int free = free_slots(gpus_[g]);
      if (free > best_free) best = &gpus_[g], best_slot = slot, best_free = free;
      if (!bound) break;
    }
    if (best == nullptr) return false;
    put(*best, unit, static_cast<std::size_t>(best_slot));
    return true;
  }
  static int free_slots(const OpenGpu& gpu) {
    int sum = 0;
    for (int free : gpu.free) sum += free;
    return sum;
  }

  bool place_group(const std::vector<std::size_t>& members) {
    for (OpenGpu& gpu : gpus_) {
      OpenGpu trial = gpu;
      const auto kept = quota_;
      bool all = true;
      for (std::size_t unit : members) {
        const int slot = slot_for(trial, unit);
        if (slot < 0) {
          all = false;
          break;
        }
        put(trial, unit, static_cast<std::size_t>(slot));
      }
      if (all) {
        gpu = std::move(trial);
        return true;
      }
      quota_ = kept;
    }
    return false;
  }

  const std::vector<Unit>& units_;
  std::vector<std::vector<std::vector<int>>> quota_;
  std::vector<std::size_t> kind_of_;
  std::vector<OpenGpu> gpus_;
  std::size_t first_open_ = 0;
};

double cost_of(const std::vector<AssignedGpu>& gpus, const std::vector<GpuType>& types) {
  double cost = 0;
  for (const AssignedGpu& gpu : gpus) cost += types[gpu.type].usd_per_hour;
  return cost;
}

void drop_empty(Assignment& assignment, const std::vector<GpuType>& types) {
  std::erase_if(assignment.gpus, [](const AssignedGpu& gpu) { return gpu.slots.empty(); });
  assignment.cost = cost_of(assignment.gpus, types);
}

}  // namespace

Assignment assign(const std::vector<Unit>& units, const std::vector<GpuType>& types, double seconds) {
  const std::vector<Kind> kinds = kinds_of(units);
  std::vector<Allowed> needs;
  for (const Kind& kind : kinds) needs.push_back(kind.allowed);
  const LayoutsByType layouts = useful_layouts(needs, types);
  const Counted counted = count(kinds, types, layouts, largest_apart(units), seconds);
  Assignment best;
  if (counted.solved) {
    Realisation realisation(units, kinds, counted, layouts);
    const std::vector<std::size_t> left = realisation.run();
    best.gpus = realisation.take();
    drop_empty(best, types);
    best.feasible = left.empty() || add_first_fit(units, types, left, best);
  }
  if (!best.feasible) best = assign_first_fit(units, types);
  best.bound = std::min(counted.bound, best.cost);
  constexpr std::size_t kNumberedUnits = 60;
  if (best.feasible && best.cost > best.bound * (1 + 1e-9) && units.size() <= kNumberedUnits) {
    double cheapest = kInfinity;
    for (const GpuType& type : types) cheapest = std::min(cheapest, type.usd_per_hour);
    const Assignment numbered =
        assign_numbered(units, types, static_cast<std::size_t>(best.cost / cheapest + 1e-6), seconds);
    const double bound = std::max(best.bound, numbered.bound);
    if (numbered.feasible && numbered.cost < best.cost) best = numbered;
    best.bound = std::min(bound, best.cost);
  }
  return best;
}

}  // namespace rightsize::mig
