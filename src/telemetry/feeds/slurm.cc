#include "telemetry/feeds/slurm.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <map>
#include <set>

#include <fmt/format.h>

#include "base/parse_units.h"
#include "base/raw_bytes.h"
#include "base/slurm_time.h"
#include "base/text.h"
#include "telemetry/feeds/feeds.h"

namespace rightsize::telemetry {
namespace {

constexpr std::size_t kMostHosts = 10'000;
constexpr std::size_t kLongestLine = 64U << 20;

// GPU usage of a job or a step as Slurm measured it.
struct SlurmUsage {
  std::optional<Ratio> utilization;
  std::optional<Bytes> memory;
};

// A step's row, until its job's row is known: steps may come first in a sorted or merged log.
struct StepUsage {
  std::optional<TimePoint> start;
  Seconds elapsed;
  SlurmUsage usage;
};

// One line as its cells by column name.
struct SacctRow {
  const std::vector<std::string>& names;
  std::vector<std::string_view> cells;

  std::string_view operator[](std::string_view name) const {
    for (std::size_t i = 0; i < names.size() && i < cells.size(); ++i) {
      if (names[i] == name) return cells[i];
    }
    return {};
  }
};

std::vector<std::string_view> split_cells(std::string_view line) {
  std::vector<std::string_view> cells;
  while (true) {
    const std::size_t bar = line.find('|');
    cells.push_back(line.substr(0, bar));
    if (bar == std::string_view::npos) return cells;
    line.remove_prefix(bar + 1);
  }
}

std::optional<double> number_of(std::string_view text) {
  double value = 0;
  const auto [stop, problem] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (problem != std::errc() || stop != text.data() + text.size() || !std::isfinite(value)) return std::nullopt;
  return value;
}

// "20480M", "1.5G", "40": with Slurm's binary prefixes.
std::optional<double> scaled_number(std::string_view text) {
  static constexpr std::string_view kPrefixes = "KMGTP";
  if (text.empty()) return std::nullopt;
  const std::size_t power = kPrefixes.find(text.back());
  if (power == std::string_view::npos) return number_of(text);
  const std::optional<double> value = number_of(text.substr(0, text.size() - 1));
  if (!value) return std::nullopt;
  return *value * std::pow(1024.0, static_cast<double>(power + 1));
}

std::optional<TimePoint> parse_time(std::string_view text) {
  if (const std::optional<TimePoint> iso = parse_iso_time(text)) return iso;
  const std::optional<double> since_1970 = number_of(text);
  return since_1970 && *since_1970 > 0 ? std::optional(unix_seconds(*since_1970)) : std::nullopt;
}

// "billing=8,cpu=8,gres/gpu=2": the value of a name.
std::optional<double> tres(std::string_view list, std::string_view name) {
  for (std::string_view part : split_list(list, ',')) {
    const std::size_t equals = part.find('=');
    if (equals != std::string_view::npos && part.substr(0, equals) == name)
      return scaled_number(part.substr(equals + 1));
  }
  return std::nullopt;
}

// How many GPUs a row was allocated, and of which type where one is given: "gres/gpu:a100=2,gres/gpu=2". A job with
// GPUs of two types gets the name of the first: Slurm does not say which node had which.
struct Allocation {
  double count = 0;
  std::string model, mig_profile;
};

// Types can name a MIG profile: "a100_3g.20gb", "nvidia_a100_1g.5gb", "1g.10gb".
void split_mig(Allocation& allocation) {
  std::string& model = allocation.model;
  const std::size_t g = model.find("g.");
  if (g == std::string::npos || g == 0 || std::isdigit(static_cast<unsigned char>(model[g - 1])) == 0) return;
  allocation.mig_profile = model.substr(g - 1);
  model.resize(g - 1);
  while (!model.empty() && (model.back() == '_' || model.back() == '-' || model.back() == '.')) model.pop_back();
}

Allocation allocation_of(std::string_view list) {
  constexpr std::string_view kTyped = "gres/gpu:";
  Allocation found;
  double typed = 0;
  for (std::string_view part : split_list(list, ',')) {
    const std::size_t equals = part.find('=');
    if (!part.starts_with(kTyped) || equals == std::string_view::npos) continue;
    typed += scaled_number(part.substr(equals + 1)).value_or(0);
    if (found.model.empty()) found.model = part.substr(kTyped.size(), equals - kTyped.size());
  }
  found.count = std::max(typed, tres(list, "gres/gpu").value_or(0));
  split_mig(found);
  return found;
}

SlurmUsage usage_of(const SacctRow& row, double gpus_per_node) {
  SlurmUsage usage;
  // Slurm adds up the GPUs of a task: two that are fully busy read 200.
  if (std::optional<double> busy = tres(row["TRESUsageInAve"], "gres/gpuutil"); busy && *busy >= 0) {
    if (*busy > 100 && gpus_per_node > 1) *busy /= gpus_per_node;
    usage.utilization = Ratio::percent(std::min(100.0, *busy));
  }
  if (const auto held = tres(row["TRESUsageInAve"], "gres/gpumem"); held && *held >= 0) usage.memory = bytes(*held);
  return usage;
}

// The GPUs of a job of which only the number and the hosts are known: spread as evenly as it goes, none lost.
std::vector<JobGpu> spread_over(const std::vector<std::string>& hosts, std::size_t count) {
  std::vector<JobGpu> gpus;
  const std::size_t nodes = std::max<std::size_t>(1, hosts.size());
  for (std::size_t n = 0; n < nodes; ++n) {
    const std::size_t here = count / nodes + (n < count % nodes ? 1 : 0);
    for (std::size_t i = 0; i < here; ++i) gpus.push_back({.host = hosts.empty() ? "" : hosts[n]});
  }
  return gpus;
}

std::optional<Seconds> elapsed_of(const SacctRow& row) {
  if (const std::optional<double> raw = number_of(row["ElapsedRaw"])) return seconds(*raw);
  return parse_slurm_time(row["Elapsed"]);
}

class JobReader {
 public:
  // False: the first line is not the expected header.
  bool take_line(std::string_view line) {
    ++line_;
    while (line.ends_with('\r')) line.remove_suffix(1);
    if (trim(line).empty()) return true;
    if (names_.empty()) return take_header(line);
    const SacctRow row{names_, split_cells(line)};
    if (row.cells.size() != names_.size()) {
      refuse("the number of columns differs from the header");
    } else if (row["JobID"].find('.') != std::string_view::npos) {
      take_step(row);
    } else {
      take_job(row);
    }
    return true;
  }

  bool has_header() const { return !names_.empty(); }

  JobTable finish() {
    for (SlurmJob& job : table_.jobs) {
      if (!job.measured()) add_steps(job);
    }
    return std::move(table_);
  }

 private:
  bool take_header(std::string_view line) {
    for (std::string_view name : split_cells(line)) names_.emplace_back(trim(name));
    auto has = [&](std::string_view name) { return std::ranges::find(names_, name) != names_.end(); };
    return has("JobID") && has("Start") && has("AllocTRES");
  }

  void refuse(const char* why) {
    if (table_.refused++ == 0) table_.first_refused = fmt::format("line {}: {}", line_, why);
  }

  void take_job(const SacctRow& row) {
    SlurmJob job;
    job.id = row["JobID"];
    if (job.id.empty()) return refuse("no JobID");
    const Allocation allocation = allocation_of(row["AllocTRES"]);
    const std::optional<TimePoint> start = parse_time(row["Start"]);
    if (allocation.count < 1) return void(++table_.without_gpu);
    if (allocation.count > kMostJobGpus) return refuse("more GPUs than any cluster has");
    const std::optional<TimePoint> end = parse_time(row["End"]);
    std::optional<Seconds> elapsed = elapsed_of(row);
    if (!elapsed && start && end) elapsed = *end - *start;
    if (!start || (elapsed && in_seconds(*elapsed) == 0)) return void(++table_.never_started);
    if (!elapsed) return refuse("neither an end nor an elapsed time");
    job.start = *start;
    job.elapsed = *elapsed;
    job.end = end.value_or(job.start + *elapsed);
    if (job.end <= job.start || job.elapsed < seconds(0)) return refuse("it ends before it starts");
    if (!seen_.insert(fmt::format("{} {}", job.id, in_unix_seconds(job.start))).second) return void(++table_.repeated);
    describe(job, row, allocation);
    table_.jobs.push_back(std::move(job));
  }

  static void describe(SlurmJob& job, const SacctRow& row, const Allocation& allocation) {
    job.user = row["User"];
    job.account = row["Account"];
    job.partition = row["Partition"];
    job.name = row["JobName"];
    // "CANCELLED by 1001"
    job.state = row["State"].substr(0, row["State"].find(' '));
    job.gpu_model = allocation.model;
    job.mig_profile = allocation.mig_profile;
    for (const char* column : {"TimelimitRaw", "Timelimit"}) {
      const std::optional<Seconds> limit = parse_slurm_time(row[column]);
      if (limit && !job.time_limit) job.time_limit = *limit;
    }
    const auto count = static_cast<std::size_t>(allocation.count);
    if (const auto inside = unpack_jobstats(row["AdminComment"])) job.gpus = gpus_of_jobstats(*inside);
    if (!job.gpus.empty()) {
      // All allocated GPUs are paid for; those that jobstats does not list have no measurement.
      job.gpus.resize(count, JobGpu{.host = job.gpus.back().host});
      return;
    }
    const std::vector<std::string> hosts = expand_hosts(row["NodeList"]);
    job.gpus = spread_over(hosts, count);
    set_usage(job, usage_of(row, allocation.count / static_cast<double>(std::max<std::size_t>(1, hosts.size()))));
  }

  static void set_usage(SlurmJob& job, const SlurmUsage& usage) {
    for (JobGpu& gpu : job.gpus) {
      if (!gpu.utilization) gpu.utilization = usage.utilization;
      if (!gpu.used) gpu.used = usage.memory;
    }
  }

  void take_step(const SacctRow& row) {
    const Allocation allocation = allocation_of(row["AllocTRES"]);
    const SlurmUsage usage = usage_of(row, std::max(1.0, allocation.count));
    if (!usage.utilization && !usage.memory) return;
    const std::optional<Seconds> elapsed = elapsed_of(row);
    const std::string_view id = row["JobID"];
    steps_[std::string(id.substr(0, id.find('.')))].push_back(
        {parse_time(row["Start"]), elapsed.value_or(seconds(0)), usage});
  }

  // A job's utilization is its steps' by their time; batch and extern steps, which see none, carry no value.
  void add_steps(SlurmJob& job) {
    const auto found = steps_.find(job.id);
    if (found == steps_.end()) return;
    double weight = 0, busy = 0;
    SlurmUsage usage;
    for (const StepUsage& step : found->second) {
      // A requeued job's runs share the id: a step belongs to the run it began in.
      if (step.start && (*step.start < job.start || *step.start > job.end)) continue;
      if (step.usage.memory) usage.memory = std::max(usage.memory.value_or(bytes(0)), *step.usage.memory);
      if (!step.usage.utilization) continue;
      const double by = std::max(1.0, in_seconds(step.elapsed));
      busy += by * step.usage.utilization->fraction();
      weight += by;
    }
    if (weight > 0) usage.utilization = Ratio::fraction(busy / weight);
    set_usage(job, usage);
  }

  std::vector<std::string> names_;
  JobTable table_;
  std::set<std::string> seen_;
  std::map<std::string, std::vector<StepUsage>> steps_;
  std::size_t line_ = 0;
};

// "07-09" of "node[01-03,07-09]".
void expand_range(std::string_view before, std::string_view part, std::string_view after,
                  std::vector<std::string>& hosts) {
  const std::string_view from = part.substr(0, part.find('-'));
  const std::string_view to = part.find('-') == std::string_view::npos ? from : part.substr(part.find('-') + 1);
  long low = 0, high = -1;
  std::from_chars(from.data(), from.data() + from.size(), low);
  std::from_chars(to.data(), to.data() + to.size(), high);
  for (long n = low; n <= high && hosts.size() < kMostHosts; ++n) {
    hosts.push_back(fmt::format("{}{:0{}}{}", before, n, std::min<std::size_t>(from.size(), 12), after));
  }
}

}  // namespace

bool SlurmJob::measured() const {
  return !gpus.empty() && std::ranges::all_of(gpus, [](const JobGpu& g) { return g.utilization.has_value(); });
}

void JobTable::append(JobTable&& other) {
  std::set<std::pair<std::string, TimePoint>> known;
  for (const SlurmJob& job : jobs) known.insert({job.id, job.start});
  for (SlurmJob& job : other.jobs) {
    if (known.contains({job.id, job.start})) {
      ++repeated;
    } else {
      jobs.push_back(std::move(job));
    }
  }
  without_gpu += other.without_gpu;
  never_started += other.never_started;
  repeated += other.repeated;
  refused += other.refused;
  if (first_refused.empty()) first_refused = std::move(other.first_refused);
}

std::vector<std::string> expand_hosts(std::string_view list) {
  std::vector<std::string> hosts;
  if (list == "None assigned" || list == "None") return hosts;
  while (!list.empty() && hosts.size() < kMostHosts) {
    // One entry ends at a comma outside brackets.
    std::size_t end = 0;
    for (bool inside = false; end < list.size() && (inside || list[end] != ','); ++end) {
      inside = list[end] == '[' || (inside && list[end] != ']');
    }
    const std::string_view entry = trim(list.substr(0, end));
    list.remove_prefix(std::min(list.size(), end + 1));
    const std::size_t open = entry.find('['), close = entry.find(']');
    if (open == std::string_view::npos || close == std::string_view::npos || close < open) {
      if (!entry.empty()) hosts.emplace_back(entry);
      continue;
    }
    for (std::string_view part : split_list(entry.substr(open + 1, close - open - 1), ',')) {
      expand_range(entry.substr(0, open), part, entry.substr(close + 1), hosts);
    }
  }
  return hosts;
}

Result<JobTable> read_jobs(ByteSource& source, const std::string& file) {
  JobReader reader;
  std::string pending;
  RawBytes piece(256U << 10);
  bool understood = true;
  while (understood) {
    RIGHTSIZE_TRY(const std::size_t got, source.read(piece.from(0, piece.size())));
    pending.append(piece.data(), got);
    std::size_t from = 0;
    for (std::size_t end; understood && (end = pending.find('\n', from)) != std::string::npos; from = end + 1) {
      understood = reader.take_line(std::string_view(pending).substr(from, end - from));
    }
    pending.erase(0, from);
    if (got == 0 || pending.size() > kLongestLine) break;
  }
  if (understood && !pending.empty()) understood = reader.take_line(pending);
  if (!understood || !reader.has_header()) {
    return fail(bad_input(fmt::format("{}: not a table from sacct with JobID, Start and AllocTRES", file))
                    .with_hint("sacct -P -a -o JobID,User,Account,JobName,Partition,State,Start,End,ElapsedRaw,"
                               "TimelimitRaw,AllocTRES,NodeList,TRESUsageInAve,AdminComment"));
  }
  return reader.finish();
}

}  // namespace rightsize::telemetry
