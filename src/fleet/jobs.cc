#include "fleet/jobs.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <tuple>
#include <unordered_map>

#include <fmt/format.h>

#include "base/format.h"
#include "base/suggest.h"

namespace rightsize::fleet {
namespace {

using telemetry::JobGpu;
using telemetry::JobTable;
using telemetry::SlurmJob;

constexpr const char* kNone = "(none)";  // the line of jobs without a user, account, ...

Owner owner_of_job(const SlurmJob& job) { return {job.account, std::string(job.name), job.user, std::string(job.id)}; }

bool is_idle(const JobGpu& gpu, const IdleRule& rule) {
  return gpu.utilization && gpu.utilization->fraction() <= rule.active_above;
}

struct JobIssueText {
  std::string_view name, explanation;
  std::vector<std::string_view> states = {};  // Slurm's states of such jobs
};
const JobIssueText kJobIssues[] = {
    {"failed", "the job failed: its work since the last checkpoint is lost", {"FAILED"}},
    {"timed-out",
     "the job reached its time limit: request more time, or checkpoint and requeue",
     {"TIMEOUT", "DEADLINE"}},
    {"cancelled", "the job was cancelled while it ran", {"CANCELLED", "REVOKED"}},
    {"out-of-memory", "the job ran out of host memory", {"OUT_OF_MEMORY"}},
    {"node-failed", "a node failed under the job", {"NODE_FAIL", "BOOT_FAIL"}},
    {"preempted",
     "the job was preempted or requeued: the run is lost unless it checkpoints",
     {"PREEMPTED", "REQUEUED"}},
    {"gpus-unused", "the job succeeded, but its GPUs were never used"},
    {"too-many-gpus", "some of the job's GPUs were never used: request fewer"},
    {"time-limit-too-long",
     "the job ran for less than a tenth of its time limit: it waits longer in the queue and blocks backfill"},
};

// Why a job that has ended was unsuccessful, if it was.
std::optional<JobIssue> failure_of(const telemetry::Word& state) {
  for (std::size_t i = 0; i < std::size(kJobIssues); ++i) {
    if (std::ranges::find(kJobIssues[i].states, std::string_view(state.str())) != kJobIssues[i].states.end())
      return static_cast<JobIssue>(i);
  }
  return std::nullopt;
}

// One job's figures, before they are added to those of its user, account and so on.
struct Costed {
  const SlurmJob& job;
  GpuTime gpu_time = {};
  std::optional<GpuTime> idle = {};  // of its GPUs that were measured
  std::optional<Usd> spend = {};
  std::size_t idle_gpus = 0;
  std::optional<JobIssue> failure = {};

  Usd spend_on(GpuTime part) const { return gpu_time > GpuTime{} ? spend.value_or(Usd{}) * (part / gpu_time) : Usd{}; }
};

// Prices by GPU type, each looked up once.
class TypePrices {
 public:
  explicit TypePrices(const DevicePrices& prices) : prices_(prices) {}
  const GpuPrice& of(const SlurmJob& job) {
    const auto [found, is_new] = known_.try_emplace({job.gpu_model, job.mig_profile});
    if (is_new) found->second = prices_.price({.name = job.gpu_model, .mig_profile = job.mig_profile});
    return found->second;
  }

 private:
  const DevicePrices& prices_;
  std::map<std::pair<telemetry::Word, telemetry::Word>, GpuPrice> known_;
};

// Whether a scheduler's name, often only that of the family, may mean this GPU: "a100", "nvidia_a100-sxm4-80gb".
bool may_be(const std::string& name, const catalog::Gpu* gpu) {
  if (name.empty() || gpu == nullptr) return name.empty();
  return fold_name(name).find(gpu->name.substr(0, gpu->name.find('-'))) != std::string::npos;
}

Costed cost_of(const SlurmJob& job, TypePrices& prices, const IdleRule& idle,
               const std::map<std::string, const GpuPrice*>& host_prices) {
  Costed costed{job};
  costed.gpu_time = job.gpu_time();
  const auto count = [&](const JobGpu& gpu, std::size_t many) {
    if (!gpu.utilization) return;
    const std::size_t resting = is_idle(gpu, idle) ? many : 0;
    costed.idle_gpus += resting;
    costed.idle = costed.idle.value_or(GpuTime{}) + gpus(static_cast<double>(resting)) * job.elapsed;
  };
  if (job.known_gpus) {
    for (const JobGpu& gpu : job.gpus()) count(gpu, 1);
  } else if (job.utilization >= 0) {
    count({.utilization = Ratio::fraction(static_cast<double>(job.utilization))}, job.gpu_count);
  }
  const GpuPrice* price = &prices.of(job);
  // Telemetry knows the GPU and its machine more precisely than the job log.
  if (!host_prices.empty() && job.mig_profile.empty()) {
    const std::vector<JobGpu> all = job.gpus();
    const auto host = all.empty() ? host_prices.end() : host_prices.find(short_host(all.front().host));
    if (host != host_prices.end() && may_be(job.gpu_model.str(), host->second->gpu)) price = host->second;
  }
  costed.spend = price->cost(job.gpu_time() / gpus(1));
  return costed;
}

using WordLines = std::map<telemetry::Word, GroupLine>;

void add_to(WordLines& lines, const telemetry::Word& name, const Costed& costed) {
  GroupLine& line = lines[name];
  ++line.jobs;
  line.waste_known = false;
  line.gpu_time += costed.gpu_time;
  line.priced = line.priced || costed.spend;
  line.spend += costed.spend.value_or(Usd{});
  if (costed.idle) line.idle = line.idle.value_or(GpuTime{}) + *costed.idle;
  if (costed.failure) line.unsuccessful += costed.gpu_time;
}

std::vector<GroupLine> sorted(WordLines lines) {
  std::vector<GroupLine> list;
  for (auto& [name, line] : lines) {
    line.name = name.empty() ? kNone : name.str();
    list.push_back(std::move(line));
  }
  std::ranges::sort(list, [](const GroupLine& a, const GroupLine& b) {
    return std::tuple(b.spend, b.gpu_time, a.name) < std::tuple(a.spend, a.gpu_time, b.name);
  });
  return list;
}

// How long jobs of each partition waited, the longest waits first.
std::vector<WaitLine> waits_of(std::map<telemetry::Word, std::vector<float>> waits) {
  std::vector<WaitLine> lines;
  for (auto& [partition, seconds_waited] : waits) {
    std::ranges::sort(seconds_waited);
    const auto at = [&waited = seconds_waited](double share) {
      const auto last = static_cast<double>(waited.size() - 1);
      return seconds(static_cast<double>(waited[static_cast<std::size_t>(std::ceil(share * last))]));
    };
    lines.push_back({partition.empty() ? kNone : partition.str(), seconds_waited.size(), at(0.5), at(0.95)});
  }
  std::ranges::sort(lines, [](const WaitLine& a, const WaitLine& b) {
    return std::pair(b.p95, a.partition) < std::pair(a.p95, b.partition);
  });
  return lines;
}

using Issues = std::map<JobIssue, JobIssueLine>;

void add_issue(Issues& issues, JobIssue issue, const Costed& costed, GpuTime lost) {
  constexpr std::size_t kExamples = 3;
  if (lost <= GpuTime{} && issue != JobIssue::kTimeLimitTooLong) return;
  JobIssueLine& line = issues[issue];
  line.issue = issue;
  ++line.jobs;
  line.lost += lost;
  if (costed.spend) line.spend = line.spend.value_or(Usd{}) + costed.spend_on(lost);
  if (line.examples.size() == kExamples && line.examples.back().gpu_time >= costed.gpu_time) return;
  line.examples.push_back({std::string(costed.job.id), costed.job.user, std::string(costed.job.name), costed.gpu_time});
  std::ranges::stable_sort(line.examples, std::ranges::greater(), &JobExample::gpu_time);
  if (line.examples.size() > kExamples) line.examples.resize(kExamples);
}

// The hours of a job count under one reason only: its failure, or else the GPUs it did not use.
void find_issues(Issues& issues, const Costed& costed) {
  const SlurmJob& job = costed.job;
  if (costed.failure) return add_issue(issues, *costed.failure, costed, costed.gpu_time);
  if (costed.idle_gpus > 0 && costed.idle_gpus == job.gpu_count) {
    add_issue(issues, JobIssue::kGpusUnused, costed, costed.gpu_time);
  } else if (costed.idle_gpus > 0) {
    add_issue(issues, JobIssue::kTooManyGpus, costed, costed.idle.value_or(GpuTime{}));
  }
  // The backfill scheduler plans with the limit: a job with ten times the needed limit waits longer and blocks others.
  if (job.time_limit && !job.running() && job.elapsed < *job.time_limit * 0.1 && *job.time_limit > hours(1)) {
    add_issue(issues, JobIssue::kTimeLimitTooLong, costed, {});
  }
}

}  // namespace

void clip_jobs(JobTable& table, const TimeSpan& window) {
  for (SlurmJob& job : table.jobs) {
    const TimePoint start = std::max(window.from, job.start), end = std::min(window.until, job.end);
    if (start == job.start && end == job.end) continue;
    job.elapsed = job.elapsed * (std::max(Seconds{}, end - start) / (job.end - job.start));
    job.start = start;
    job.end = end;
  }
  std::erase_if(table.jobs, [](const SlurmJob& job) { return job.end <= job.start; });
}

JobLedger make_job_ledger(const JobTable& table, const DevicePrices& prices, const IdleRule& idle,
                          const std::vector<GpuRow>& rows) {
  std::map<std::string, const GpuPrice*> host_prices;
  for (const GpuRow& row : rows) {
    if (!row.use.from_job_log && row.price.share == 1) host_prices[short_host(row.use.device.host)] = &row.price;
  }
  static constexpr std::pair<telemetry::Word SlurmJob::*, std::vector<GroupLine> JobLedger::*> kGroups[] = {
      {&SlurmJob::user, &JobLedger::users},
      {&SlurmJob::account, &JobLedger::accounts},
      {&SlurmJob::partition, &JobLedger::partitions},
      {&SlurmJob::state, &JobLedger::states},
  };
  WordLines groups[std::size(kGroups)];
  std::map<telemetry::Word, std::vector<float>> waits;
  TypePrices type_prices(prices);
  std::map<telemetry::Word, std::optional<JobIssue>> failures;  // by state
  JobLedger ledger;
  Issues issues;
  for (const SlurmJob& job : table.jobs) {
    Costed costed = cost_of(job, type_prices, idle, host_prices);
    const auto [failure, is_new] = failures.try_emplace(job.state);
    if (is_new) failure->second = failure_of(job.state);
    costed.failure = failure->second;
    if (job.waited) waits[job.partition].push_back(static_cast<float>(in_seconds(*job.waited)));
    if (job.time_limit && !job.running()) {
      ledger.requested += gpus(static_cast<double>(job.gpu_count)) * *job.time_limit;
      ledger.used += costed.gpu_time;
    }
    for (std::size_t g = 0; g < std::size(kGroups); ++g) add_to(groups[g], job.*kGroups[g].first, costed);
    find_issues(issues, costed);
    ++ledger.jobs;
    ledger.gpu_time += costed.gpu_time;
    ledger.spend += costed.spend.value_or(Usd{});
    ledger.priced += costed.spend ? 1 : 0;
    ledger.measured += job.measured() ? 1 : 0;
  }
  for (std::size_t g = 0; g < std::size(kGroups); ++g) ledger.*kGroups[g].second = sorted(std::move(groups[g]));
  for (auto& [issue, line] : issues) ledger.issues.push_back(std::move(line));
  std::ranges::stable_sort(ledger.issues, std::ranges::greater(), &JobIssueLine::lost);
  ledger.waits = waits_of(std::move(waits));
  for (const JobIssueLine& line : ledger.issues) {
    if (line.issue > JobIssue::kPreempted) continue;
    ledger.unsuccessful += line.lost;
    if (line.spend) ledger.unsuccessful_spend += *line.spend;
  }
  ledger.without_gpu = table.without_gpu;
  ledger.never_started = table.never_started;
  return ledger;
}

bool any_named(const std::vector<GroupLine>& lines) {
  return std::ranges::any_of(lines, [](const GroupLine& line) { return line.name != kNone; });
}

std::vector<std::string> job_notes(const JobTable& table, bool only_log) {
  std::vector<std::string> notes;
  std::size_t unmeasured = 0;
  for (const SlurmJob& job : table.jobs) unmeasured += job.measured() ? 0 : 1;
  if (only_log && unmeasured > 0) {
    notes.push_back(fmt::format(
        "{} of {} GPU jobs {} no utilization data (neither jobstats nor gres/gpuutil): their hours and dollars are "
        "counted, but the use of their GPUs is unknown",
        format_count(static_cast<double>(unmeasured)), format_count(static_cast<double>(table.jobs.size())),
        unmeasured == 1 ? "has" : "have"));
  }
  if (only_log && !table.jobs.empty()) {
    notes.push_back("a job log has no GPUs between jobs: the idle time of unallocated GPUs is not in these figures");
  }
  if (table.refused > 0) {
    notes.push_back(fmt::format("{} rows of the job log could not be read and are not counted (first: {})",
                                table.refused, table.first_refused));
  }
  if (table.repeated > 0) {
    notes.push_back(fmt::format("{} rows of the job log repeat a job and are counted once", table.repeated));
  }
  return notes;
}

std::string_view name_of(JobIssue issue) { return kJobIssues[static_cast<std::size_t>(issue)].name; }
std::string_view explain(JobIssue issue) { return kJobIssues[static_cast<std::size_t>(issue)].explanation; }

namespace {

// Idle time between two moments, from the steps they span.
Seconds idle_time(const Profile& profile, TimePoint from, TimePoint until) {
  Seconds idle;
  for (std::size_t i = 0; i < profile.idle.size(); ++i) {
    const TimePoint begin = profile.begin_of(i);
    const Seconds overlap = std::min(until, begin + profile.width) - std::max(from, begin);
    if (overlap > Seconds{} && !std::isnan(profile.idle[i])) idle += overlap * static_cast<double>(profile.idle[i]);
  }
  return idle;
}

// A job on a GPU, or its share if it may have used another GPU of the host.
struct JobShare {
  const SlurmJob* job = nullptr;
  double weight = 1;
};

// False if no job overlaps with the observed time.
bool add_tenancies(GpuUse& gpu, const std::vector<JobShare>& parts) {
  std::map<const SlurmJob*, double> weights;  // a job with three of a host's eight GPUs occurs three times
  for (const JobShare& part : parts) weights[part.job] += part.weight;
  std::vector<Tenancy> found;
  Seconds all;
  for (const auto& [job, weight] : weights) {
    const TimePoint from = std::max(job->start, gpu.first), until = std::min(job->end, gpu.end());
    if (until <= from) continue;
    const Seconds length = (until - from) * std::min(1.0, weight);
    const Seconds idle = idle_time(gpu.profile, from, until) * std::min(1.0, weight);
    found.push_back({owner_of_job(*job), length, std::min(length, idle), from, until});
    all += length;
  }
  if (found.empty()) return false;
  // Jobs can share a GPU, but together they get at most its observed time.
  const double shrink = all > gpu.covered ? gpu.covered / all : 1;
  Seconds idle = gpu.covered * gpu.idle_share;
  for (Tenancy& t : found) {
    t.time = t.time * shrink;
    t.idle = t.idle * shrink;
    idle -= t.idle;
  }
  if (const Seconds rest = gpu.covered - all * shrink; rest > gpu.interval) {
    found.push_back({{}, rest, std::clamp(idle, Seconds{}, rest), gpu.first, gpu.last});
  }
  std::ranges::stable_sort(found, std::ranges::greater(), &Tenancy::time);
  gpu.tenancies = std::move(found);
  return true;
}

}  // namespace

Attribution attribute_jobs(std::vector<GpuUse>& gpus, const telemetry::JobTable& table) {
  std::unordered_map<std::string_view, const SlurmJob*> by_id;
  std::map<std::pair<std::string, int>, std::vector<JobShare>> by_gpu;
  std::map<std::string, double> gpus_of_host;
  for (const GpuUse& gpu : gpus) gpus_of_host[short_host(gpu.device.host)] += 1;
  for (const SlurmJob& job : table.jobs) {
    by_id[job.id] = &job;
    for (const telemetry::JobGpu& gpu : job.gpus()) {
      const std::string host = short_host(gpu.host);
      if (!gpus_of_host.contains(host)) continue;
      by_gpu[{host, gpu.index}].push_back({&job, gpu.index >= 0 ? 1 : 1 / std::max(1.0, gpus_of_host[host])});
    }
  }
  Attribution done;
  for (GpuUse& gpu : gpus) {
    bool named = false, unowned = true;
    for (Tenancy& t : gpu.tenancies) {
      unowned = unowned && t.owner.empty();
      const auto job = by_id.find(t.owner.instance);
      if (t.owner.instance.empty() || job == by_id.end()) continue;
      t.owner = owner_of_job(*job->second);
      named = true;
    }
    done.by_job += named ? 1 : 0;
    if (!unowned) continue;
    const std::string host = short_host(gpu.device.host);
    std::vector<JobShare> parts = by_gpu[{host, gpu.device.index}];
    const std::vector<JobShare>& anywhere = by_gpu[{host, -1}];
    parts.insert(parts.end(), anywhere.begin(), anywhere.end());
    if (parts.empty()) continue;
    done.by_time += add_tenancies(gpu, parts) ? 1 : 0;
  }
  return done;
}

}  // namespace rightsize::fleet
