// What jobs cost, from a scheduler's accounting alone: by user, account, partition and state, and what of it bought
// nothing. A job costs its GPUs times its elapsed time, measured or not, whatever became of it.
//
//   telemetry::JobTable table = ...;                          // telemetry/feeds/slurm.h
//   clip_jobs(table, {from, until});                          // when only a window is asked for
//   std::vector<GpuUse> gpus = gpus_of_jobs(table, {...});    // for hosts no telemetry tells of
//   JobLedger ledger = make_job_ledger(table, prices, idle, rows);
#pragma once

#include <set>
#include <string>
#include <vector>

#include "fleet/coverage.h"
#include "fleet/fleet.h"
#include "telemetry/feeds/slurm.h"

namespace rightsize::fleet {

// Cuts jobs to the window, their elapsed time in proportion; drops those outside.
void clip_jobs(telemetry::JobTable& table, const Interval& window);

// The GPUs a log speaks of, as far as it can: a job whose GPU index is not known takes the lowest number that is free
// on its host, so that a host gets as many GPUs as were ever in use at once. Their hours add up to the jobs' exactly;
// time between jobs is not in a log and not in them. Jobs on `covered` hosts (short names) are left to telemetry.
std::vector<GpuUse> gpus_of_jobs(const telemetry::JobTable& table, const IdleRule& idle,
                                 const std::set<std::string>& covered = {});

// `rows` price jobs whose log names no GPU type, by host. Jobs without any price count in hours only.
JobLedger make_job_ledger(const telemetry::JobTable& table, const DevicePrices& prices, const IdleRule& idle,
                          const std::vector<GpuRow>& rows);

// What a reader must know of a log before trusting its numbers.
std::vector<std::string> job_notes(const telemetry::JobTable& table, const std::vector<GpuRow>& rows);

}  // namespace rightsize::fleet
