// The workloads of a file as tenants of shared GPUs, and the cheapest mechanism for each.
#pragma once

#include "mig/plan.h"
#include "sharing/sharing.h"

namespace rightsize::mig {

// A plan in which every replica has its own mechanism. Groups refer to `replicas` by position and to GPU types.
struct Mix {
  std::vector<ReplicaId> replicas;
  sharing::SharingPlan plan;

  bool feasible() const { return plan.unplaced.empty() && !plan.groups.empty(); }
  UsdPerSecond rate() const { return usd_per_hour(plan.usd_per_hour); }
};

// Latency limits of the file are p99.
sharing::Demand demand_of(const WorkloadFile& file, const std::vector<GpuType>& types, const perf::SpeedTable& speeds,
                          std::vector<ReplicaId>& replicas);

// The GPUs of a slice plan as candidates. Empty if replicas that share a slice slow each other down too much.
std::optional<std::vector<sharing::Group>> groups_of(const SlicePlan& plan, const std::vector<GpuType>& types,
                                                     const sharing::Demand& demand,
                                                     const std::vector<ReplicaId>& replicas);

// Every way to run the workloads: the plan `mig`, MIG with MPS in shared slices, each way to share whole GPUs (with a
// dedicated GPU for workloads that cannot share), the cheapest mechanism for each workload, one allowed GPU per
// replica, and the cheapest GPU of the catalogue per replica.
struct Comparison {
  std::vector<Alternative> alternatives;
  Mix mix;
};
Result<Comparison> compare_alternatives(const WorkloadFile& file, const std::vector<GpuType>& types,
                                        const perf::SpeedTable& speeds, catalog::Purchase purchase,
                                        const SlicePlan& mig, const PlanOptions& options);

}  // namespace rightsize::mig
