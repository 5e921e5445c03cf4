// Slurm's accounting: the GPUs of each job over time, how the job ended, and GPU utilization according to jobstats or
// Slurm.
//
//   TZ=UTC sacct -P -a -S 2026-11-01 -o
//   JobID,User,Account,JobName,Partition,State,Start,End,ElapsedRaw,TimelimitRaw,AllocTRES,NodeList,TRESUsageInAve,
//   AdminComment
//
// or sacct --json. A table is read by its header: columns may be in any order, other columns are ignored. It needs
// JobID or JobIDRaw, Start, and AllocTRES, ReqTRES or AllocGRES; slurm_columns.h describes delimiters and tables
// without a header. Times are sacct's local ones (read as UTC), or seconds since 1970 (SLURM_TIME_FORMAT=%s). jobstats
// stores a job's GPUs by host and index in AdminComment ("JS1:" and packed JSON); without it, Slurm's own mean
// (gres/gpuutil) is taken from the job's row or its steps, and the GPU index stays unknown.
//
// A month of a large cluster is a million jobs: a job takes about 150 bytes.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/byte_source.h"
#include "base/result.h"
#include "base/usage_units.h"

namespace rightsize::telemetry {

// A text that many jobs share, such as a user or a state, kept once for the life of the program: four bytes per job.
class Word {
 public:
  Word() = default;
  Word(const char* text) : Word(std::string_view(text)) {}  // NOLINT: literals are words
  explicit Word(std::string_view text);
  operator const std::string&() const { return str(); }  // NOLINT
  const std::string& str() const;
  bool empty() const { return number_ == 0; }
  bool operator==(const Word& other) const { return number_ == other.number_; }
  bool operator==(std::string_view other) const { return str() == other; }
  bool operator==(const char* other) const { return str() == other; }
  auto operator<=>(const Word& other) const { return number_ <=> other.number_; }  // arbitrary order

 private:
  std::uint32_t number_ = 0;  // 0: no text
};

// Texts that differ for nearly every job: IDs and names.
class TextArena {
 public:
  std::string_view keep(std::string_view text);

 private:
  std::vector<std::unique_ptr<char[]>> blocks_;
  std::size_t used_ = 0, size_ = 0;
};

// A duration that may be unknown, in four bytes.
class MaybeSeconds {
 public:
  MaybeSeconds() = default;
  MaybeSeconds(Seconds time) : seconds_(static_cast<float>(in_seconds(time))) {}                              // NOLINT
  MaybeSeconds(std::optional<Seconds> time) : seconds_(time ? static_cast<float>(in_seconds(*time)) : -1) {}  // NOLINT
  explicit operator bool() const { return seconds_ >= 0; }
  Seconds operator*() const { return seconds(static_cast<double>(seconds_)); }

 private:
  float seconds_ = -1;
};

struct JobGpu {
  std::string host = {};
  int index = -1;                              // -1: unknown
  std::optional<Ratio> utilization = {};       // mean over the job
  std::optional<Bytes> used = {}, total = {};  // largest, capacity
};

struct SlurmJob {
  std::string_view id = {};  // "4001", "4001_3" (a task of an array), "4001+0" (a part of a heterogeneous job)
  Word user = {}, account = {}, partition = {};
  std::string_view name = {};
  Word state = {};                  // "COMPLETED", "CANCELLED" (without who did it), ...; empty: not in the table
  Word gpu_model = {};              // as gres.conf calls it: "a100"; empty: not typed
  Word mig_profile = {};            // "3g.20gb" where the type names one
  Word nodes = {};                  // "n[01-03]"
  TimePoint start = {}, end = {};   // the end of a running job is when the log was made
  Seconds elapsed = {};             // the paid time, without suspended time
  MaybeSeconds time_limit = {};     // not set: unlimited, or not in the table
  MaybeSeconds waited = {};         // from submission or eligibility to the start
  std::uint32_t gpu_count = 0;      // as many as were allocated
  float utilization = kUnmeasured;  // mean of all its GPUs, 0-1, if they are not known one by one
  float used_bytes = kUnmeasured;
  std::shared_ptr<const std::vector<JobGpu>> known_gpus = {};  // from jobstats: by host and index

  static constexpr float kUnmeasured = -1;

  bool running() const { return state == "RUNNING" || state == "SUSPENDED" || state == "COMPLETING"; }
  bool measured() const;  // every GPU has a utilization
  GpuTime gpu_time() const { return rightsize::gpus(static_cast<double>(gpu_count)) * elapsed; }
  // All gpu_count GPUs; those known only by number are distributed evenly over the hosts.
  std::vector<JobGpu> gpus() const;
};

struct JobTable {
  std::deque<SlurmJob> jobs;                            // those with GPUs that ran; each run of a requeued job is one
  std::size_t without_gpu = 0;                          // CPU jobs
  std::size_t never_started = 0;                        // pending, or cancelled before they began
  std::size_t repeated = 0;                             // duplicate rows of a run
  std::size_t refused = 0;                              // inconsistent rows, which are ignored
  std::string first_refused;                            // "line 12: it ends before it starts"
  std::vector<std::string> notes;                       // facts that this form of the table lacks
  std::vector<std::shared_ptr<const TextArena>> texts;  // of the jobs

  void append(JobTable&& other);
  bool empty() const { return jobs.empty() && without_gpu + never_started + refused == 0; }
};

// Whether a text is Slurm's accounting, by its first kilobytes.
bool looks_like_jobs(std::string_view beginning);

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
