#include "telemetry/feeds/slurm_rows.h"

#include <algorithm>
#include <charconv>
#include <cmath>

#include <fmt/format.h>

#include "base/mig_type.h"
#include "base/slurm_time.h"
#include "base/text.h"
#include "telemetry/times.h"

namespace rightsize::telemetry {
namespace {

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

// Calls use(name, value) for the entries of "billing=8,cpu=8,gres/gpu=2".
template <class Use>
void each_tres(std::string_view list, const Use& use) {
  while (!list.empty()) {
    const std::size_t comma = std::min(list.find(','), list.size());
    const std::string_view part = list.substr(0, comma);
    const std::size_t equals = part.find('=');
    if (equals != std::string_view::npos) use(part.substr(0, equals), part.substr(equals + 1));
    list.remove_prefix(std::min(list.size(), comma + 1));
  }
}

// Types can name a MIG profile: "a100_3g.20gb", "1g.10gb".
void split_mig(GpuAllocation& allocation) {
  MigType type = split_mig_type(allocation.model);
  allocation.model = std::move(type.gpu);
  allocation.mig_profile = std::move(type.profile);
}

std::uint64_t hash_of(std::string_view id, TimePoint start = {}) {
  std::uint64_t hash = 1469598103934665603ULL;
  for (char c : id) hash = (hash ^ static_cast<unsigned char>(c)) * 1099511628211ULL;
  const auto second = static_cast<std::uint64_t>(std::llround(in_unix_seconds(start)));
  hash ^= second * 0x9E3779B97F4A7C15ULL;
  hash ^= hash >> 29;
  hash *= 0xBF58476D1CE4E5B9ULL;
  hash ^= hash >> 32;
  return hash == 0 ? 1 : hash;
}

}  // namespace

GpuAllocation gpus_in_tres(std::string_view list) {
  constexpr std::string_view kTyped = "gres/gpu:";
  GpuAllocation found;
  double typed = 0, all = 0;
  each_tres(list, [&](std::string_view name, std::string_view value) {
    if (name == "gres/gpu") all = scaled_number(value).value_or(0);
    if (!name.starts_with(kTyped)) return;
    typed += scaled_number(value).value_or(0);
    if (found.model.empty()) found.model = name.substr(kTyped.size());
  });
  found.count = std::max(typed, all);
  if (!found.model.empty()) split_mig(found);
  return found;
}

GpuAllocation gpus_in_gres(std::string_view list) {
  GpuAllocation found;
  for (std::string_view part : split_list(list, ',')) {
    if (part.starts_with("gres:") || part.starts_with("gres/")) part.remove_prefix(5);
    if (!part.starts_with("gpu")) continue;
    part.remove_prefix(3);
    part = part.substr(0, part.find('('));  // "gpu:a100:2(S:0-1)"
    std::string_view count = part, model;
    if (const std::size_t colon = part.rfind(':'); colon != std::string_view::npos) {
      count = part.substr(colon + 1);
      model = part.substr(0, colon);
      if (model.starts_with(':')) model.remove_prefix(1);
    }
    if (count.empty()) {
      found.count += 1;  // "gpu"
    } else if (const std::optional<double> number = number_of(count)) {
      found.count += *number;
    } else {
      found.count += 1;  // "gpu:a100"
      model = count;
    }
    if (found.model.empty()) found.model = model;
  }
  split_mig(found);
  return found;
}

SlurmUsage usage_in_tres(std::string_view list, double gpus, std::string_view nodes) {
  SlurmUsage usage;
  if (gpus > 1 && !list.empty())
    usage.gpus = std::max(1.0, gpus / static_cast<double>(std::max<std::size_t>(1, expand_hosts(nodes).size())));
  each_tres(list, [&](std::string_view name, std::string_view value) {
    const std::optional<double> number = name.starts_with("gres/gpu") ? scaled_number(value) : std::nullopt;
    if (!number || *number < 0) return;
    if (name == "gres/gpuutil") usage.utilization = *number / 100;
    if (name == "gres/gpumem") usage.memory = *number;
  });
  return usage;
}

bool JobRows::fits(const JobColumns& columns) {
  return columns.has(JobColumn::kId) && columns.has(JobColumn::kStart) &&
         (columns.has(JobColumn::kAllocTres) || columns.has(JobColumn::kReqTres) ||
          columns.has(JobColumn::kAllocGres) || columns.has(JobColumn::kReqGres));
}

void JobRows::refuse(std::size_t line, const char* why) {
  if (table_.refused++ == 0) table_.first_refused = fmt::format("line {}: {}", line, why);
}

void JobRows::take(const JobColumns& row, std::size_t line) {
  JobFacts facts;
  facts.id = row[JobColumn::kId];
  // Older tables have the GPUs in AllocGRES; a waiting job has only its request.
  facts.gpus = gpus_in_tres(row[JobColumn::kAllocTres]);
  if (facts.gpus.count < 1 && !row.has(JobColumn::kAllocTres)) facts.gpus = gpus_in_tres(row[JobColumn::kReqTres]);
  if (facts.gpus.count < 1) facts.gpus = gpus_in_gres(row[JobColumn::kAllocGres]);
  if (facts.gpus.count < 1 && !row.has(JobColumn::kAllocTres) && !row.has(JobColumn::kAllocGres)) {
    facts.gpus = gpus_in_gres(row[JobColumn::kReqGres]);  // per node
    facts.gpus.count *= std::max(1.0, number_of(row[JobColumn::kNodeCount]).value_or(1));
  }
  if (const std::optional<double> raw = number_of(row[JobColumn::kElapsed])) {
    facts.elapsed = seconds(*raw);
  } else {
    facts.elapsed = parse_slurm_time(row[JobColumn::kElapsedText]);
  }
  facts.start = parse_time(row[JobColumn::kStart]);
  if (facts.id.find('.') != std::string_view::npos) {
    return take_step(facts.id, facts.start, facts.elapsed,
                     usage_in_tres(row[JobColumn::kUsage], facts.gpus.count, row[JobColumn::kNodes]));
  }
  facts.user = row[JobColumn::kUser];
  facts.account = row[JobColumn::kAccount];
  facts.partition = row[JobColumn::kPartition];
  facts.name = row[JobColumn::kName];
  facts.state = row[JobColumn::kState];
  facts.nodes = row[JobColumn::kNodes];
  facts.comment = row[JobColumn::kComment];
  facts.end = parse_time(row[JobColumn::kEnd]);
  facts.submit = parse_time(row[JobColumn::kEligible]);
  if (!facts.submit) facts.submit = parse_time(row[JobColumn::kSubmit]);
  facts.time_limit = parse_slurm_time(row[JobColumn::kTimeLimitRaw]);
  if (!facts.time_limit) facts.time_limit = parse_slurm_time(row[JobColumn::kTimeLimit]);
  take_job(facts, usage_in_tres(row[JobColumn::kUsage], facts.gpus.count, facts.nodes), line);
}

void JobRows::take_job(const JobFacts& facts, const SlurmUsage& usage, std::size_t line) {
  if (facts.id.empty()) return refuse(line, "no JobID");
  if (facts.gpus.count < 1) return void(++table_.without_gpu);
  if (facts.gpus.count > kMostJobGpus) return refuse(line, "more GPUs than any cluster has");
  std::optional<Seconds> elapsed = facts.elapsed;
  if (!elapsed && facts.start && facts.end) elapsed = *facts.end - *facts.start;
  if (!facts.start || (elapsed && in_seconds(*elapsed) == 0)) return void(++table_.never_started);
  if (!elapsed) return refuse(line, "neither an end nor an elapsed time");
  SlurmJob job;
  job.start = *facts.start;
  job.elapsed = *elapsed;
  job.end = facts.end.value_or(job.start + *elapsed);
  if (job.end <= job.start || job.elapsed < seconds(0)) return refuse(line, "it ends before it starts");
  if (!is_new(facts.id, job.start)) return void(++table_.repeated);
  job.id = arena_->keep(facts.id);
  job.user = word(facts.user);
  job.account = word(facts.account);
  job.partition = word(facts.partition);
  job.name = name(facts.name);
  job.state = word(facts.state.substr(0, facts.state.find(' ')));  // "CANCELLED by 1001"
  job.gpu_model = word(facts.gpus.model);
  job.mig_profile = word(facts.gpus.mig_profile);
  job.nodes = facts.nodes.starts_with("None") ? Word() : word(facts.nodes);
  job.time_limit = facts.time_limit;
  if (facts.submit && *facts.submit <= job.start) job.waited = job.start - *facts.submit;
  job.gpu_count = static_cast<std::uint32_t>(facts.gpus.count);
  if (const auto inside = unpack_jobstats(facts.comment)) {
    if (std::vector<JobGpu> gpus = gpus_of_jobstats(*inside); !gpus.empty())
      job.known_gpus = std::make_shared<const std::vector<JobGpu>>(std::move(gpus));
  }
  if (usage.utilization) {
    see(usage);
    job.utilization = static_cast<float>(*usage.utilization);
    several_.emplace_back(static_cast<std::uint32_t>(table_.jobs.size()), static_cast<float>(usage.gpus));
  }
  if (usage.memory) job.used_bytes = static_cast<float>(*usage.memory);
  table_.jobs.push_back(std::move(job));
}

void JobRows::take_step(std::string_view id, std::optional<TimePoint> start, std::optional<Seconds> elapsed,
                        const SlurmUsage& usage) {
  if (!usage.utilization && !usage.memory) return;
  see(usage);
  const auto small = [](std::optional<double> value) {
    return static_cast<float>(value.value_or(SlurmJob::kUnmeasured));
  };
  steps_.push_back({hash_of(id.substr(0, id.find('.'))), start.value_or(TimePoint{}),
                    static_cast<float>(in_seconds(elapsed.value_or(seconds(0)))), small(usage.utilization),
                    small(usage.memory), static_cast<float>(usage.gpus)});
}

// A log does not name the meaning of its values: the sum over the GPUs of a task, or their mean. All have the same.
void JobRows::see(const SlurmUsage& usage) {
  if (!usage.utilization || usage.gpus <= 1) return;
  shared_ = true;
  sums_ = sums_ || *usage.utilization > 1.005;
}

float JobRows::mean_utilization(float recorded, float gpus) const {
  return std::min(1.0F, sums_ ? recorded / gpus : recorded);
}

// A job's utilization is the time-weighted mean over its steps; batch and extern steps have no value.
void JobRows::add_steps(SlurmJob& job) const {
  double weight = 0, busy = 0;
  float memory = SlurmJob::kUnmeasured;
  const auto id = hash_of(job.id);
  for (auto at = std::ranges::lower_bound(steps_, id, {}, &StepUsage::job); at != steps_.end() && at->job == id; ++at) {
    const StepUsage& step = *at;
    // A requeued job's runs share the id: a step belongs to the run it began in.
    if (step.start > TimePoint{} && (step.start < job.start || step.start > job.end)) continue;
    memory = std::max(memory, step.bytes);
    if (step.utilization < 0) continue;
    const double by = std::max(1.0F, step.elapsed);
    busy += by * static_cast<double>(mean_utilization(step.utilization, step.gpus));
    weight += by;
  }
  if (weight > 0 && job.utilization < 0) job.utilization = static_cast<float>(busy / weight);
  if (memory >= 0 && job.used_bytes < 0) job.used_bytes = memory;
}

JobTable JobRows::finish() {
  for (const auto& [at, gpus] : several_)
    table_.jobs[at].utilization = mean_utilization(table_.jobs[at].utilization, gpus);
  if (sums_) {
    table_.notes.emplace_back(
        "gres/gpuutil exceeds 100 %, so it is the sum over the GPUs of a node and is divided by their number");
  } else if (shared_) {
    table_.notes.emplace_back(
        "gres/gpuutil never exceeds 100 %, so it is read as the mean over the GPUs of a job; if your Slurm records "
        "sums, "
        "jobs with several GPUs use them less than shown");
  }
  std::ranges::sort(steps_, {}, &StepUsage::job);
  for (SlurmJob& job : table_.jobs) {
    if (!steps_.empty() && !job.measured()) add_steps(job);
  }
  table_.texts.push_back(std::move(arena_));
  return std::move(table_);
}

Word JobRows::word(std::string_view text) {
  if (text.empty()) return {};
  const auto found = words_.find(text);
  if (found != words_.end()) return found->second;
  const Word kept(text);
  return words_.emplace(kept.str(), kept).first->second;
}

// Most logs repeat names; in those that do not, looking them up would cost more than it saves.
std::string_view JobRows::name(std::string_view text) {
  constexpr std::size_t kMostNames = 20'000;
  if (text.empty()) return {};
  if (const auto found = names_.find(text); found != names_.end()) return found->second;
  const std::string_view kept = arena_->keep(text);
  if (names_.size() < kMostNames) names_.emplace(kept, kept);
  return kept;
}

bool JobRows::is_new(std::string_view id, TimePoint start) {
  if (2 * (seen_count_ + 1) > seen_.size()) {
    std::vector<std::uint64_t> larger(2 * seen_.size(), 0);
    for (std::uint64_t hash : seen_) {
      if (hash == 0) continue;
      std::size_t at = hash & (larger.size() - 1);
      while (larger[at] != 0) at = (at + 1) & (larger.size() - 1);
      larger[at] = hash;
    }
    seen_ = std::move(larger);
  }
  const std::uint64_t hash = hash_of(id, start);
  std::size_t at = hash & (seen_.size() - 1);
  for (; seen_[at] != 0; at = (at + 1) & (seen_.size() - 1)) {
    if (seen_[at] == hash) return false;
  }
  seen_[at] = hash;
  ++seen_count_;
  return true;
}

}  // namespace rightsize::telemetry
