#include "mig/plan.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include <fmt/format.h>

#include "base/format.h"
#include "mig/assign.h"
#include "solve/mip.h"
#include "solve/packing.h"

namespace rightsize::mig {

using catalog::Catalog;
using catalog::Gpu;

std::optional<GpuType> priced_type(const market::PriceBook& prices, const Gpu& gpu, catalog::Purchase purchase) {
  const auto quote = prices.gpu(gpu, purchase);
  if (!quote) return std::nullopt;
  return GpuType{&gpu, Geometry::of(prices.catalog(), gpu), quote->rate, quote->source()};
}

namespace {

constexpr std::size_t kMany = 1000;  // replicas: beyond, an optimum is worth less than the time to prove it
constexpr int kNodes = 2'000;
constexpr double kNoCeiling = std::numeric_limits<double>::infinity();
constexpr int kSharingNodes = 50;  // many sorts of slice are tried, and one bound holds for all

class Planner {
 public:
  Planner(const WorkloadFile& file, const std::vector<GpuType>& types, const perf::SpeedTable& speeds,
          const PlanOptions& options)
      : file_(file), types_(types), speeds_(speeds), options_(options) {
    for (const Workload& workload : file.workloads) {
      allowed_.push_back(allowed_for(workload));
      needs_.emplace_back();
      for (const GpuType& type : types) needs_.back().push_back(need_on(workload, *type.gpu, speeds));
    }
  }

  SlicePlan run() {
    SlicePlan plan;
    plan.unplaceable = unplaceable();
    if (!plan.unplaceable.empty() || file_.workloads.empty()) return plan;
    number_groups();
    const std::vector<Unit> units = exclusive_units();
    Assignment best = assign(units, types_, {nodes(kNodes), options_.limit, kNoCeiling});
    std::vector<Unit> best_units = units;
    if (options_.share && anyone_shares()) improve_by_sharing(best, best_units);
    if (!best.feasible) {
      explain_group(plan);
      return plan;
    }
    plan.rate = usd_per_hour(best.cost);
    plan.least_rate = usd_per_hour(best.bound);
    plan.out_of_time = best.out_of_time;
    for (const AssignedGpu& gpu : best.gpus) plan.gpus.push_back(place(gpu, best_units));
    std::stable_sort(plan.gpus.begin(), plan.gpus.end(),
                     [](const PlannedGpu& a, const PlannedGpu& b) { return a.type < b.type; });
    return plan;
  }

 private:
  std::vector<std::vector<bool>> allowed_for(const Workload& workload) const {
    std::vector<std::vector<bool>> allowed;
    for (const GpuType& type : types_) {
      allowed.emplace_back();
      for (int profile : type.geometry->plain_profiles()) {
        allowed.back().push_back(misfit(workload, capacity_of(*type.geometry, profile), *type.gpu, speeds_).empty());
      }
    }
    return allowed;
  }

  static bool anywhere(const std::vector<std::vector<bool>>& allowed) {
    return std::any_of(allowed.begin(), allowed.end(), [](const std::vector<bool>& by_profile) {
      return std::find(by_profile.begin(), by_profile.end(), true) != by_profile.end();
    });
  }

  std::vector<Unplaceable> unplaceable() const {
    std::vector<Unplaceable> found;
    for (std::size_t w = 0; w < file_.workloads.size(); ++w) {
      if (anywhere(allowed_[w])) continue;
      const GpuType* largest = &types_[0];
      for (const GpuType& type : types_) {
        if (type.gpu->capacity() > largest->gpu->capacity()) largest = &type;
      }
      const int whole = largest->geometry->plain_profiles().back();
      found.push_back(
          {w,
           fmt::format("{} in {} of {}",
                       misfit(file_.workloads[w], capacity_of(*largest->geometry, whole), *largest->gpu, speeds_),
                       largest->geometry->profile(whole).profile, largest->gpu->name),
           cheapest_that_fits(file_.workloads[w])});
    }
    return found;
  }

  std::string cheapest_that_fits(const Workload& workload) const {
    std::optional<GpuType> best;
    for (const Gpu& gpu : speeds_.catalog().gpus) {
      if (options_.prices == nullptr || !misfit(workload, capacity_of(gpu), gpu, speeds_).empty()) continue;
      std::optional<GpuType> type = priced_type(*options_.prices, gpu, catalog::Purchase::kOnDemand);
      if (type && (!best || type->rate < best->rate)) best = std::move(type);
    }
    if (!best) return {};
    return fmt::format("a whole {} at {}/h", best->gpu->name, format_usd_per_hour(best->rate));
  }

  void number_groups() {
    std::map<std::string, int> numbers;
    for (const Workload& workload : file_.workloads) {
      together_.push_back(workload.affinity.empty()
                              ? -1
                              : numbers.try_emplace(workload.affinity, static_cast<int>(numbers.size())).first->second);
    }
  }

  int nodes(int usual) const { return file_.replicas() > kMany ? usual / 10 : usual; }

  Unit unit_for(std::size_t w, int number) const {
    Unit unit{{{w, number}}, allowed_[w], {}, together_[w]};
    if (file_.workloads[w].spread && file_.workloads[w].replicas > 1) unit.apart.push_back(static_cast<int>(w));
    return unit;
  }

  std::vector<Unit> exclusive_units() const {
    std::vector<Unit> units;
    for (std::size_t w = 0; w < file_.workloads.size(); ++w) {
      for (int r = 0; r < file_.workloads[w].replicas; ++r) units.push_back(unit_for(w, r));
    }
    return units;
  }

  // Those in an affinity group keep a slice of their own: the group already decides where they are.
  bool shares(std::size_t w) const { return file_.workloads[w].share && together_[w] < 0; }
  bool anyone_shares() const {
    for (std::size_t w = 0; w < file_.workloads.size(); ++w) {
      if (shares(w)) return true;
    }
    return false;
  }

  // Sharing in two steps: for every sort of slice, the sharers that fit it are packed into as few of it as can be, and
  // each filled slice becomes one unit of the exact model. The best sort wins; the bound is that of cutting sharers up
  // at will.
  void improve_by_sharing(Assignment& best, std::vector<Unit>& best_units) const {
    const double bound = sharing_bound();
    constexpr std::size_t kTriedThen = 2;  // with many replicas the small slices decide
    for (std::size_t t = 0; t < types_.size(); ++t) {
      const std::vector<int>& plain = types_[t].geometry->plain_profiles();
      for (std::size_t p = 0; p < (file_.replicas() > kMany ? std::min(kTriedThen, plain.size()) : plain.size()); ++p) {
        std::vector<Unit> units = shared_units(t, plain[p]);
        if (units.empty()) continue;
        double ceiling = kNoCeiling;
        if (best.feasible) ceiling = best.cost;
        Assignment found = assign(units, types_, {nodes(kSharingNodes), options_.limit, ceiling});
        best.out_of_time = best.out_of_time || found.out_of_time;
        if (!found.feasible || (best.feasible && found.cost >= best.cost * (1 - 1e-9))) continue;
        found.out_of_time = best.out_of_time;
        best = std::move(found);
        best_units = std::move(units);
      }
    }
    best.bound = bound >= best.cost * (1 - 1e-8) ? best.cost : bound;
  }

  solve::Item item_for(std::size_t w, std::size_t t, int profile) const {
    const Geometry& geometry = *types_[t].geometry;
    const auto& plain = geometry.plain_profiles();
    const auto position = static_cast<std::size_t>(std::find(plain.begin(), plain.end(), profile) - plain.begin());
    solve::Item item;
    item.need.emplace_back();
    if (allowed_[w][t][position]) {
      const Need& need = needs_[w][t];
      item.need[0] = {in_gib(need.memory), need.sms, need.bandwidth};
    }
    if (file_.workloads[w].spread && file_.workloads[w].replicas > 1) item.apart = static_cast<int>(w);
    return item;
  }

  std::vector<Unit> shared_units(std::size_t t, int profile) const {
    std::vector<Unit> units;
    std::vector<solve::Item> items;
    std::vector<Replica> sharers;
    for (std::size_t w = 0; w < file_.workloads.size(); ++w) {
      const solve::Item item = item_for(w, t, profile);
      const bool packed = shares(w) && !item.need[0].empty();
      for (int r = 0; r < file_.workloads[w].replicas; ++r) {
        if (!packed) {
          units.push_back(unit_for(w, r));
          continue;
        }
        items.push_back(item);
        sharers.push_back({w, r});
      }
    }
    if (items.empty()) return {};
    const Capacity capacity = capacity_of(*types_[t].geometry, profile);
    const solve::BinType bin{1, {in_gib(capacity.memory), capacity.sms, capacity.bandwidth}, kMostMpsClients};
    solve::Options options;
    options.seconds = in_seconds(options_.limit);
    options.exact_items = 60;
    options.rounds = 60;
    options.nodes = kSharingNodes;
    for (const solve::Bin& filled : solve::pack(items, {bin}, options).bins) {
      std::vector<Replica> replicas;
      for (std::size_t i : filled.items) replicas.push_back(sharers[i]);
      units.push_back(shared_unit(std::move(replicas)));
    }
    return units;
  }

  // Allowed wherever all of them fit at once, and each alone keeps its SLO.
  Unit shared_unit(std::vector<Replica> replicas) const {
    Unit unit{std::move(replicas), {}, {}, -1};
    for (const Replica& replica : unit.replicas) {
      const Workload& workload = file_.workloads[replica.workload];
      if (workload.spread && workload.replicas > 1) unit.apart.push_back(static_cast<int>(replica.workload));
    }
    for (std::size_t t = 0; t < types_.size(); ++t) {
      const Geometry& geometry = *types_[t].geometry;
      unit.allowed.emplace_back();
      for (std::size_t p = 0; p < geometry.plain_profiles().size(); ++p) {
        const Capacity capacity = capacity_of(geometry, geometry.plain_profiles()[p]);
        Need sum;
        bool each = true;
        for (const Replica& replica : unit.replicas) {
          const Need& need = needs_[replica.workload][t];
          sum.memory += need.memory, sum.sms += need.sms, sum.bandwidth += need.bandwidth;
          each = each && allowed_[replica.workload][t][p];
        }
        constexpr double kTolerance = 1e-9;
        unit.allowed.back().push_back(each && sum.memory <= capacity.memory * (1 + kTolerance) &&
                                      sum.sms <= capacity.sms + kTolerance &&
                                      sum.bandwidth <= capacity.bandwidth + kTolerance);
      }
    }
    return unit;
  }

  // Workloads much alike, for the bound: those that share count with the least need among them.
  struct Bucket {
    std::vector<std::vector<bool>> allowed;
    bool shares = false;
    double replicas = 0;
    std::vector<std::vector<double>> least;  // [type][resource]
  };
  std::vector<Bucket> buckets() const {
    constexpr double kStepsPerFactorE = 25;  // sizes within 4 % are one
    auto step = [](double amount) {
      return amount <= 1e-6 ? -1000 : static_cast<int>(std::floor(std::log(amount) * kStepsPerFactorE));
    };
    std::map<std::pair<std::vector<std::vector<bool>>, std::vector<int>>, Bucket> found;
    for (std::size_t w = 0; w < file_.workloads.size(); ++w) {
      std::vector<int> sizes;
      std::vector<std::vector<double>> amounts;
      for (const Need& need : needs_[w]) amounts.push_back({in_gib(need.memory), need.sms, need.bandwidth});
      if (shares(w)) {
        for (const std::vector<double>& by_type : amounts) {
          for (double amount : by_type) sizes.push_back(step(amount));
        }
      }
      Bucket& bucket =
          found.try_emplace({allowed_[w], sizes}, Bucket{allowed_[w], shares(w), 0, amounts}).first->second;
      bucket.replicas += file_.workloads[w].replicas;
      for (std::size_t t = 0; t < amounts.size(); ++t) {
        for (std::size_t d = 0; d < 3; ++d) bucket.least[t][d] = std::min(bucket.least[t][d], amounts[t][d]);
      }
    }
    std::vector<Bucket> list;
    for (auto& [key, bucket] : found) list.push_back(std::move(bucket));
    return list;
  }

  // Sharers may be cut up, GPUs may not: what no sharing can cost less than.
  double sharing_bound() const {
    solve::Model model;
    const auto layouts = maximal_layouts(types_);
    int spread = 1;
    for (const Workload& workload : file_.workloads)
      spread = workload.spread ? std::max(spread, workload.replicas) : spread;
    const int at_least = model.add_row(spread, solve::kInfinity);
    // Per type and plain profile: slices offered, and of the shared ones memory, SMs and bandwidth.
    std::vector<std::vector<int>> supply(types_.size());
    std::vector<std::vector<std::vector<int>>> inside(types_.size());
    for (std::size_t t = 0; t < types_.size(); ++t) {
      const Geometry& geometry = *types_[t].geometry;
      for (int profile : geometry.plain_profiles()) {
        supply[t].push_back(model.add_row(-solve::kInfinity, 0));
        const int shared = model.add_column(0, 0, solve::kInfinity, false);
        model.add_entry(supply[t].back(), shared, 1);
        const Capacity capacity = capacity_of(geometry, profile);
        inside[t].emplace_back();
        for (double amount : {in_gib(capacity.memory), capacity.sms, capacity.bandwidth}) {
          inside[t].back().push_back(model.add_row(-solve::kInfinity, 0));
          model.add_entry(inside[t].back().back(), shared, -amount);
        }
      }
      for (const std::vector<int>& layout : layouts[t]) {
        const int column = model.add_column(types_[t].usd_per_hour(), 0, solve::kInfinity, true);
        model.add_entry(at_least, column, 1);
        for (std::size_t p = 0; p < layout.size(); ++p) model.add_entry(supply[t][p], column, -layout[p]);
      }
    }
    for (const Bucket& bucket : buckets()) {
      const int placed = model.add_row(bucket.replicas, bucket.replicas);
      for (std::size_t t = 0; t < types_.size(); ++t) {
        for (std::size_t p = 0; p < supply[t].size(); ++p) {
          if (!bucket.allowed[t][p]) continue;
          const int column = model.add_column(0, 0, solve::kInfinity, false);
          model.add_entry(placed, column, 1);
          if (!bucket.shares) {
            model.add_entry(supply[t][p], column, 1);
            continue;
          }
          for (std::size_t d = 0; d < 3; ++d) model.add_entry(inside[t][p][d], column, bucket.least[t][d]);
        }
      }
    }
    solve::Limits limits;
    limits.nodes = nodes(kSharingNodes);
    limits.seconds = in_seconds(options_.limit);
    const solve::Solution solution = solve::solve(model, limits);
    return std::max(0.0, solution.bound * (1 - 1e-9));
  }

  // The one way to be infeasible left: a group that fits no GPU together.
  void explain_group(SlicePlan& plan) const {
    const std::vector<Unit> all = exclusive_units();
    std::set<int> explained;
    std::map<std::string, std::size_t> sizes;
    for (std::size_t w = 0; w < file_.workloads.size(); ++w) {
      if (together_[w] >= 0)
        sizes[file_.workloads[w].affinity] += static_cast<std::size_t>(file_.workloads[w].replicas);
    }
    for (std::size_t w = 0; w < file_.workloads.size(); ++w) {
      if (together_[w] < 0 || !explained.insert(together_[w]).second) continue;
      std::vector<Unit> group;
      for (const Unit& unit : all) {
        if (unit.together == together_[w]) group.push_back(unit);
      }
      if (assign_first_fit(group, types_).feasible) continue;
      const std::string& name = file_.workloads[w].affinity;
      plan.unplaceable.push_back(
          {w, fmt::format("its group '{}' ({} slices) fits no allowed GPU together", name, sizes[name]), {}});
    }
  }

  PlannedGpu place(const AssignedGpu& gpu, const std::vector<Unit>& units) const {
    const Geometry& geometry = *types_[gpu.type].geometry;
    // Counts do not care how large a free slice is: each unit gets the smallest that holds it, which leaves the rest
    // of the GPU uncut for later.
    Layout wanted;
    for (const auto& [position, unit] : gpu.slots) wanted.push_back({geometry.plain_profiles()[position], -1});
    for (std::size_t i = 0; i < wanted.size(); ++i) {
      const std::vector<bool>& allowed = units[gpu.slots[i].second].allowed[gpu.type];
      for (std::size_t p = 0; p < gpu.slots[i].first; ++p) {
        Layout smaller = wanted;
        smaller[i].profile = geometry.plain_profiles()[p];
        if (!allowed[p] || !geometry.place(smaller)) continue;
        wanted = std::move(smaller);
        break;
      }
    }
    const std::optional<Layout> placed = geometry.place(wanted);
    PlannedGpu planned{gpu.type, {}};
    for (std::size_t i = 0; i < gpu.slots.size(); ++i) {
      std::vector<Replica> replicas = units[gpu.slots[i].second].replicas;
      std::sort(replicas.begin(), replicas.end());
      planned.instances.push_back({placed ? (*placed)[i] : wanted[i], std::move(replicas)});
    }
    std::sort(planned.instances.begin(), planned.instances.end(),
              [](const PlannedInstance& a, const PlannedInstance& b) { return a.where.start < b.where.start; });
    return planned;
  }

  const WorkloadFile& file_;
  const std::vector<GpuType>& types_;
  const perf::SpeedTable& speeds_;
  const PlanOptions& options_;
  std::vector<std::vector<std::vector<bool>>> allowed_;  // [workload][type][plain profile]
  std::vector<std::vector<Need>> needs_;                 // [workload][type]
  std::vector<int> together_;
};

}  // namespace

SlicePlan plan_slices(const WorkloadFile& file, const std::vector<GpuType>& types, const perf::SpeedTable& speeds,
                      const PlanOptions& options) {
  return types.empty() ? SlicePlan{} : Planner(file, types, speeds, options).run();
}

}  // namespace rightsize::mig
