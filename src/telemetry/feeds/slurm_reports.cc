#include "telemetry/feeds/slurm_reports.h"

#include <optional>

#include "base/parse_units.h"
#include "base/text.h"

namespace rightsize::telemetry {
namespace {

constexpr std::string_view kJob = "Job ID:";

// "GPU utilization [|||| 68%]", "GPU Efficiency: 68.0%": the number before the first percent sign.
std::optional<double> percent_in(std::string_view line) {
  const std::size_t end = line.find('%');
  if (end == std::string_view::npos) return std::nullopt;
  const std::size_t begin = line.substr(0, end).find_last_not_of("0123456789.");
  const Result<double> value =
      parse_number(line.substr(begin == std::string_view::npos ? 0 : begin + 1, end - begin - 1));
  return value && *value >= 0 && *value <= 100 ? std::optional(*value / 100) : std::nullopt;
}

}  // namespace

bool looks_like_job_reports(std::string_view beginning) {
  return beginning.find(kJob) != std::string_view::npos && beginning.find("State:") != std::string_view::npos &&
         (beginning.find("Efficiency") != std::string_view::npos ||
          beginning.find("Job Statistics") != std::string_view::npos);
}

std::map<std::string, double> read_job_reports(std::string_view text) {
  std::map<std::string, double> reports;
  std::string job;
  for (const std::string_view each : split_list(text, '\n')) {
    const std::string_view line = trim(each);
    if (line.starts_with(kJob)) job = trim(line.substr(kJob.size()));
    const std::string lower = to_lower(line.substr(0, 20));
    if (job.empty() || !(lower.starts_with("gpu utilization") || lower.starts_with("gpu efficiency"))) continue;
    if (const std::optional<double> value = percent_in(line)) reports.emplace(job, *value);
  }
  return reports;
}

}  // namespace rightsize::telemetry
