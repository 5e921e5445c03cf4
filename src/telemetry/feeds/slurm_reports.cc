#include "telemetry/feeds/slurm_reports.h"

#include <algorithm>
#include <optional>

#include <fmt/format.h>

#include "base/parse_units.h"
#include "base/slurm_time.h"
#include "base/text.h"
#include "telemetry/times.h"

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

// "Fri Mar 4, 2026 at 1:56 AM"
std::optional<TimePoint> parse_start(std::string_view text) {
  const std::vector<std::string_view> words = split_list(text, ' ');
  if (words.size() != 7 || words[2].size() < 2 || words[5].size() < 4) return std::nullopt;
  const std::size_t colon = words[5].find(':');
  const Result<double> hour = parse_number(words[5].substr(0, colon));
  if (colon == std::string_view::npos || !hour || *hour > 12) return std::nullopt;
  const int hours = static_cast<int>(*hour) % 12 + (words[6] == "PM" ? 12 : 0);
  return parse_xml_time(fmt::format("{} {} {} {:02}{}:00 {}", words[0], words[1],
                                    words[2].substr(0, words[2].size() - 1), hours, words[5].substr(colon), words[3]));
}

// "della-i14g2", "0)" and "65.7%" or "26.5GB/40.0GB (66.2%)"
void read_gpu(std::string_view host, std::string_view index, std::string_view value, std::vector<JobGpu>& gpus) {
  const Result<double> number = parse_number(index.substr(0, index.find(')')));
  if (!number || *number < 0 || *number > 1000) return;
  const int at = static_cast<int>(*number);
  auto gpu = std::ranges::find_if(gpus, [&](const JobGpu& g) { return g.host == host && g.index == at; });
  if (gpu == gpus.end()) gpu = gpus.insert(gpu, JobGpu{.host = std::string(host), .index = at});
  const std::size_t slash = value.find('/');
  if (slash == std::string_view::npos) {
    if (const std::optional<double> share = percent_in(value)) gpu->utilization = Ratio::fraction(*share);
  } else {
    const Result<Bytes> used = parse_bytes(value.substr(0, slash));
    const Result<Bytes> total = parse_bytes(trim(value.substr(slash + 1, value.find('(') - slash - 1)));
    if (used && total) gpu->used = *used, gpu->total = *total;
  }
}

}  // namespace

bool looks_like_job_reports(std::string_view beginning) {
  return beginning.find(kJob) != std::string_view::npos && beginning.find("State:") != std::string_view::npos &&
         (beginning.find("Efficiency") != std::string_view::npos ||
          beginning.find("Job Statistics") != std::string_view::npos);
}

JobTable read_job_reports(std::string_view text) {
  JobTable table;
  auto kept = std::make_shared<TextArena>();
  SlurmJob job;
  std::vector<JobGpu> gpus;
  const auto finish = [&] {
    if (!job.id.empty() && job.utilization >= 0) {
      const bool whole = job.elapsed > Seconds{} && in_unix_seconds(job.start) > 0;
      if (!whole) job.gpu_count = 0;
      job.end = job.start + job.elapsed;
      if (gpus.size() == job.gpu_count && whole)
        job.known_gpus = std::make_shared<const std::vector<JobGpu>>(std::move(gpus));
      table.jobs.push_back(job);
    }
    job = {}, gpus.clear();
  };
  for (const std::string_view line : split_list(text, '\n')) {
    const std::size_t colon = line.find(':');
    const std::string_view key = trim(line.substr(0, colon));
    const std::string_view value = trim(line.substr(std::min(line.size(), std::min(colon, line.size() - 1) + 1)));
    const std::string_view first = value.substr(0, value.find_first_of(" /")),
                           last = value.substr(value.rfind('/') + 1);
    if (line.starts_with(kJob)) {
      finish();
      job.id = kept->keep(first);
    } else if (key == "State") {
      job.state = Word(first);
    } else if (key == "Job Name") {
      job.name = kept->keep(value);
    } else if (key.ends_with("/Account") || key.ends_with("/Group")) {
      job.user = Word(first), job.account = Word(last);
    } else if (key.ends_with("Partition")) {
      job.partition = Word(last);
    } else if (key == "GPUs") {
      const Result<double> count = parse_number(value);
      if (count && *count >= 1 && *count <= kMostJobGpus) job.gpu_count = static_cast<std::uint32_t>(*count);
    } else if (key == "Start Time") {
      job.start = parse_start(value).value_or(TimePoint{});
    } else if (key == "Run Time" || key == "Job Wall-clock time") {
      job.elapsed = parse_slurm_time(first).value_or(Seconds{});
    } else if (key == "Time Limit") {
      job.time_limit = parse_slurm_time(first);
    } else if (const std::size_t at = key.find(" (GPU "); at != std::string_view::npos) {
      read_gpu(key.substr(0, at), key.substr(at + 6), value, gpus);
    } else if (const std::string lower = to_lower(line.substr(0, 20));
               lower.starts_with("gpu utilization") || lower.starts_with("gpu efficiency")) {
      if (const std::optional<double> share = percent_in(line)) job.utilization = static_cast<float>(*share);
    }
  }
  finish();
  table.texts.push_back(std::move(kept));
  return table;
}

}  // namespace rightsize::telemetry
