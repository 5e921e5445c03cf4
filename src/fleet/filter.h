// Selects work from a job log or from Kubernetes pods.
//
//   WorkFilter only{.users = {"ann"}};
//   Result<> kept = keep(only, table, state);  // fails if no job of ann is in the log
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "telemetry/feeds/kubernetes.h"
#include "telemetry/feeds/slurm.h"

namespace rightsize::fleet {

// An empty list selects all. A job or pod must be in every list that is not empty.
struct WorkFilter {
  std::vector<std::string> users = {}, accounts = {}, partitions = {}, namespaces = {};

  bool empty() const { return users.empty() && accounts.empty() && partitions.empty() && namespaces.empty(); }
};

// Drops all other work. Jobs have a user, an account and a partition, pods a namespace: fails if a filter does not
// apply to the input, and for names that do not occur. Nodes keep the GPUs of the pods that remain.
Result<> keep(const WorkFilter& only, telemetry::JobTable& jobs, telemetry::ClusterState& cluster);

}  // namespace rightsize::fleet
