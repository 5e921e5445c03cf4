// Slurm's accounting: who had which GPUs when, and how busy jobstats or Slurm itself saw them.
//
//   sacct -P -a -S 2026-11-01 -o
//   JobID,User,Account,JobName,Start,End,ElapsedRaw,AllocTRES,NodeList,TRESUsageInAve,AdminComment
//
// The table is read by its header, so columns may be in any order and others may stand between; JobID, Start and
// AllocTRES must be there. jobstats stores a job's GPUs by host and index in AdminComment ("JS1:" and packed JSON);
// where there is none, Slurm's own mean (gres/gpuutil) is taken, and which index a job had stays unknown.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "telemetry/byte_source.h"
#include "telemetry/sample.h"

namespace rightsize::telemetry {

struct JobGpu {
  std::string host;
  int index = -1;                                 // -1: which of the host's GPUs is not known
  std::optional<double> utilization;              // mean, 0-1
  std::optional<double> used_bytes, total_bytes;  // largest, capacity
};

struct Job {
  std::string id, user, account, name, gpu_model;
  double start = 0, end = 0;  // seconds since 1970
  std::vector<JobGpu> gpus;
};

struct JobTable {
  std::vector<Job> jobs;  // those with GPUs, steps left out
  std::size_t without_gpu = 0;
  std::size_t refused = 0;  // rows that make no sense
};

// At most 64 MiB a line, any number of lines.
Result<JobTable> read_jobs(ByteSource& source, const std::string& file);

// "node[01-03,07],login1" -> its hosts; at most 10,000.
std::vector<std::string> expand_hosts(std::string_view list);

// jobstats' "JS1:..." comment as the JSON inside; nothing when there is none or it is damaged.
std::optional<std::string> unpack_jobstats(std::string_view comment);

// Jobs as samples: each GPU with the job's mean over its time, a reading every five minutes. For fleets of which
// nothing else is known.
void samples_of(const JobTable& table, SampleSink& sink);

}  // namespace rightsize::telemetry
