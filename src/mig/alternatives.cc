// The same workloads without MIG: shared whole GPUs, or a GPU each.
#include <algorithm>
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

// Whole GPUs shared by several processes. With `exclusive_latency` a workload with a latency SLO gets a GPU to itself:
// in turns, it would also wait for its neighbours.
Result<Alternative> shared_gpus(Alternative alternative, const WorkloadFile& file, const std::vector<GpuType>& types,
                                const perf::SpeedTable& speeds, bool exclusive_latency) {
  std::vector<solve::Item> items;
  for (std::size_t w = 0; w < file.workloads.size(); ++w) {
    const Workload& workload = file.workloads[w];
    solve::Item item;
    for (const GpuType& type : types) {
      item.need.emplace_back();
      if (!misfit(workload, capacity_of(*type.gpu), *type.gpu, speeds).empty()) continue;
      Resources need = need_on(workload, *type.gpu, speeds);
      if (exclusive_latency && workload.latency) need.sms = need.bandwidth = 1;
      item.need.back() = need.amounts();
    }
    if (workload.spread && workload.replicas > 1) item.apart = static_cast<int>(w);
    items.insert(items.end(), static_cast<std::size_t>(workload.replicas), item);
  }
  std::vector<solve::BinType> bins;
  for (const GpuType& type : types)
    bins.push_back({type.usd_per_hour(), capacity_of(*type.gpu).amounts(), kMostMpsClients});
  RIGHTSIZE_TRY(const solve::Packing packing, solve::pack(items, bins));
  if (!packing.unplaceable.empty()) {
    alternative.why_not = "a workload fits no allowed GPU";
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

// Loads without `measured-on` are shares of the allowed GPUs, and are not valid for other GPUs. There they are
// taken as shares of the fastest allowed one, so that no GPU looks faster than it may be.
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

}  // namespace

Result<std::vector<Alternative>> compare_alternatives(const WorkloadFile& file, const std::vector<GpuType>& types,
                                                      const perf::SpeedTable& speeds, catalog::Purchase purchase,
                                                      const SlicePlan& mig, const PlanOptions& options) {
  std::vector<Alternative> all;
  all.push_back(from_plan({.name = "mig",
                           .what = options.share ? "MIG, sharers in shared slices" : "MIG, a slice each",
                           .isolation = "memory, bandwidth, SMs and faults"},
                          mig, types));
  if (!options.share && mig.unplaceable.empty()) {
    PlanOptions sharing = options;
    sharing.share = true;
    const WorkloadFile eager = with_small_ones_sharing(file, types, speeds);
    if (std::ranges::any_of(eager.workloads, &Workload::share)) {
      RIGHTSIZE_TRY(const SlicePlan plan, plan_slices(eager, types, speeds, sharing));
      all.push_back(from_plan({.name = "mig+mps",
                               .what = "MIG, small workloads share slices by MPS",
                               .isolation = "as MIG between slices; none inside a shared slice"},
                              plan, types));
    }
  }
  const Alternative mps{
      .name = "mps", .what = "MPS on whole GPUs", .isolation = "memory limits only; a fault can stop all"};
  const Alternative slicing{.name = "time-slicing",
                            .what = "time-slicing; a GPU each for SLOs",
                            .isolation = "none: memory and time are shared"};
  for (const Alternative& way : {mps, slicing}) {
    RIGHTSIZE_TRY(Alternative found, shared_gpus(way, file, types, speeds, way.name == slicing.name));
    all.push_back(std::move(found));
  }
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
  return all;
}

}  // namespace rightsize::mig
