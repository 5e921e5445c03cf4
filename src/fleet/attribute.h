// Slurm's jobs laid over what GPUs did: for fleets whose metrics do not say who used them.
#pragma once

#include <string>
#include <vector>

#include "fleet/use.h"
#include "telemetry/feeds/slurm.h"

namespace rightsize::fleet {

// How many GPUs got an owner, and how.
struct Attribution {
  std::size_t by_job = 0;   // their metrics named a job
  std::size_t by_time = 0;  // host, index and time agreed
};

// A tenancy whose instance is a job's id gets that job's user, account and name. A GPU nobody is named for gets the
// jobs that had it (host without its domain, and index) as tenancies, by the time they overlap with what was observed;
// what is left over stays nobody's. Where a log does not say which GPUs of a host a job had, it has an equal part of
// all of them: whose hours a host's are is then right, which GPU was whose is not said.
Attribution attribute_jobs(std::vector<GpuUse>& gpus, const telemetry::JobTable& table);

}  // namespace rightsize::fleet
