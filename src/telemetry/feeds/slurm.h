// Slurm's accounting: which job had which GPUs when, how it ended, and how busy they were according to jobstats or
// Slurm.
//
//   TZ=UTC sacct -P -a -S 2026-11-01 -o
//   JobID,User,Account,JobName,Partition,State,Start,End,ElapsedRaw,TimelimitRaw,AllocTRES,NodeList,TRESUsageInAve,
//   AdminComment
//
// The table is read by its header: columns may be in any order, others are ignored; JobID, Start and AllocTRES are
// required. Times are sacct's local ones (read as UTC), or seconds since 1970 (SLURM_TIME_FORMAT=%s).
// jobstats stores a job's GPUs by host and index in AdminComment ("JS1:" and packed JSON); where there is none, Slurm's
// own mean (gres/gpuutil) is taken from the job's row or its steps, and which index a job had stays unknown.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/byte_source.h"
#include "base/result.h"
#include "base/usage_units.h"

namespace rightsize::telemetry {

struct JobGpu {
  std::string host = {};
  int index = -1;                              // -1: which of the host's GPUs is not known
  std::optional<Ratio> utilization = {};       // mean over the job
  std::optional<Bytes> used = {}, total = {};  // largest, capacity
};

struct SlurmJob {
  std::string id = {};  // "4001", "4001_3" (a task of an array), "4001+0" (a part of a heterogeneous job)
  std::string user = {}, account = {}, partition = {}, name = {};
  std::string state = {};          // "COMPLETED", "CANCELLED" (without who did it), ...; empty: not in the table
  std::string gpu_model = {};      // as gres.conf calls it: "a100"; empty: not typed
  std::string mig_profile = {};    // "3g.20gb" where the type names one
  TimePoint start = {}, end = {};  // the end of a running job is when the log was made
  Seconds elapsed = {};            // what is paid for: suspended time is not in it
  std::optional<Seconds> time_limit = {};  // not set: unlimited, or not in the table
  std::vector<JobGpu> gpus = {};           // as many as were allocated

  bool running() const { return state == "RUNNING" || state == "SUSPENDED" || state == "COMPLETING"; }
  bool measured() const;  // every GPU has a utilization
  GpuTime gpu_time() const { return rightsize::gpus(static_cast<double>(gpus.size())) * elapsed; }
};

struct JobTable {
  std::vector<SlurmJob> jobs;     // those with GPUs that ran; each run of a requeued job is one
  std::size_t without_gpu = 0;    // CPU jobs
  std::size_t never_started = 0;  // pending, or cancelled before they began
  std::size_t repeated = 0;       // duplicate rows of a run
  std::size_t refused = 0;        // inconsistent rows, which are not costed
  std::string first_refused;      // "line 12: it ends before it starts"

  void append(JobTable&& other);
  bool empty() const { return jobs.empty() && without_gpu + never_started + refused == 0; }
};

// Lines may be up to 64 MiB long.
Result<JobTable> read_jobs(ByteSource& source, const std::string& file);

// "node[01-03,07],login1" -> its hosts; at most 10,000.
std::vector<std::string> expand_hosts(std::string_view list);

// The JSON inside jobstats' "JS1:..." comment; empty if there is none or it is damaged.
std::optional<std::string> unpack_jobstats(std::string_view comment);

// The GPUs of that JSON, by host and index.
std::vector<JobGpu> gpus_of_jobstats(const std::string& json);

// A row with more GPUs for one job is refused.
inline constexpr std::size_t kMostJobGpus = 100'000;

}  // namespace rightsize::telemetry
