#include "mig/mechanisms.h"

#include <algorithm>
#include <map>

namespace rightsize::mig {
namespace {

sharing::Tenant tenant_of(const Workload& w, const catalog::Gpu& gpu, const perf::SpeedTable& speeds) {
  constexpr double kPercentile = 0.99;    // of `latency` in the file
  constexpr double kAdapterShare = 0.02;  // of the weights, unless the file gives its size
  const double slower = slowdown_on(w, gpu, speeds);
  sharing::Tenant t;
  t.memory = w.memory;
  t.weights = w.weights > Bytes{} ? std::min(w.weights, w.memory) : w.memory;
  t.busy = std::max(w.load.fraction(), w.bandwidth.fraction()) * slower;
  t.headroom = w.headroom.fraction();
  if (w.service) t.service = *w.service * slower;
  if (w.rate) t.rate = in_requests_per_s(*w.rate) / w.replicas;
  t.limit = w.latency;
  t.percentile = kPercentile;
  t.kind = w.kind;
  t.base = w.base;
  t.adapter = w.adapter > Bytes{} ? w.adapter : t.weights * kAdapterShare;
  t.fits = misfit(w, capacity_of(gpu), gpu, speeds).empty();
  return t;
}

}  // namespace

sharing::Demand demand_of(const WorkloadFile& file, const std::vector<GpuType>& types, const perf::SpeedTable& speeds,
                          std::vector<ReplicaId>& replicas) {
  sharing::Demand demand;
  demand.tenants.resize(types.size());
  for (const GpuType& type : types) {
    const perf::SustainedRates* rates = speeds.find(*type.gpu);
    const BytesPerSecond link = rates != nullptr ? rates->host_link.value_or(BytesPerSecond{}) : BytesPerSecond{};
    constexpr double kReached = 0.85;  // of the link: 55 of 63 GB/s on our H200
    demand.gpus.push_back({type.gpu->capacity(), type.usd_per_hour(), link * kReached});
  }
  std::map<std::string, int> groups;
  for (std::size_t w = 0; w < file.workloads.size(); ++w) {
    const Workload& workload = file.workloads[w];
    const int next = static_cast<int>(groups.size());
    const int together = workload.affinity.empty() ? -1 : groups.try_emplace(workload.affinity, next).first->second;
    for (std::size_t t = 0; t < types.size(); ++t) {
      sharing::Tenant tenant = tenant_of(workload, *types[t].gpu, speeds);
      if (workload.spread && workload.replicas > 1) tenant.apart = static_cast<int>(w);
      demand.tenants[t].insert(demand.tenants[t].end(), static_cast<std::size_t>(workload.replicas), tenant);
    }
    for (int r = 0; r < workload.replicas; ++r) {
      replicas.push_back({w, r});
      demand.together.push_back(together);
    }
  }
  return demand;
}

std::optional<std::vector<sharing::Group>> groups_of(const SlicePlan& plan, const std::vector<GpuType>& types,
                                                     const sharing::Demand& demand,
                                                     const std::vector<ReplicaId>& replicas) {
  std::map<ReplicaId, std::size_t> position;
  for (std::size_t r = 0; r < replicas.size(); ++r) position[replicas[r]] = r;
  std::vector<sharing::Group> groups;
  for (const PlannedGpu& gpu : plan.gpus) {
    sharing::Group group;
    group.how = sharing::Mechanism::kMig, group.gpu = gpu.type;
    group.usd_per_hour = types[gpu.type].usd_per_hour();
    for (const PlannedInstance& instance : gpu.instances) {
      const Resources slice = capacity_of(*types[gpu.type].geometry, instance.where.profile);
      const double share = std::min(slice.sms, slice.bandwidth);
      std::vector<sharing::Tenant> scaled;  // as on a GPU of the slice's size
      for (const ReplicaId& replica : instance.replicas) {
        sharing::Tenant t = demand.tenants[gpu.type][position.at(replica)];
        t.busy /= share;
        if (t.service) t.service = *t.service / share;
        group.tenants.push_back(position.at(replica));
        scaled.push_back(std::move(t));
      }
      std::vector<const sharing::Tenant*> tenants;
      for (const sharing::Tenant& t : scaled) tenants.push_back(&t);
      if (tenants.size() == 1) {
        group.served.push_back(sharing::alone(scaled[0]));
      } else {
        const std::optional<sharing::Group> shared =
            sharing::evaluate(sharing::Mechanism::kMps, tenants, {slice.memory, group.usd_per_hour, {}});
        if (!shared) return std::nullopt;
        group.served.insert(group.served.end(), shared->served.begin(), shared->served.end());
      }
    }
    groups.push_back(std::move(group));
  }
  return groups;
}

}  // namespace rightsize::mig
