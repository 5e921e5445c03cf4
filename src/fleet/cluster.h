// The cost of a Kubernetes cluster by the requesters of its GPUs, from its pods and nodes alone. Requests do not show
// how busy GPUs are, so their use stays unknown.
//
//   ClusterLedger ledger = make_cluster_ledger(state, prices);  // state: telemetry/feeds/kubernetes.h
//   std::vector<GpuUse> gpus = gpus_of_cluster(state);          // the current state, as one hour of each GPU
#pragma once

#include <optional>
#include <set>
#include <string>
#include <vector>

#include "fleet/price.h"
#include "gpu_use/use.h"
#include "telemetry/feeds/kubernetes.h"

namespace rightsize::fleet {

// The requests of one workload.
struct RequestLine {
  std::string team, workload;
  std::size_t pods = 0;
  double gpus = 0;                   // a pod that shares a GPU has a part of it
  std::optional<GpuTime> gpu_time;   // since the pods started; empty: nothing in the list is later than their start
  std::optional<UsdPerSecond> rate;  // not set: no price
};

struct NodeLine {
  std::string name, pool, machine, gpu;
  double gpus = 0, requested = 0;
  std::optional<UsdPerSecond> rate, free_rate;  // not set: no price
};

struct ClusterLedger {
  std::optional<TimePoint> moment;
  std::size_t idle_nodes = 0;  // no pod requests their GPUs
  double gpus = 0, requested = 0;
  double waiting = 0;                       // GPUs that pods without a node request
  std::size_t unpriced = 0;                 // nodes
  UsdPerSecond rate, free_rate, idle_rate;  // of nodes with a price: all, free GPUs, idle nodes
  std::vector<RequestLine> requests;        // most dollars first, then most GPUs
  std::vector<NodeLine> nodes;              // most free GPUs first
  std::vector<std::string> notes;
};

ClusterLedger make_cluster_ledger(const telemetry::ClusterState& state, const DevicePrices& prices);

// Every GPU for one hour, with its pods as tenants; the rest has no owner. Nodes in `covered` (short names) are left
// out, because telemetry has them.
std::vector<gpu_use::GpuUse> gpus_of_cluster(const telemetry::ClusterState& state,
                                             const std::set<std::string>& covered = {});

}  // namespace rightsize::fleet
