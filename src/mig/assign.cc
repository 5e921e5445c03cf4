#include "mig/assign.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <set>

#include "mig/transport.h"
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

using Kind = UnitKind;  // one row of the model each

// Units that may go into the same slices are counted, not told apart: a thousand replicas are one row.
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

// How many GPUs of each type and layout.
struct Counted {
  bool solved = false, out_of_time = false;
  double cost = 0, bound = 0;
  std::vector<std::vector<int>> gpus;  // [type][layout]
};

// As many units with one number must be on as many GPUs.
std::size_t largest_apart(const std::vector<Unit>& units) {
  std::map<int, std::size_t> sizes;
  std::size_t most = 0;
  for (const Unit& unit : units) {
    for (int id : unit.apart) most = std::max(most, ++sizes[id]);
  }
  return most;
}

// How many GPUs of each type and layout. Quotas may be fractions here: for whole GPUs whole ones always exist (a
// transport problem), and the search need not look for them.
class CountingModel {
 public:
  CountingModel(const std::vector<Kind>& kinds, const std::vector<GpuType>& types, const LayoutsByType& layouts,
                std::size_t least_gpus)
      : types_(types) {
    const int total = least_gpus > 1 ? model_.add_row(static_cast<double>(least_gpus), kInfinity) : -1;
    for (std::size_t t = 0; t < types.size(); ++t) {
      std::vector<int> supply;
      for (std::size_t p = 0; p < types[t].geometry->plain_profiles().size(); ++p) {
        supply.push_back(model_.add_row(-kInfinity, 0));  // taken - offered <= 0
      }
      supply_.push_back(supply);
      gpu_columns_.emplace_back();
      for (const std::vector<int>& layout : layouts[t]) {
        const int column = model_.add_column(types[t].usd_per_hour(), 0, kInfinity, true);
        gpu_columns_.back().push_back(column);
        if (total >= 0) model_.add_entry(total, column, 1);
        for (std::size_t p = 0; p < supply.size(); ++p) model_.add_entry(supply[p], column, -layout[p]);
      }
    }
    for (const Kind& kind : kinds) add_kind(kind);
  }

  // What no answer costs less than, at once. Where all GPUs have one price, a cost is a whole number of GPUs, and the
  // bound may be rounded up to one.
  double relaxed_bound() const {
    const solve::LinearSolution relaxed = solve::solve_relaxation(model_);
    if (relaxed.status != solve::Status::kOptimal) return 0;
    const double bound = relaxed.objective * (1 - 1e-9);
    const bool one_price = std::all_of(types_.begin(), types_.end(),
                                       [&](const GpuType& t) { return t.usd_per_hour() == types_[0].usd_per_hour(); });
    return one_price ? std::ceil(bound / types_[0].usd_per_hour() - 1e-6) * types_[0].usd_per_hour() : bound;
  }

  Counted solve(const Effort& effort) const {
    Counted counted;
    solve::Limits limits;
    limits.nodes = effort.nodes;
    limits.seconds = in_seconds(effort.limit);
    const solve::Solution solution = solve::solve(model_, limits);
    counted.bound = solution.bound;
    counted.out_of_time = solution.out_of_time;
    if (solution.values.empty()) return counted;
    counted.solved = true;
    counted.cost = solution.objective;
    for (const std::vector<int>& columns : gpu_columns_) {
      counted.gpus.emplace_back();
      for (int column : columns) {
        counted.gpus.back().push_back(static_cast<int>(solution.values[static_cast<std::size_t>(column)]));
      }
    }
    return counted;
  }

 private:
  void add_kind(const Kind& kind) {
    const double number = static_cast<double>(kind.units.size());
    const int placed = model_.add_row(number, number);
    for (std::size_t t = 0; t < types_.size(); ++t) {
      for (std::size_t p = 0; p < kind.allowed[t].size(); ++p) {
        if (!kind.allowed[t][p]) continue;
        const int column = model_.add_column(0, 0, number, false);
        model_.add_entry(placed, column, 1);
        model_.add_entry(supply_[t][p], column, 1);
      }
    }
  }

  const std::vector<GpuType>& types_;
  solve::Model model_;
  std::vector<std::vector<int>> supply_, gpu_columns_;
};

// [type][plain profile]: how many slices these GPUs have.
std::vector<std::vector<int>> slices_of(const std::vector<Kind>& kinds, const LayoutsByType& layouts,
                                        const Counted& counted) {
  std::vector<std::vector<int>> slices;
  for (std::size_t t = 0; t < layouts.size(); ++t) {
    slices.emplace_back(kinds[0].allowed[t].size(), 0);
    for (std::size_t l = 0; l < layouts[t].size(); ++l) {
      for (std::size_t p = 0; p < slices[t].size(); ++p) slices[t][p] += counted.gpus[t][l] * layouts[t][l][p];
    }
  }
  return slices;
}

// From counts to GPUs with names in their slices.
class Realisation {
 public:
  Realisation(const std::vector<Unit>& units, const std::vector<Kind>& kinds, const Counted& counted,
              const LayoutsByType& layouts)
      : units_(units), quota_(share_out(kinds, slices_of(kinds, layouts, counted))), kind_of_(units.size()) {
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

  // On the first GPU that takes them all; a trial that fails gives back what it took of the quotas.
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
  for (const AssignedGpu& gpu : gpus) cost += types[gpu.type].usd_per_hour();
  return cost;
}

void drop_empty(Assignment& assignment, const std::vector<GpuType>& types) {
  std::erase_if(assignment.gpus, [](const AssignedGpu& gpu) { return gpu.slots.empty(); });
  assignment.cost = cost_of(assignment.gpus, types);
}

// The numbers of GPUs decide the cost. Where a search in fixed order places all units on them, that is the answer: it
// is the same whichever of the equal answers the model gave. Else its layouts are filled.
Assignment realise(const std::vector<Unit>& units, const std::vector<Kind>& kinds, const std::vector<GpuType>& types,
                   const LayoutsByType& layouts, const Counted& counted) {
  Assignment assignment;
  std::vector<std::size_t> gpus;
  for (const std::vector<int>& of_type : counted.gpus) {
    gpus.push_back(static_cast<std::size_t>(std::accumulate(of_type.begin(), of_type.end(), 0)));
  }
  if (std::optional<std::vector<AssignedGpu>> found = assign_to(units, types, gpus)) {
    assignment.gpus = *std::move(found);
    assignment.feasible = true;
    drop_empty(assignment, types);
    return assignment;
  }
  Realisation realisation(units, kinds, counted, layouts);
  const std::vector<std::size_t> left = realisation.run();
  assignment.gpus = realisation.take();
  drop_empty(assignment, types);
  assignment.feasible = left.empty() || add_first_fit(units, types, left, assignment);
  return assignment;
}

// Where the rules cost more than the bound, the model with numbered GPUs tells whether they must.
void improve_by_numbers(Assignment& best, const std::vector<Unit>& units, const std::vector<GpuType>& types,
                        Seconds limit) {
  constexpr std::size_t kNumberedUnits = 60;
  if (units.size() > kNumberedUnits) return;
  double cheapest = kInfinity;
  for (const GpuType& type : types) cheapest = std::min(cheapest, type.usd_per_hour());
  Assignment numbered = assign_numbered(units, types, static_cast<std::size_t>(best.cost / cheapest + 1e-6), limit);
  const double bound = std::max(best.bound, numbered.bound);
  const bool out_of_time = best.out_of_time || numbered.out_of_time;
  if (numbered.feasible && numbered.cost < best.cost * (1 - 1e-9)) {
    std::vector<std::size_t> gpus(types.size(), 0);
    for (const AssignedGpu& gpu : numbered.gpus) ++gpus[gpu.type];
    if (std::optional<std::vector<AssignedGpu>> found = assign_to(units, types, gpus)) {
      numbered.gpus = *std::move(found);
    }
    best = std::move(numbered);
  }
  best.bound = std::min(bound, best.cost);
  best.out_of_time = out_of_time;
}

}  // namespace

Assignment assign(const std::vector<Unit>& units, const std::vector<GpuType>& types, const Effort& effort) {
  const std::vector<Kind> kinds = kinds_of(units);
  std::vector<Allowed> needs;
  for (const Kind& kind : kinds) needs.push_back(kind.allowed);
  const LayoutsByType layouts = useful_layouts(needs, types);
  const CountingModel model(kinds, types, layouts, largest_apart(units));
  if (effort.ceiling < kInfinity && model.relaxed_bound() >= effort.ceiling * (1 - 1e-9)) return {};
  const Counted counted = model.solve(effort);
  if (counted.solved && counted.cost >= effort.ceiling * (1 - 1e-9)) return {};
  Assignment best;
  if (counted.solved) best = realise(units, kinds, types, layouts, counted);
  if (!best.feasible) best = assign_first_fit(units, types);
  best.bound = std::min(counted.bound, best.cost);
  best.out_of_time = counted.out_of_time;
  if (best.feasible && best.cost > best.bound * (1 + 1e-9)) improve_by_numbers(best, units, types, effort.limit);
  return best;
}

}  // namespace rightsize::mig
