#include "mig/plan.h"

#include <algorithm>
#include <cmath>
#include <map>

#include <fmt/format.h>

#include "base/format.h"
#include "mig/assign.h"
#include "solve/packing.h"

namespace rightsize::mig {

using catalog::Gpu;

std::optional<GpuType> priced_type(const market::PriceBook& prices, const Gpu& gpu, catalog::Purchase purchase) {
  const auto quote = prices.gpu(gpu, purchase);
  if (!quote) return std::nullopt;
  return GpuType{&gpu, Geometry::of(prices.catalog(), gpu), quote->rate, quote->source()};
}

namespace {

constexpr std::size_t kMany = 1000;  // replicas: with more, proving an optimum is not worth the time
constexpr int kNodes = 2'000;
constexpr int kSharingNodes = 50;  // many kinds of slice are tried with one common bound

class SlicePlanner {
 public:
  SlicePlanner(const WorkloadFile& file, const std::vector<GpuType>& types, const perf::SpeedTable& speeds,
               const PlanOptions& options)
      : file_(file), types_(types), speeds_(speeds), options_(options) {
    std::map<std::string, int> groups;
    for (const Workload& workload : file.workloads) {
      const int next = static_cast<int>(groups.size());
      together_.push_back(workload.affinity.empty() ? -1 : groups.try_emplace(workload.affinity, next).first->second);
      allowed_.push_back(allowed_for(workload));
      needs_.emplace_back();
      for (const GpuType& type : types) needs_.back().push_back(need_on(workload, *type.gpu, speeds));
    }
  }

  Result<SlicePlan> run() {
    SlicePlan plan;
    plan.unplaceable = unplaceable();
    if (!plan.unplaceable.empty() || file_.workloads.empty()) return plan;
    const std::vector<SliceUnit> units = exclusive_units();
    RIGHTSIZE_TRY(Assignment best, assign(units, types_, {nodes(kNodes), options_.limit}));
    std::vector<SliceUnit> best_units = units;
    if (options_.share) {
      if (Result<> tried = improve_by_sharing(best, best_units); !tried) return fail(std::move(tried).error());
    }
    if (!best.feasible) {
      explain_group(plan);
      return plan;
    }
    plan.rate = usd_per_hour(best.cost);
    plan.least_rate = usd_per_hour(best.bound);
    plan.out_of_time = best.out_of_time;
    for (const AssignedGpu& gpu : best.gpus) plan.gpus.push_back(place(gpu, best_units));
    std::ranges::stable_sort(plan.gpus, {}, &PlannedGpu::type);
    return plan;
  }

 private:
  Allowed allowed_for(const Workload& workload) const {
    Allowed allowed;
    for (const GpuType& type : types_) {
      allowed.emplace_back();
      for (int profile : type.geometry->plain_profiles())
        allowed.back().push_back(misfit(workload, capacity_of(*type.geometry, profile), *type.gpu, speeds_).empty());
    }
    return allowed;
  }

  std::vector<Unplaceable> unplaceable() const {
    std::vector<Unplaceable> found;
    for (std::size_t w = 0; w < file_.workloads.size(); ++w) {
      if (std::ranges::any_of(allowed_[w], [](const std::vector<bool>& by_profile) {
            return std::ranges::find(by_profile, true) != by_profile.end();
          }))
        continue;
      const auto largest =
          std::ranges::max_element(types_, {}, [](const GpuType& type) { return type.gpu->capacity(); });
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

  int nodes(int usual) const { return file_.replicas() > kMany ? usual / 10 : usual; }

  SliceUnit unit_for(std::size_t w, int number) const {
    SliceUnit unit{{{w, number}}, allowed_[w], {}, together_[w]};
    if (spreads(w)) unit.apart.push_back(static_cast<int>(w));
    return unit;
  }

  std::vector<SliceUnit> exclusive_units() const {
    std::vector<SliceUnit> units;
    for (std::size_t w = 0; w < file_.workloads.size(); ++w) {
      for (int r = 0; r < file_.workloads[w].replicas; ++r) units.push_back(unit_for(w, r));
    }
    return units;
  }

  // Workloads of an affinity group keep a slice each: the group already decides where they are.
  bool shares(std::size_t w) const { return file_.workloads[w].share && together_[w] < 0; }
  bool spreads(std::size_t w) const { return file_.workloads[w].spread && file_.workloads[w].replicas > 1; }

  // For every kind of slice, packs the sharers that fit it into as few slices as possible; each filled slice becomes
  // one unit of the exact model. The cheapest kind wins; the bound allows sharers to be split.
  Result<> improve_by_sharing(Assignment& best, std::vector<SliceUnit>& best_units) const {
    bool any = false;
    for (std::size_t w = 0; w < file_.workloads.size(); ++w) any = any || shares(w);
    if (!any) return {};
    RIGHTSIZE_TRY(const double bound, sharing_bound());
    constexpr std::size_t kTriedOfMany = 2;  // with many replicas the small slices decide
    for (std::size_t t = 0; t < types_.size(); ++t) {
      const std::size_t profiles = types_[t].geometry->plain_profiles().size();
      for (std::size_t p = 0; p < (file_.replicas() > kMany ? std::min(kTriedOfMany, profiles) : profiles); ++p) {
        RIGHTSIZE_TRY(std::vector<SliceUnit> units, shared_units(t, p));
        if (units.empty()) continue;
        SolverEffort effort{nodes(kSharingNodes), options_.limit};
        if (best.feasible) effort.ceiling = best.cost;
        RIGHTSIZE_TRY(Assignment found, assign(units, types_, effort));
        found.out_of_time = best.out_of_time = best.out_of_time || found.out_of_time;
        if (!found.feasible || (best.feasible && found.cost >= best.cost * (1 - 1e-9))) continue;
        best = std::move(found);
        best_units = std::move(units);
      }
    }
    best.bound = bound >= best.cost * (1 - 1e-8) ? best.cost : bound;
    return {};
  }

  // Empty if no sharer fits that slice.
  Result<std::vector<SliceUnit>> shared_units(std::size_t t, std::size_t position) const {
    std::vector<SliceUnit> units;
    std::vector<solve::Item> items;
    std::vector<ReplicaId> sharers;
    for (std::size_t w = 0; w < file_.workloads.size(); ++w) {
      const bool packed = shares(w) && allowed_[w][t][position];
      for (int r = 0; r < file_.workloads[w].replicas; ++r) {
        if (!packed) {
          units.push_back(unit_for(w, r));
          continue;
        }
        items.push_back({{needs_[w][t].amounts()}, spreads(w) ? static_cast<int>(w) : -1});
        sharers.push_back({w, r});
      }
    }
    if (items.empty()) return std::vector<SliceUnit>{};
    const Resources capacity = capacity_of(*types_[t].geometry, types_[t].geometry->plain_profiles()[position]);
    RIGHTSIZE_TRY(const solve::Packing packing, solve::pack(items, {{1, capacity.amounts(), kMostMpsClients}}));
    for (const solve::Bin& filled : packing.bins) {
      std::vector<ReplicaId> replicas;
      for (std::size_t i : filled.items) replicas.push_back(sharers[i]);
      units.push_back(shared_unit(std::move(replicas)));
    }
    return units;
  }

  // Allowed in slices that hold all of them together and in which each of them alone meets its SLO.
  SliceUnit shared_unit(std::vector<ReplicaId> replicas) const {
    SliceUnit unit{std::move(replicas), {}, {}, -1};
    for (const ReplicaId& replica : unit.replicas) {
      if (spreads(replica.workload)) unit.apart.push_back(static_cast<int>(replica.workload));
    }
    for (std::size_t t = 0; t < types_.size(); ++t) {
      Resources sum;
      for (const ReplicaId& replica : unit.replicas) {
        const Resources& need = needs_[replica.workload][t];
        sum.memory += need.memory, sum.sms += need.sms, sum.bandwidth += need.bandwidth;
      }
      unit.allowed.emplace_back();
      const std::vector<int>& profiles = types_[t].geometry->plain_profiles();
      for (std::size_t p = 0; p < profiles.size(); ++p) {
        const bool each =
            std::ranges::all_of(unit.replicas, [&](const ReplicaId& r) { return allowed_[r.workload][t][p]; });
        unit.allowed.back().push_back(each && capacity_of(*types_[t].geometry, profiles[p]).holds(sum));
      }
    }
    return unit;
  }

  // A lower bound for plans with shared slices. Sharers of nearly the same size count as one kind with their smallest
  // needs, which keeps the model small.
  Result<double> sharing_bound() const {
    constexpr double kStepsPerFactorE = 25;  // sizes within 4 %
    auto step = [](double amount) {
      return amount <= 1e-6 ? -1000 : static_cast<int>(std::floor(std::log(amount) * kStepsPerFactorE));
    };
    struct SimilarWorkloads {
      bool share = false;
      std::size_t replicas = 0;
      std::vector<std::vector<double>> need;  // [type][resource]
    };
    std::map<std::pair<Allowed, std::vector<int>>, SimilarWorkloads> kinds;
    int spread = 1;
    for (std::size_t w = 0; w < file_.workloads.size(); ++w) {
      if (file_.workloads[w].spread) spread = std::max(spread, file_.workloads[w].replicas);
      std::vector<int> sizes;
      std::vector<std::vector<double>> need;
      for (const Resources& on_type : needs_[w]) {
        need.push_back(on_type.amounts());
        if (!shares(w)) continue;
        for (double amount : need.back()) sizes.push_back(step(amount));
      }
      SimilarWorkloads& kind =
          kinds.try_emplace({allowed_[w], sizes}, SimilarWorkloads{shares(w), 0, need}).first->second;
      kind.replicas += static_cast<std::size_t>(file_.workloads[w].replicas);
      for (std::size_t t = 0; t < need.size(); ++t) {
        for (std::size_t d = 0; d < need[t].size(); ++d) kind.need[t][d] = std::min(kind.need[t][d], need[t][d]);
      }
    }
    SliceModel model(types_, maximal_layouts(types_), static_cast<std::size_t>(spread));
    for (const auto& [key, kind] : kinds) {
      if (kind.share)
        model.add_sharers(key.first, kind.replicas, kind.need);
      else
        model.add_units(key.first, kind.replicas);
    }
    RIGHTSIZE_TRY(const GpuCounts counts, model.solve({nodes(kSharingNodes), options_.limit}));
    return std::max(0.0, counts.bound * (1 - 1e-9));
  }

  // The only remaining reason for infeasibility: a group that fits no GPU together.
  void explain_group(SlicePlan& plan) const {
    std::map<int, std::vector<SliceUnit>> groups;
    for (SliceUnit& unit : exclusive_units()) {
      if (unit.together >= 0) groups[unit.together].push_back(std::move(unit));
    }
    for (const auto& [id, members] : groups) {
      if (assign_first_fit(members, types_).feasible) continue;
      const std::size_t w = members[0].replicas[0].workload;
      plan.unplaceable.push_back({w,
                                  fmt::format("affinity group '{}' ({} slices) fits on no single allowed GPU",
                                              file_.workloads[w].affinity, members.size()),
                                  {}});
    }
  }

  PlannedGpu place(const AssignedGpu& gpu, const std::vector<SliceUnit>& units) const {
    const Geometry& geometry = *types_[gpu.type].geometry;
    // The model does not prefer small slices: each unit gets the smallest that holds it, which leaves the rest of the
    // GPU uncut for later.
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
      std::vector<ReplicaId> replicas = units[gpu.slots[i].second].replicas;
      std::ranges::sort(replicas);
      planned.instances.push_back({placed ? (*placed)[i] : wanted[i], std::move(replicas)});
    }
    std::ranges::sort(planned.instances,
                      [](const PlannedInstance& a, const PlannedInstance& b) { return a.where.start < b.where.start; });
    return planned;
  }

  const WorkloadFile& file_;
  const std::vector<GpuType>& types_;
  const perf::SpeedTable& speeds_;
  const PlanOptions& options_;
  std::vector<Allowed> allowed_;               // [workload]
  std::vector<std::vector<Resources>> needs_;  // [workload][type]
  std::vector<int> together_;                  // [workload]: number of its affinity group, -1 without one
};

}  // namespace

Result<SlicePlan> plan_slices(const WorkloadFile& file, const std::vector<GpuType>& types,
                              const perf::SpeedTable& speeds, const PlanOptions& options) {
  return types.empty() ? SlicePlan{} : SlicePlanner(file, types, speeds, options).run();
}

}  // namespace rightsize::mig
