// Assigns Slurm jobs to GPUs, for fleets whose metrics do not name their users.
#pragma once

#include <string>
#include <vector>

#include "fleet/use.h"
#include "telemetry/feeds/slurm.h"

namespace rightsize::fleet {

// How many GPUs got an owner.
struct Attribution {
  std::size_t by_job = 0;   // by the job ID in their metrics
  std::size_t by_time = 0;  // by host, index and time
};

// A tenancy whose instance is a job ID gets that job's user, account and name. A GPU without any owner gets the jobs
// that had it (by short host name and index) as tenancies, for the time they overlap with the observed time; the rest
// stays unowned. If the log does not say which GPUs of a host a job had, it gets an equal part of each: the hours per
// host are then right, those per GPU are not known.
Attribution attribute_jobs(std::vector<GpuUse>& gpus, const telemetry::JobTable& table);

}  // namespace rightsize::fleet
