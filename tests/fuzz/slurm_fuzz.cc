// Any bytes as the output of sacct, a host list, a jobstats comment and reports of seff: jobs with GPUs and a duration,
// or an error.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>

#include "telemetry/feeds/slurm.h"
#include "telemetry/feeds/slurm_reports.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace rightsize;
  const std::string text(reinterpret_cast<const char*>(data), size);
  if (telemetry::expand_hosts(text).size() > 10'000) std::abort();
  (void)telemetry::unpack_jobstats(text);
  const telemetry::JobTable reports = telemetry::read_job_reports(text);
  for (const telemetry::SlurmJob& job : reports.jobs) {
    if (job.id.empty() || !(job.utilization >= 0 && job.utilization <= 1)) std::abort();
    if (job.gpu_count > 0 && job.end <= job.start) std::abort();
  }
  auto source = bytes_of(text);
  auto table = telemetry::read_jobs(*source, "fuzz");
  if (!table) {
    if (describe(table.error()).empty()) std::abort();
    return 0;
  }
  for (const telemetry::SlurmJob& job : table->jobs) {
    if (job.end <= job.start || job.gpu_count == 0) std::abort();
  }
  return 0;
}
