// Which work of a job log or of Kubernetes' pods counts.
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

// An empty list takes all. A job or pod must be in every list that is not empty.
struct WorkFilter {
  std::vector<std::string> users = {}, accounts = {}, partitions = {}, namespaces = {};

  bool empty() const { return users.empty() && accounts.empty() && partitions.empty() && namespaces.empty(); }
};

// Drops all other work. Jobs have a user, an account and a partition, pods a namespace: fails where a filter does not
// apply to what was read, and for names that do not occur. Nodes keep the GPUs of the pods that remain.
Result<> keep(const WorkFilter& only, telemetry::JobTable& jobs, telemetry::ClusterState& cluster);

}  // namespace rightsize::fleet
