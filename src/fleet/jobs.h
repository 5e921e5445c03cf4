// The cost of jobs, from a scheduler's accounting alone: by user, account, partition and state, and the part without a
// result. A job costs its GPUs times its elapsed time, measured or not, successful or not.
//
//   telemetry::JobTable table;                             // filled by telemetry/feeds/slurm.h
//   clip_jobs(table, {from, until});                       // if only a window counts
//   std::vector<GpuUse> gpus = gpus_of_jobs(table, idle);  // for hosts without telemetry
//   JobLedger ledger = make_job_ledger(table, prices, idle, rows);
#pragma once

#include <functional>
#include <set>
#include <string>
#include <vector>

#include "fleet/fleet.h"
#include "gpu_use/coverage.h"
#include "telemetry/feeds/slurm.h"

namespace rightsize::fleet {

// Cuts jobs to the window, their elapsed time in proportion; drops those outside.
void clip_jobs(telemetry::JobTable& table, const TimeSpan& window);

// The GPUs of a job log. A job without a GPU index takes the lowest number that is free on its host, so a host has as
// many GPUs as were in use at the same time. Their hours add up exactly to the jobs'; time between jobs is not counted.
// Jobs on `covered` hosts (short names) are left out, because telemetry has them. `jobs_read` is called when the table
// is no longer needed and may free it.
std::vector<GpuUse> gpus_of_jobs(const telemetry::JobTable& table, const IdleRule& idle,
                                 const std::set<std::string>& covered = {},
                                 const std::function<void()>& jobs_read = {});

// `rows` give the price, by host, of jobs without a GPU type. Jobs without any price count in hours only.
JobLedger make_job_ledger(const telemetry::JobTable& table, const DevicePrices& prices, const IdleRule& idle,
                          const std::vector<GpuRow>& rows);

// Whether jobs have names of this kind. A log without accounts, for example, has one line for all jobs.
bool any_named(const std::vector<GroupLine>& lines);

// Caveats about the job log; `only_log`: there is no telemetry.
std::vector<std::string> job_notes(const telemetry::JobTable& table, bool only_log);

// How many GPUs got an owner.
struct Attribution {
  std::size_t by_job = 0;   // by the job ID in their metrics
  std::size_t by_time = 0;  // by host, index and time
};

// A tenancy with a job ID as its instance gets that job's user, account and name. A GPU without any owner gets the jobs
// that had it (by short host name and index) as tenancies, for the time they overlap with the observed time; the rest
// stays unowned. If the log does not record a job's GPUs, the job gets an equal part of each GPU of the host: the hours
// per host are then right, but those per GPU are unknown.
Attribution attribute_jobs(std::vector<GpuUse>& gpus, const telemetry::JobTable& table);

}  // namespace rightsize::fleet
