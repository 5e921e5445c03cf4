// Turns the rows of a job log into jobs. Internal to read_jobs().
#pragma once

#include <functional>
#include <string>
#include <unordered_map>
#include <vector>

#include "telemetry/feeds/slurm.h"
#include "telemetry/feeds/slurm_columns.h"

namespace rightsize::telemetry {

// The number of GPUs in a list of resources, and their type if given. A job with GPUs of two types gets the name of the
// first: Slurm does not record which node had which.
struct GpuAllocation {
  double count = 0;
  std::string model = {}, mig_profile = {};
};
GpuAllocation gpus_in_tres(std::string_view list);  // "billing=8,cpu=8,gres/gpu:a100=2,gres/gpu=2"
GpuAllocation gpus_in_gres(std::string_view list);  // "gpu:a100:2", "gres:gpu:2"

// The facts in a job's row; texts point into the row.
struct JobFacts {
  std::string_view id, user, account, partition, name, state, nodes, comment;
  std::optional<TimePoint> submit, start, end;
  std::optional<Seconds> elapsed, time_limit;
  GpuAllocation gpus;
};

// GPU usage as Slurm measured it.
struct SlurmUsage {
  std::optional<double> utilization;  // as recorded, 1 is 100 %: the mean or the sum of the GPUs of a task
  std::optional<double> memory;       // bytes
  double gpus = 1;                    // per node
};
SlurmUsage usage_in_tres(std::string_view list, double gpus, std::string_view nodes);

class JobRows {
 public:
  JobRows() : arena_(std::make_shared<TextArena>()) {}

  // Whether the table has the columns that a job needs.
  bool fits(const JobColumns& columns);
  void take(const JobColumns& row, std::size_t line);
  // `where` is used in the first refusal only.
  void take_job(const JobFacts& facts, const SlurmUsage& usage, std::size_t line);
  void take_step(std::string_view id, std::optional<TimePoint> start, std::optional<Seconds> elapsed,
                 const SlurmUsage& usage);
  void refuse(std::size_t line, const char* why);
  JobTable finish();

 private:
  // A step's row, until all jobs are known: steps may come first in a sorted or merged log. Logs have millions of them.
  struct StepUsage {
    std::uint64_t job = 0;     // hash of its ID
    TimePoint start;           // 0: unknown
    float elapsed = 0;         // seconds
    float utilization, bytes;  // SlurmJob::kUnmeasured if missing
    float gpus = 1;            // per node
  };
  // Words are looked up once per text and column.
  Word word(std::string_view text);
  std::string_view name(std::string_view text);
  bool is_new(std::string_view id, TimePoint start);
  void add_steps(SlurmJob& job) const;
  void see(const SlurmUsage& usage);
  float mean_utilization(float recorded, float gpus) const;

  JobTable table_;
  std::shared_ptr<TextArena> arena_;
  std::unordered_map<std::string_view, Word> words_;                       // the keys are the words' texts
  std::unordered_map<std::string_view, std::string_view> names_;           // those that repeat
  std::vector<std::uint64_t> seen_ = std::vector<std::uint64_t>(1024, 0);  // a hash table of runs; 0 is free
  std::size_t seen_count_ = 0;
  std::vector<StepUsage> steps_;
  std::vector<std::pair<std::uint32_t, float>> several_;  // jobs with a recorded utilization, and their GPUs per node
  bool shared_ = false, sums_ = false;                    // utilization of several GPUs; above 100 %
};

// sacct --json.
Result<JobTable> read_jobs_json(ByteSource& source, const std::string& file);

}  // namespace rightsize::telemetry
