// The same workloads without MIG: shared whole GPUs, or a GPU each.
#include <algorithm>
#include <cmath>
#include <map>

#include <fmt/format.h>

#include "mig/plan.h"
#include "solve/packing.h"

namespace rightsize::mig {
namespace {

using catalog::Gpu;

void count_gpus(Alternative& alternative, const std::map<std::string, std::size_t>& counts) {
  for (const auto& [name, count] : counts) {
    alternative.gpus.emplace_back(name, count);
    alternative.gpu_count += count;
  }
  std::stable_sort(alternative.gpus.begin(), alternative.gpus.end(),
                   [](const auto& a, const auto& b) { return a.second > b.second; });
}

Alternative from_plan(std::string name, std::string what, std::string isolation, const SlicePlan& plan,
                      const std::vector<GpuType>& types) {
  Alternative alternative{std::move(name), std::move(what), plan.unplaceable.empty(), {}, {}, 0,
                          plan.rate,       plan.least_rate, std::move(isolation)};
  if (!alternative.feasible) alternative.why_not = plan.unplaceable[0].reason;
  std::map<std::string, std::size_t> counts;
  for (const PlannedGpu& gpu : plan.gpus) ++counts[types[gpu.type].gpu->name];
  count_gpus(alternative, counts);
  return alternative;
}

// Whole GPUs shared by several processes. With `exclusive_latency` a workload with a latency SLO gets a GPU of its
// own: its time would be its neighbours' too.
Alternative shared_gpus(std::string name, std::string what, std::string isolation, const WorkloadFile& file,
                        const std::vector<GpuType>& types, const perf::SpeedTable& speeds, bool exclusive_latency,
                        Seconds limit) {
  Alternative alternative;
  alternative.name = std::move(name), alternative.what = std::move(what), alternative.isolation = std::move(isolation);
  std::vector<solve::Item> items;
  std::map<std::string, std::string> seen;
  for (std::size_t w = 0; w < file.workloads.size(); ++w) {
    const Workload& workload = file.workloads[w];
    solve::Item item;
    for (const GpuType& type : types) {
      item.need.emplace_back();
      if (!misfit(workload, capacity_of(*type.gpu), *type.gpu, speeds).empty()) continue;
      const Need need = need_on(workload, *type.gpu, speeds);
      const bool alone = exclusive_latency && workload.latency;
      item.need.back() = {in_gib(need.memory), alone ? 1 : need.sms, alone ? 1 : need.bandwidth};
    }
    if (workload.spread && workload.replicas > 1) item.apart = static_cast<int>(w);
    for (int r = 0; r < workload.replicas; ++r) items.push_back(item);
  }
  std::vector<solve::BinType> bins;
  for (const GpuType& type : types) {
    bins.push_back({type.usd_per_hour(), {in_gib(type.gpu->capacity()), 1, 1}, kMostMpsClients});
  }
  solve::Options options;
  options.seconds = in_seconds(limit);
  options.exact_items = 60;  // only a comparison: the heuristic and its bound do for more
  const solve::Packing packing = solve::pack(items, bins, options);
  if (!packing.unplaceable.empty()) {
    alternative.why_not = "a workload fits no allowed GPU whole";
    return alternative;
  }
  alternative.feasible = true;
  alternative.rate = usd_per_hour(packing.cost);
  alternative.least_rate = usd_per_hour(packing.bound);
  std::map<std::string, std::size_t> counts;
  for (const solve::Bin& bin : packing.bins) ++counts[types[bin.type].gpu->name];
  count_gpus(alternative, counts);
  return alternative;
}

Alternative one_each(std::string name, std::string what, const WorkloadFile& file, const std::vector<GpuType>& types,
                     const perf::SpeedTable& speeds) {
  Alternative alternative;
  alternative.name = std::move(name), alternative.what = std::move(what), alternative.isolation = "complete";
  std::map<std::string, std::size_t> counts;
  for (const Workload& workload : file.workloads) {
    const GpuType* best = nullptr;
    for (const GpuType& type : types) {
      if (best != nullptr && type.rate >= best->rate) continue;
      if (misfit(workload, capacity_of(*type.gpu), *type.gpu, speeds).empty()) best = &type;
    }
    if (best == nullptr) {
      alternative.why_not = fmt::format("'{}' fits none of them whole", workload.name);
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

// What could share if everyone agreed to: the jobs that leave half of the smallest slice unused.
WorkloadFile with_small_ones_sharing(const WorkloadFile& file, const std::vector<GpuType>& types,
                                     const perf::SpeedTable& speeds) {
  WorkloadFile sharing = file;
  for (Workload& workload : sharing.workloads) {
    for (const GpuType& type : types) {
      const Capacity capacity = capacity_of(*type.geometry, type.geometry->plain_profiles().front());
      const Need need = need_on(workload, *type.gpu, speeds);
      if (need.memory * 2 <= capacity.memory && need.sms * 2 <= capacity.sms &&
          need.bandwidth * 2 <= capacity.bandwidth) {
        workload.share = true;
      }
    }
  }
  return sharing;
}

}  // namespace

std::vector<Alternative> compare_alternatives(const WorkloadFile& file, const std::vector<GpuType>& types,
                                              const perf::SpeedTable& speeds, catalog::Purchase purchase,
                                              const SlicePlan& mig, const PlanOptions& options) {
  std::vector<Alternative> all;
  all.push_back(from_plan("mig", options.share ? "MIG as planned, sharers sharing slices" : "MIG, a slice each",
                          "memory, bandwidth, SMs and faults", mig, types));
  if (!options.share && mig.unplaceable.empty()) {
    PlanOptions sharing = options;
    sharing.share = true;
    const WorkloadFile eager = with_small_ones_sharing(file, types, speeds);
    const bool any =
        std::any_of(eager.workloads.begin(), eager.workloads.end(), [](const Workload& w) { return w.share; });
    if (any) {
      all.push_back(from_plan("mig+mps", "MIG, the small ones sharing slices by MPS",
                              "between slices as MIG, inside a shared slice none",
                              plan_slices(eager, types, speeds, sharing), types));
    }
  }
  all.push_back(shared_gpus("mps", "whole GPUs shared by MPS", "memory limits only; a fault can stop all", file, types,
                            speeds, false, options.limit));
  all.push_back(shared_gpus("time-slicing", "whole GPUs in turns; an SLO needs its own",
                            "none: memory and time are shared", file, types, speeds, true, options.limit));
  all.push_back(one_each("gpu-each", "one allowed GPU each", file, types, speeds));
  std::vector<GpuType> catalogue;
  for (const Gpu& gpu : speeds.catalog().gpus) {
    std::optional<GpuType> type =
        options.prices != nullptr ? priced_type(*options.prices, gpu, purchase) : std::nullopt;
    if (type) catalogue.push_back(*std::move(type));
  }
  all.push_back(one_each("smaller-gpu-each", "the cheapest GPU each, any of the catalogue", file, catalogue, speeds));
  return all;
}

}  // namespace rightsize::mig
