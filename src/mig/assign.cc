#include "mig/assign.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <set>

namespace rightsize::mig {
namespace {

// Units that may go into the same slices form one row of the model, with their number as a count.
std::vector<UnitKind> kinds_of(const std::vector<SliceUnit>& units) {
  std::map<Allowed, std::size_t> seen;
  std::vector<UnitKind> kinds;
  for (std::size_t u = 0; u < units.size(); ++u) {
    const auto [at, fresh] = seen.try_emplace(units[u].allowed, kinds.size());
    if (fresh) kinds.push_back({units[u].allowed, {}});
    kinds[at->second].units.push_back(u);
  }
  return kinds;
}

// How many units have each `apart` number; they need as many GPUs.
std::map<int, std::size_t> apart_sizes(const std::vector<SliceUnit>& units) {
  std::map<int, std::size_t> sizes;
  for (const SliceUnit& unit : units) {
    for (int id : unit.apart) ++sizes[id];
  }
  return sizes;
}

struct OpenGpu {
  AssignedGpu assigned;
  std::vector<int> counts;  // slices in use, by plain profile
  std::vector<int> layout;  // its slices; empty: any that fit
  std::set<int> apart = {};
  bool full = false;

  // The free slices of a layout.
  std::size_t free_slices() const {
    return static_cast<std::size_t>(std::accumulate(layout.begin(), layout.end(), 0)) - assigned.slots.size();
  }
};

// Fills GPUs: first the layouts that the exact model chose, then first fit for the rest.
class Filling {
 public:
  Filling(const std::vector<SliceUnit>& units, const std::vector<GpuType>& types) : units_(units), types_(types) {}

  // Fills these GPUs as the model chose, within the rules. Returns the units that could not be placed.
  std::vector<std::size_t> fill_layouts(const std::vector<UnitKind>& kinds, const LayoutsByType& layouts,
                                        const GpuCounts& counts,
                                        std::vector<std::vector<std::vector<int>>> slices_taken) {
    quota_ = std::move(slices_taken);
    kind_of_.resize(units_.size());
    for (std::size_t k = 0; k < kinds.size(); ++k) {
      for (std::size_t u : kinds[k].units) kind_of_[u] = k;
    }
    for (std::size_t t = 0; t < layouts.size(); ++t) {
      for (std::size_t l = 0; l < layouts[t].size(); ++l) {
        const std::size_t number = static_cast<std::size_t>(counts.gpus[t][l]);
        gpus_.insert(gpus_.end(), number, {{t, {}}, std::vector<int>(layouts[t][l].size(), 0), layouts[t][l]});
      }
    }
    // Groups first, then workloads with the most replicas to keep apart, then the rest.
    const std::map<int, std::size_t> sizes = apart_sizes(units_);
    const auto hardness = [&](const Job& job) {
      std::size_t most = units_[job[0]].together >= 0 ? units_.size() + 1 : 0;
      for (int id : units_[job[0]].apart) most = std::max(most, sizes.at(id));
      return most;
    };
    std::vector<std::size_t> left;
    for (const Job& job : jobs_of(all_units(), hardness)) {
      if (!place(job)) left.insert(left.end(), job.begin(), job.end());
    }
    for (OpenGpu& gpu : gpus_) gpu.layout.clear();
    std::erase_if(gpus_, [](const OpenGpu& gpu) { return gpu.assigned.slots.empty(); });
    for (OpenGpu& gpu : gpus_) update_full(gpu);
    return left;
  }

  // Adds these units by first fit, largest first. New GPUs are of the preferred type if the units fit it, otherwise of
  // the cheapest type they fit; the best preference wins. False if a group fits no GPU together.
  bool first_fit(const std::vector<std::size_t>& chosen) {
    const std::vector<Job> jobs = jobs_of(chosen, [&](const Job& job) {
      int size = 0;
      for (std::size_t u : job) size += smallest_slice(u);
      return size;
    });
    const std::vector<OpenGpu> before = gpus_;
    std::vector<OpenGpu> best;
    for (std::size_t preferred = 0; preferred < types_.size(); ++preferred) {
      gpus_ = before;
      first_open_ = 0;
      const bool all =
          std::ranges::all_of(jobs, [&](const Job& job) { return place(job) || open_gpu(job, preferred); });
      if (!all) return false;
      if (best.empty() || cost_of(gpus_) < cost_of(best)) best = gpus_;
    }
    gpus_ = std::move(best);
    return true;
  }

  std::vector<std::size_t> all_units() const {
    std::vector<std::size_t> all(units_.size());
    std::iota(all.begin(), all.end(), std::size_t{0});
    return all;
  }

  Assignment take() {
    Assignment assignment;
    assignment.feasible = true;
    assignment.cost = cost_of(gpus_);
    for (OpenGpu& gpu : gpus_) assignment.gpus.push_back(std::move(gpu.assigned));
    return assignment;
  }

 private:
  using Job = std::vector<std::size_t>;  // units that go onto one GPU together

  template <class Key>
  std::vector<Job> jobs_of(const std::vector<std::size_t>& chosen, const Key& largest_first) const {
    std::map<int, Job> groups;
    std::vector<std::pair<decltype(largest_first(Job{})), Job>> jobs;
    for (std::size_t u : chosen) {
      if (units_[u].together >= 0)
        groups[units_[u].together].push_back(u);
      else
        jobs.push_back({largest_first({u}), {u}});
    }
    for (auto& [id, members] : groups) jobs.push_back({largest_first(members), std::move(members)});
    std::ranges::stable_sort(jobs, std::ranges::greater(), &std::pair<decltype(largest_first(Job{})), Job>::first);
    std::vector<Job> ordered;
    for (auto& [key, job] : jobs) ordered.push_back(std::move(job));
    return ordered;
  }

  double cost_of(const std::vector<OpenGpu>& gpus) const {
    double cost = 0;
    for (const OpenGpu& gpu : gpus) cost += types_[gpu.assigned.type].usd_per_hour();
    return cost;
  }

  // The smallest slice that holds the unit, in 96ths of its GPU: GPUs have eight memory slices, or four.
  int smallest_slice(std::size_t unit) const {
    int least = 1 << 20;
    for (std::size_t t = 0; t < types_.size(); ++t) {
      const Geometry& geometry = *types_[t].geometry;
      for (std::size_t p = 0; p < units_[unit].allowed[t].size(); ++p) {
        const int slices = geometry.profile(geometry.plain_profiles()[p]).memory_slices;
        if (units_[unit].allowed[t][p]) least = std::min(least, slices * 96 / geometry.memory_slices());
      }
    }
    return least;
  }

  bool has_slice(OpenGpu& gpu, std::size_t p) const {
    if (!gpu.layout.empty()) return gpu.counts[p] < gpu.layout[p];
    ++gpu.counts[p];
    const bool fits = types_[gpu.assigned.type].geometry->fits(gpu.counts);
    --gpu.counts[p];
    return fits;
  }

  int& quota(std::size_t unit, const OpenGpu& gpu, std::size_t p) {
    return quota_[kind_of_[unit]][gpu.assigned.type][p];
  }

  // The first slice from `p` on that the unit may take there; the number of slices if there is none.
  std::size_t next_slice(OpenGpu& gpu, std::size_t unit, std::size_t p) {
    const std::vector<int>& apart = units_[unit].apart;
    const std::vector<bool>& allowed = units_[unit].allowed[gpu.assigned.type];
    if (std::ranges::any_of(apart, [&](int id) { return gpu.apart.contains(id); })) return allowed.size();
    while (p < allowed.size() && !(allowed[p] && (gpu.layout.empty() || quota(unit, gpu, p) > 0) && has_slice(gpu, p)))
      ++p;
    return p;
  }

  // All units of the job or none; tries the slices of each in turn.
  bool put(OpenGpu& gpu, const Job& job, std::size_t at) {
    if (at == job.size()) return true;
    const SliceUnit& unit = units_[job[at]];
    const bool counted = !gpu.layout.empty();
    for (std::size_t p = 0; (p = next_slice(gpu, job[at], p)) < gpu.counts.size(); ++p) {
      const std::set<int> kept = gpu.apart;
      ++gpu.counts[p];
      if (counted) --quota(job[at], gpu, p);
      gpu.assigned.slots.emplace_back(p, job[at]);
      gpu.apart.insert(unit.apart.begin(), unit.apart.end());
      if (put(gpu, job, at + 1)) return true;
      --gpu.counts[p];
      if (counted) ++quota(job[at], gpu, p);
      gpu.assigned.slots.pop_back();
      gpu.apart = kept;
    }
    return false;
  }

  // Units without rules fill GPU after GPU. In fixed layouts, units that must be kept apart go to the GPU with the most
  // free slices, which keeps the choices of the others even.
  bool place(const Job& job) {
    while (first_open_ < gpus_.size() && gpus_[first_open_].full) ++first_open_;
    OpenGpu* freest = nullptr;
    for (std::size_t g = first_open_; g < gpus_.size(); ++g) {
      OpenGpu& gpu = gpus_[g];
      if (gpu.full) continue;
      if (units_[job[0]].apart.empty() || gpu.layout.empty()) {
        if (put(gpu, job, 0)) return update_full(gpu);
      } else if ((freest == nullptr || gpu.free_slices() > freest->free_slices()) &&
                 next_slice(gpu, job[0], 0) < gpu.counts.size()) {
        freest = &gpu;
      }
    }
    return freest != nullptr && put(*freest, job, 0) && update_full(*freest);
  }

  bool update_full(OpenGpu& gpu) const {
    gpu.full = true;
    for (std::size_t p = 0; p < gpu.counts.size() && gpu.full; ++p) gpu.full = !has_slice(gpu, p);
    return true;
  }

  bool open_gpu(const Job& job, std::size_t preferred) {
    std::vector<std::size_t> order;
    for (std::size_t t = 0; t < types_.size(); ++t) order.push_back(t);
    std::ranges::stable_sort(
        order, [&](std::size_t a, std::size_t b) { return types_[a].usd_per_hour() < types_[b].usd_per_hour(); });
    order.insert(order.begin(), preferred);
    for (std::size_t t : order) {
      OpenGpu gpu{{t, {}}, std::vector<int>(types_[t].geometry->plain_profiles().size(), 0), {}};
      if (!put(gpu, job, 0)) continue;
      update_full(gpu);
      gpus_.push_back(std::move(gpu));
      return true;
    }
    return false;
  }

  const std::vector<SliceUnit>& units_;
  const std::vector<GpuType>& types_;
  std::vector<std::vector<std::vector<int>>> quota_;  // [kind][type][plain profile]: numbers chosen by the model
  std::vector<std::size_t> kind_of_;
  std::vector<OpenGpu> gpus_;
  std::size_t first_open_ = 0;
};

}  // namespace

Assignment assign_first_fit(const std::vector<SliceUnit>& units, const std::vector<GpuType>& types) {
  Filling filling(units, types);
  return filling.first_fit(filling.all_units()) ? filling.take() : Assignment{};
}

Result<Assignment> assign(const std::vector<SliceUnit>& units, const std::vector<GpuType>& types,
                          const SolverEffort& effort) {
  const std::vector<UnitKind> kinds = kinds_of(units);
  const LayoutsByType layouts = useful_layouts(kinds, types);
  std::size_t least_gpus = 1;
  for (const auto& [id, size] : apart_sizes(units)) least_gpus = std::max(least_gpus, size);
  SliceModel model(types, layouts, least_gpus);
  for (const UnitKind& kind : kinds) model.add_units(kind.allowed, kind.units.size());
  const auto too_expensive = [&](double cost) { return cost >= effort.ceiling * (1 - 1e-9); };
  if (effort.ceiling < std::numeric_limits<double>::infinity()) {
    RIGHTSIZE_TRY(const double least, model.relaxed_bound());
    if (too_expensive(least)) return Assignment{};
  }
  Assignment best;
  double bound = 0;
  bool out_of_time = false;
  constexpr int kMostRounds = 30;
  for (int round = 0; round < kMostRounds; ++round) {
    RIGHTSIZE_TRY(const GpuCounts counts, model.solve(effort));
    bound = std::max(bound, counts.bound);
    out_of_time = out_of_time || counts.out_of_time;
    if (counts.solved && too_expensive(counts.cost)) return Assignment{};
    if (!counts.solved || (best.feasible && counts.cost >= best.cost * (1 - 1e-9))) break;
    UnitPlacement searched = search_assignment(units, types, counts.by_type());
    if (searched.found) {
      best = {true, std::move(searched.gpus), 0, 0, false};
      for (const AssignedGpu& gpu : best.gpus) best.cost += types[gpu.type].usd_per_hour();
      break;
    }
    if (!best.feasible) {
      RIGHTSIZE_TRY(auto taken, model.slices_taken(counts));
      Filling filling(units, types);
      if (!filling.first_fit(filling.fill_layouts(kinds, layouts, counts, std::move(taken)))) return Assignment{};
      best = filling.take();
    }
    if (!searched.exhausted || !counts.proved) break;
    model.exclude(counts.by_type());
  }
  if (!best.feasible) best = assign_first_fit(units, types);
  best.bound = std::min(bound, best.cost);
  best.out_of_time = out_of_time;
  return best;
}

}  // namespace rightsize::mig
