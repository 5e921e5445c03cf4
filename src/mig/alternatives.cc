// The same workloads without MIG: whole GPUs shared, one GPU each, or the cheapest mechanism for each.
#include <algorithm>
#include <array>
#include <cmath>
#include <map>

#include <fmt/format.h>

#include "mig/mechanisms.h"

namespace rightsize::mig {
namespace {

using catalog::Gpu;

void count_gpus(Alternative& alternative, const std::map<std::string, std::size_t>& counts) {
  for (const auto& [name, count] : counts) {
    alternative.gpus.emplace_back(name, count);
    alternative.gpu_count += count;
  }
  std::ranges::stable_sort(alternative.gpus, std::ranges::greater(), &std::pair<std::string, std::size_t>::second);
}

Alternative from_plan(Alternative alternative, const SlicePlan& plan, const std::vector<GpuType>& types) {
  alternative.feasible = plan.unplaceable.empty();
  if (!alternative.feasible) alternative.why_not = plan.unplaceable[0].reason;
  alternative.rate = plan.rate;
  alternative.least_rate = plan.least_rate;
  std::map<std::string, std::size_t> counts;
  for (const PlannedGpu& gpu : plan.gpus) ++counts[types[gpu.type].gpu->name];
  count_gpus(alternative, counts);
  return alternative;
}

// The cost and the GPUs of a plan of groups.
Alternative from_groups(Alternative alternative, const sharing::SharingPlan& plan, const std::vector<GpuType>& types) {
  alternative.feasible = plan.unplaced.empty();
  if (!alternative.feasible) {
    alternative.why_not = "a workload does not fit";
    return alternative;
  }
  alternative.rate = usd_per_hour(plan.usd_per_hour);
  std::map<std::string, std::size_t> counts;
  for (const sharing::Group& group : plan.groups) ++counts[types[group.gpu].gpu->name];
  count_gpus(alternative, counts);
  return alternative;
}

Alternative one_each(Alternative alternative, const WorkloadFile& file, const std::vector<GpuType>& types,
                     const perf::SpeedTable& speeds) {
  std::map<std::string, std::size_t> counts;
  for (const Workload& workload : file.workloads) {
    const GpuType* best = nullptr;
    for (const GpuType& type : types) {
      if (best != nullptr && type.rate >= best->rate) continue;
      if (misfit(workload, capacity_of(*type.gpu), *type.gpu, speeds).empty()) best = &type;
    }
    if (best == nullptr) {
      alternative.why_not = fmt::format("'{}' fits none of them", workload.name);
      return alternative;
    }
    counts[best->gpu->name] += static_cast<std::size_t>(workload.replicas);
    alternative.rate += best->rate * gpus(workload.replicas);
  }
  alternative.feasible = true;
  alternative.least_rate = alternative.rate;
  count_gpus(alternative, counts);
  return alternative;
}

// Marks as sharing every workload that needs at most half of the smallest slice.
WorkloadFile with_small_ones_sharing(const WorkloadFile& file, const std::vector<GpuType>& types,
                                     const perf::SpeedTable& speeds) {
  WorkloadFile sharing = file;
  for (Workload& workload : sharing.workloads) {
    for (const GpuType& type : types) {
      const Resources need = need_on(workload, *type.gpu, speeds);
      const Resources twice{need.memory * 2, need.sms * 2, need.bandwidth * 2};
      if (capacity_of(*type.geometry, type.geometry->plain_profiles().front()).holds(twice)) workload.share = true;
    }
  }
  return sharing;
}

// Loads without `measured-on` are shares of the allowed GPUs, and are not valid for other GPUs. For those they count as
// shares of the fastest allowed GPU: no GPU may look faster than it is.
WorkloadFile measured_on_fastest(const WorkloadFile& file, const std::vector<GpuType>& types,
                                 const perf::SpeedTable& speeds) {
  const GpuType* fastest = &types[0];
  for (const GpuType& type : types) {
    const perf::SustainedRates *best = speeds.find(*fastest->gpu), *rates = speeds.find(*type.gpu);
    if (best != nullptr && rates != nullptr && rates->memory > best->memory) fastest = &type;
  }
  WorkloadFile scaled = file;
  for (Workload& workload : scaled.workloads) {
    if (workload.measured_on.empty()) workload.measured_on = fastest->gpu->name;
  }
  return scaled;
}

// A lower bound on any plan: the cheapest share of a GPU for each replica, by time or by memory; and the whole GPUs
// that all shares, or the replicas that must be apart, need at the lowest price.
UsdPerSecond least_shared(const sharing::Demand& demand, bool all_awake) {
  std::array<double, 2> cost{}, count{};  // by time, by memory
  double lowest_price = INFINITY;
  std::map<int, double> apart;
  for (const sharing::SharedGpu& gpu : demand.gpus) lowest_price = std::min(lowest_price, gpu.usd_per_hour);
  for (std::size_t r = 0; r < demand.count(); ++r) {
    std::array<double, 2> least_cost{INFINITY, INFINITY}, least_share = least_cost;
    for (std::size_t g = 0; g < demand.gpus.size(); ++g) {
      const sharing::Tenant& t = demand.tenants[g][r];
      if (!t.fits) continue;
      const std::array<double, 2> share{t.busy * (1 + t.headroom), t.memory / demand.gpus[g].memory};
      for (std::size_t d = 0; d < share.size(); ++d) {
        least_share[d] = std::min(least_share[d], share[d]);
        least_cost[d] = std::min(least_cost[d], demand.gpus[g].usd_per_hour * share[d]);
      }
    }
    for (std::size_t d = 0; d < cost.size(); ++d) cost[d] += least_cost[d], count[d] += least_share[d];
    if (demand.tenants[0][r].apart >= 0) ++apart[demand.tenants[0][r].apart];
  }
  double gpus = all_awake ? std::max(count[0], count[1]) : count[0];
  for (const auto& [group, replicas] : apart) gpus = std::max(gpus, replicas);
  const double dollars = all_awake ? std::max(cost[0], cost[1]) : cost[0];
  return usd_per_hour(std::max(dollars, std::ceil(gpus - 1e-6) * lowest_price));
}

struct SharedWay {
  sharing::Mechanism how;
  const char *what, *isolation;
};
constexpr SharedWay kSharedWays[] = {
    {sharing::Mechanism::kMps, "MPS on whole GPUs", "memory limits only; a fault can stop all"},
    {sharing::Mechanism::kTimeSlicing, "time-slicing of whole GPUs", "none: memory and time are shared"},
    {sharing::Mechanism::kSleep, "sleep in host memory, wake on request", "none: memory and time are shared"},
    {sharing::Mechanism::kLora, "LoRA adapters on a shared base", "none: one process serves all"},
    {sharing::Mechanism::kScaleToZero, "scale to zero when idle", "complete"},
};

// MIG with the small workloads in shared slices. Empty if none is small.
Result<std::optional<SlicePlan>> plan_shared_slices(const WorkloadFile& file, const std::vector<GpuType>& types,
                                                    const perf::SpeedTable& speeds, PlanOptions options) {
  options.share = true;
  const WorkloadFile eager = with_small_ones_sharing(file, types, speeds);
  if (!std::ranges::any_of(eager.workloads, &Workload::share)) return std::optional<SlicePlan>();
  RIGHTSIZE_TRY(SlicePlan plan, plan_slices(eager, types, speeds, options));
  return std::optional(std::move(plan));
}

}  // namespace

Result<Comparison> compare_alternatives(const WorkloadFile& file, const std::vector<GpuType>& types,
                                        const perf::SpeedTable& speeds, catalog::Purchase purchase,
                                        const SlicePlan& mig, const PlanOptions& options) {
  Comparison made;
  std::vector<Alternative>& all = made.alternatives;
  const sharing::Demand demand = demand_of(file, types, speeds, made.mix.replicas);
  std::vector<sharing::Group> candidates = sharing::propose(demand);
  const auto add_slices = [&](const SlicePlan& plan) {
    const std::optional<std::vector<sharing::Group>> groups = groups_of(plan, types, demand, made.mix.replicas);
    if (groups) candidates.insert(candidates.end(), groups->begin(), groups->end());
    return groups.has_value();
  };
  all.push_back(from_plan({.name = "mig",
                           .what = options.share ? "MIG, sharers in shared slices" : "MIG, a slice each",
                           .isolation = "memory, bandwidth, SMs and faults"},
                          mig, types));
  if (mig.unplaceable.empty()) add_slices(mig);
  if (!options.share && mig.unplaceable.empty()) {
    RIGHTSIZE_TRY(const std::optional<SlicePlan> plan, plan_shared_slices(file, types, speeds, options));
    if (plan && plan->unplaceable.empty() && add_slices(*plan)) {
      all.push_back(from_plan({.name = "mig+mps",
                               .what = "MIG, small workloads share slices by MPS",
                               .isolation = "as MIG between slices; none inside a shared slice"},
                              *plan, types));
    }
  }
  for (const SharedWay& way : kSharedWays) {
    std::vector<sharing::Group> of_way;
    bool used = false;
    for (const sharing::Group& group : candidates) {
      used = used || group.how == way.how;
      // Models that sleep and wake share the GPU by time slicing while they are awake.
      const bool awake = way.how == sharing::Mechanism::kSleep && group.how == sharing::Mechanism::kTimeSlicing;
      if (group.how == way.how || group.how == sharing::Mechanism::kOwnGpu || awake) of_way.push_back(group);
    }
    if (!used) continue;
    RIGHTSIZE_TRY(const sharing::SharingPlan plan, sharing::cheapest(of_way, demand.count()));
    Alternative& made_way = all.emplace_back(from_groups(
        {.name = std::string(name_of(way.how)), .what = way.what, .isolation = way.isolation}, plan, types));
    const bool resident = way.how == sharing::Mechanism::kMps || way.how == sharing::Mechanism::kTimeSlicing;
    made_way.least_rate = way.how == sharing::Mechanism::kScaleToZero
                              ? made_way.rate
                              : std::min(made_way.rate, least_shared(demand, resident));
  }
  RIGHTSIZE_TRY(made.mix.plan, sharing::cheapest(candidates, demand.count()));
  all.push_back(
      from_groups({.name = "mix", .what = "the cheapest mechanism for each", .isolation = "as each mechanism"},
                  made.mix.plan, types));
  all.push_back(
      one_each({.name = "gpu-each", .what = "an allowed GPU each", .isolation = "complete"}, file, types, speeds));
  std::vector<GpuType> catalogue;
  for (const Gpu& gpu : speeds.catalog().gpus) {
    std::optional<GpuType> type =
        options.prices != nullptr ? priced_type(*options.prices, gpu, purchase) : std::nullopt;
    if (type) catalogue.push_back(*std::move(type));
  }
  all.push_back(one_each(
      {.name = "smaller-gpu-each", .what = "the cheapest GPU each, from the whole catalogue", .isolation = "complete"},
      measured_on_fastest(file, types, speeds), catalogue, speeds));
  return made;
}

}  // namespace rightsize::mig
