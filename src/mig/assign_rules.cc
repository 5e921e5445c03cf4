// Assignments where `spread` and `affinity` decide: first fit, and the model with numbered GPUs.
#include <algorithm>
#include <map>
#include <set>

#include "mig/assign.h"
#include "solve/mip.h"

namespace rightsize::mig {
namespace {

using solve::kInfinity;

struct OpenGpu {
  AssignedGpu assigned;
  std::vector<int> counts;  // by plain profile
  std::set<int> apart;
  bool full = false;  // nothing more can be placed, whatever it is
};

// Which counts of plain profiles can be placed, per type; asked often.
class Feasible {
 public:
  explicit Feasible(const std::vector<GpuType>& types) {
    for (const GpuType& type : types) {
      known_.emplace_back();
      for (const Combination& combination : type.geometry->combinations()) known_.back().insert(combination.counts);
    }
  }
  bool operator()(std::size_t type, const std::vector<int>& counts) const { return known_[type].count(counts) > 0; }

 private:
  std::vector<std::set<std::vector<int>>> known_;
};

class FirstFit {
 public:
  FirstFit(const std::vector<Unit>& units, const std::vector<GpuType>& types)
      : units_(units), types_(types), feasible_(types) {}

  // Puts `chosen` onto `result`, which may hold others already. New GPUs are of `preferred` where the units fit it,
  // else of the cheapest type they fit.
  bool run(const std::vector<std::size_t>& chosen, std::size_t preferred, std::vector<AssignedGpu>& result) {
    std::map<int, std::vector<std::size_t>> groups;
    std::vector<std::vector<std::size_t>> jobs;  // units that go onto one GPU together
    for (std::size_t u : chosen) {
      if (units_[u].together >= 0) {
        groups[units_[u].together].push_back(u);
      } else {
        jobs.push_back({u});
      }
    }
    for (auto& [id, members] : groups) jobs.push_back(std::move(members));
    std::vector<int> size(jobs.size(), 0);
    for (std::size_t j = 0; j < jobs.size(); ++j) {
      for (std::size_t u : jobs[j]) size[j] += smallest_slices(u);
    }
    std::vector<std::size_t> order(jobs.size());
    for (std::size_t j = 0; j < order.size(); ++j) order[j] = j;
    // The largest first, while GPUs are still empty: small ones fill what is left.
    std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return size[a] > size[b]; });
    std::vector<OpenGpu> gpus;
    for (AssignedGpu& assigned : result) gpus.push_back(reopen(std::move(assigned)));
    result.clear();
    for (std::size_t j : order) {
      auto place =
          std::find_if(gpus.begin(), gpus.end(), [&](OpenGpu& gpu) { return !gpu.full && put(gpu, jobs[j], 0); });
      if (place == gpus.end()) {
        if (!open(gpus, jobs[j], preferred)) return false;
        place = gpus.end() - 1;
      }
      place->full = is_full(*place);
    }
    for (OpenGpu& gpu : gpus) result.push_back(std::move(gpu.assigned));
    return true;
  }

 private:
  OpenGpu reopen(AssignedGpu assigned) const {
    OpenGpu gpu{{}, std::vector<int>(types_[assigned.type].geometry->plain_profiles().size(), 0), {}, false};
    for (const auto& [profile, unit] : assigned.slots) {
      ++gpu.counts[profile];
      gpu.apart.insert(units_[unit].apart.begin(), units_[unit].apart.end());
    }
    gpu.assigned = std::move(assigned);
    gpu.full = is_full(gpu);
    return gpu;
  }

  // The smallest slice that holds the unit, in 96ths of its GPU: GPUs have eight memory slices, or four.
  int smallest_slices(std::size_t unit) const {
    int least = 1 << 20;
    for (std::size_t t = 0; t < types_.size(); ++t) {
      const Geometry& geometry = *types_[t].geometry;
      for (std::size_t p = 0; p < units_[unit].allowed[t].size(); ++p) {
        if (!units_[unit].allowed[t][p]) continue;
        const int slices = geometry.profile(geometry.plain_profiles()[p]).memory_slices;
        least = std::min(least, slices * 96 / geometry.memory_slices());
      }
    }
    return least;
  }

  bool is_full(const OpenGpu& gpu) const {
    std::vector<int> counts = gpu.counts;
    for (int& count : counts) {
      ++count;
      if (feasible_(gpu.assigned.type, counts)) return false;
      --count;
    }
    return true;
  }

  // All of them or none; tries the slices of each in turn.
  bool put(OpenGpu& gpu, const std::vector<std::size_t>& job, std::size_t at) {
    if (at == job.size()) return true;
    const Unit& unit = units_[job[at]];
    for (int id : unit.apart) {
      if (gpu.apart.count(id) > 0) return false;
    }
    const std::size_t t = gpu.assigned.type;
    for (std::size_t p = 0; p < unit.allowed[t].size(); ++p) {
      if (!unit.allowed[t][p]) continue;
      ++gpu.counts[p];
      if (feasible_(t, gpu.counts)) {
        gpu.assigned.slots.emplace_back(p, job[at]);
        const std::set<int> kept = gpu.apart;
        gpu.apart.insert(unit.apart.begin(), unit.apart.end());
        if (put(gpu, job, at + 1)) return true;
        gpu.assigned.slots.pop_back();
        gpu.apart = kept;
      }
      --gpu.counts[p];
    }
    return false;
  }

  bool open(std::vector<OpenGpu>& gpus, const std::vector<std::size_t>& job, std::size_t preferred) {
    std::vector<std::size_t> order{preferred};
    std::vector<std::size_t> by_price;
    for (std::size_t t = 0; t < types_.size(); ++t) by_price.push_back(t);
    std::stable_sort(by_price.begin(), by_price.end(),
                     [&](std::size_t a, std::size_t b) { return types_[a].usd_per_hour() < types_[b].usd_per_hour(); });
    order.insert(order.end(), by_price.begin(), by_price.end());
    for (std::size_t t : order) {
      OpenGpu gpu{{t, {}}, std::vector<int>(types_[t].geometry->plain_profiles().size(), 0), {}, false};
      if (!put(gpu, job, 0)) continue;
      gpus.push_back(std::move(gpu));
      return true;
    }
    return false;
  }

  const std::vector<Unit>& units_;
  const std::vector<GpuType>& types_;
  Feasible feasible_;
};

// The model with numbered GPUs: what each is, and which units are on it in which sort of slice.
class NumberedModel {
 public:
  NumberedModel(const std::vector<Unit>& units, const std::vector<GpuType>& types, std::size_t gpus)
      : units_(units), types_(types), layouts_(maximal_layouts(types)) {
    placed_.resize(units.size());
    for (int& row : placed_) row = model_.add_row(1, 1);
    int previous = -1;
    for (std::size_t g = 0; g < gpus; ++g) previous = add_gpu(previous);
    keep_together();
  }

  static std::size_t columns(const std::vector<Unit>& units, const std::vector<GpuType>& types, std::size_t gpus) {
    std::size_t each = 0;
    constexpr std::size_t kMostLayouts = 28;  // maximal ones of a GPU
    for (const GpuType& type : types) each += kMostLayouts + units.size() * type.geometry->plain_profiles().size();
    return each * gpus;
  }

  Assignment solve(Seconds limit) const {
    solve::Limits limits;
    limits.nodes = kMostNodes;
    limits.seconds = in_seconds(limit);
    const solve::Solution solution = solve::solve(model_, limits);
    Assignment assignment;
    assignment.bound = solution.bound;
    assignment.out_of_time = solution.out_of_time;
    if (solution.values.empty()) return assignment;
    assignment.feasible = true;
    for (const Numbered& gpu : gpus_) {
      AssignedGpu assigned;
      for (const Choice& choice : gpu.choices) {
        if (solution.values[static_cast<std::size_t>(choice.column)] < 0.5) continue;
        assigned.type = choice.type;
        assigned.slots.emplace_back(choice.profile, choice.unit);
      }
      if (assigned.slots.empty()) continue;
      assignment.cost += types_[assigned.type].usd_per_hour();
      assignment.gpus.push_back(std::move(assigned));
    }
    return assignment;
  }

 private:
  static constexpr int kMostNodes = 1'000;

  struct Choice {
    std::size_t unit, type, profile;
    int column;
  };
  struct Numbered {
    std::vector<Choice> choices;
  };

  // Numbers mean nothing, so a GPU costs at least as much as the next one: of answers that differ only in their
  // numbers, few are left.
  int add_gpu(int previous) {
    gpus_.emplace_back();
    const int one_layout = model_.add_row(-kInfinity, 1);
    const int dearer = model_.add_row(0, kInfinity);  // next: cost of this one minus cost of the next
    for (std::size_t t = 0; t < types_.size(); ++t) {
      std::vector<int> supply(types_[t].geometry->plain_profiles().size());
      for (int& row : supply) row = model_.add_row(-kInfinity, 0);
      for (const std::vector<int>& layout : layouts_[t]) {
        const int column = model_.add_column(types_[t].usd_per_hour(), 0, 1, true);
        model_.add_entry(one_layout, column, 1);
        model_.add_entry(dearer, column, types_[t].usd_per_hour());
        if (previous >= 0) model_.add_entry(previous, column, -types_[t].usd_per_hour());
        for (std::size_t p = 0; p < supply.size(); ++p) model_.add_entry(supply[p], column, -layout[p]);
      }
      add_units(t, supply);
    }
    keep_apart();
    return dearer;
  }

  void add_units(std::size_t type, const std::vector<int>& supply) {
    for (std::size_t u = 0; u < units_.size(); ++u) {
      for (std::size_t p = 0; p < supply.size(); ++p) {
        if (!units_[u].allowed[type][p]) continue;
        const int column = model_.add_column(0, 0, 1, true);
        model_.add_entry(placed_[u], column, 1);
        model_.add_entry(supply[p], column, 1);
        gpus_.back().choices.push_back({u, type, p, column});
      }
    }
  }

  // On one GPU at most one unit of every number.
  void keep_apart() {
    std::map<int, int> rows;
    for (const Choice& choice : gpus_.back().choices) {
      for (int id : units_[choice.unit].apart) {
        if (rows.count(id) == 0) rows[id] = model_.add_row(-kInfinity, 1);
        model_.add_entry(rows[id], choice.column, 1);
      }
    }
  }

  // On every GPU as many of the group's first unit (0 or 1) as of each other one.
  void keep_together() {
    std::map<int, std::size_t> first;  // of every group: the unit the others follow
    for (std::size_t u = 0; u < units_.size(); ++u) {
      const int group = units_[u].together;
      if (group < 0 || first.try_emplace(group, u).second) continue;
      for (const Numbered& gpu : gpus_) {
        const int same = model_.add_row(0, 0);
        for (const Choice& choice : gpu.choices) {
          if (choice.unit == u) model_.add_entry(same, choice.column, 1);
          if (choice.unit == first[group]) model_.add_entry(same, choice.column, -1);
        }
      }
    }
  }

  const std::vector<Unit>& units_;
  const std::vector<GpuType>& types_;
  std::vector<std::vector<std::vector<int>>> layouts_;
  solve::Model model_;
  std::vector<int> placed_;
  std::vector<Numbered> gpus_;
};

}  // namespace

bool add_first_fit(const std::vector<Unit>& units, const std::vector<GpuType>& types,
                   const std::vector<std::size_t>& left, Assignment& assignment) {
  FirstFit first_fit(units, types);
  bool found = false;
  const std::vector<AssignedGpu> before = assignment.gpus;
  for (std::size_t t = 0; t < types.size(); ++t) {
    std::vector<AssignedGpu> gpus = before;
    if (!first_fit.run(left, t, gpus)) continue;
    double cost = 0;
    for (const AssignedGpu& gpu : gpus) cost += types[gpu.type].usd_per_hour();
    if (found && cost >= assignment.cost) continue;
    found = true;
    assignment.cost = cost;
    assignment.gpus = std::move(gpus);
  }
  return found;
}

Assignment assign_first_fit(const std::vector<Unit>& units, const std::vector<GpuType>& types) {
  Assignment assignment;
  std::vector<std::size_t> all(units.size());
  for (std::size_t u = 0; u < all.size(); ++u) all[u] = u;
  assignment.feasible = add_first_fit(units, types, all, assignment);
  return assignment;
}

Assignment assign_numbered(const std::vector<Unit>& units, const std::vector<GpuType>& types, std::size_t most_gpus,
                           Seconds limit) {
  constexpr std::size_t kMostColumns = 20'000;  // beyond, CBC proves nothing in the time given
  if (most_gpus == 0 || NumberedModel::columns(units, types, most_gpus) > kMostColumns) return {};
  return NumberedModel(units, types, most_gpus).solve(limit);
}

}  // namespace rightsize::mig
