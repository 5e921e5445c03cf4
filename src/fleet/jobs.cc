#include "fleet/jobs.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <tuple>

#include <fmt/format.h>

#include "base/format.h"

namespace rightsize::fleet {
namespace {

using telemetry::JobGpu;
using telemetry::JobTable;
using telemetry::SlurmJob;

Owner owner_of_job(const SlurmJob& job) { return {job.account, job.name, job.user, job.id}; }

// The resolution of times in a job log.
constexpr Seconds kGrain = seconds(1);

bool is_idle(const JobGpu& gpu, const IdleRule& rule) {
  return gpu.utilization && gpu.utilization->fraction() <= rule.active_above;
}

// A GPU of a host, to which jobs are assigned.
struct Slot {
  GpuUse use;
  TimePoint busy_until;
  Seconds measured, work, idle, held;  // `work` is time times utilization
  double peak = 0;
  Bytes memory, capacity;

  void add(const SlurmJob& job, const JobGpu& gpu, const IdleRule& rule) {
    const Seconds length = job.elapsed;
    const bool resting = is_idle(gpu, rule);
    use.first = use.covered == Seconds{} ? job.start : std::min(use.first, job.start);
    use.last = std::max(use.last, job.end - kGrain);
    use.covered += length;
    busy_until = std::max(busy_until, job.end);
    use.tenancies.push_back({owner_of_job(job), length, resting ? length : Seconds{}, job.start, job.end});
    if (gpu.utilization) {
      measured += length;
      work += length * gpu.utilization->fraction();
      peak = std::max(peak, gpu.utilization->fraction());
    }
    if (resting) {
      idle += length;
      if (gpu.used && *gpu.used > rule.held_above) held += length;
    }
    if (gpu.used) memory = std::max(memory, *gpu.used);
    if (gpu.total) capacity = std::max(capacity, *gpu.total);
  }

  GpuUse finish() {
    auto set = [&](Metric metric, double mean, double most) {
      use.metrics[static_cast<std::size_t>(metric)] = MetricUse{mean, std::nullopt, std::nullopt, most};
    };
    if (measured > Seconds{}) set(Metric::kGpuUtil, work / measured, peak);
    if (memory > Bytes{}) set(Metric::kMemoryUsed, in_bytes(memory), in_bytes(memory));
    if (capacity > Bytes{}) set(Metric::kMemoryTotal, in_bytes(capacity), in_bytes(capacity));
    use.interval = kGrain;
    use.known = measured;
    use.idle_share = use.covered > Seconds{} ? idle / use.covered : 0;
    use.held_share = use.covered > Seconds{} ? held / use.covered : 0;
    std::ranges::stable_sort(use.tenancies, std::ranges::greater(), &Tenancy::time);
    return std::move(use);
  }
};

// Host, GPU type and MIG profile: GPUs that can run each other's jobs.
using HostKey = std::tuple<std::string, std::string, std::string>;

Slot& slot_for(std::map<int, Slot>& host, const SlurmJob& job, const JobGpu& gpu) {
  if (gpu.index >= 0) return host[gpu.index];
  int index = 0;
  while (host.contains(index) && host[index].busy_until > job.start) ++index;
  return host[index];
}

struct JobIssueText {
  std::string_view name, explanation;
  std::vector<std::string_view> states = {};  // Slurm's, of jobs that ended this way
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
std::optional<JobIssue> failure_of(const SlurmJob& job) {
  for (std::size_t i = 0; i < std::size(kJobIssues) && !job.running(); ++i) {
    if (std::ranges::find(kJobIssues[i].states, job.state) != kJobIssues[i].states.end())
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

  Usd spend_on(GpuTime part) const { return gpu_time > GpuTime{} ? spend.value_or(Usd{}) * (part / gpu_time) : Usd{}; }
};

Costed cost_of(const SlurmJob& job, const DevicePrices& prices, const IdleRule& idle,
               const std::map<std::string, const GpuPrice*>& host_prices) {
  Costed costed{job};
  costed.gpu_time = job.gpu_time();
  for (const JobGpu& gpu : job.gpus) {
    if (!gpu.utilization) continue;
    costed.idle_gpus += is_idle(gpu, idle) ? 1 : 0;
    costed.idle = costed.idle.value_or(GpuTime{}) + gpus(is_idle(gpu, idle) ? 1 : 0) * job.elapsed;
  }
  GpuPrice price = prices.price({.name = job.gpu_model, .mig_profile = job.mig_profile});
  const auto host = job.gpus.empty() ? host_prices.end() : host_prices.find(short_host(job.gpus.front().host));
  // Telemetry knows the GPU and its machine more precisely than the job log.
  if (host != host_prices.end() && job.mig_profile.empty()) price = *host->second;
  costed.spend = price.cost(job.gpu_time() / gpus(1));
  return costed;
}

void add_to(std::map<std::string, GroupLine>& lines, const std::string& name, const Costed& costed) {
  GroupLine& line = lines[name.empty() ? "(none)" : name];
  ++line.jobs;
  line.gpu_time += costed.gpu_time;
  line.spend += costed.spend.value_or(Usd{});
  if (costed.idle) line.idle = line.idle.value_or(GpuTime{}) + *costed.idle;
  if (failure_of(costed.job)) line.unsuccessful += costed.gpu_time;
}

std::vector<GroupLine> sorted(std::map<std::string, GroupLine> lines, bool priced) {
  std::vector<GroupLine> list;
  for (auto& [name, line] : lines) {
    line.name = name;
    line.priced = priced;
    list.push_back(std::move(line));
  }
  std::ranges::stable_sort(list, std::ranges::greater(), &GroupLine::gpu_time);
  return list;
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
  line.examples.push_back({costed.job.id, costed.job.user, costed.job.name, costed.gpu_time});
  std::ranges::stable_sort(line.examples, std::ranges::greater(), &JobExample::gpu_time);
  if (line.examples.size() > kExamples) line.examples.resize(kExamples);
}

// The hours of a job count under one reason only: how it failed, else what it did not use.
void find_issues(Issues& issues, const Costed& costed) {
  const SlurmJob& job = costed.job;
  if (const std::optional<JobIssue> failure = failure_of(job))
    return add_issue(issues, *failure, costed, costed.gpu_time);
  if (costed.idle_gpus > 0 && costed.idle_gpus == job.gpus.size()) {
    add_issue(issues, JobIssue::kGpusUnused, costed, costed.gpu_time);
  } else if (costed.idle_gpus > 0) {
    add_issue(issues, JobIssue::kTooManyGpus, costed, costed.idle.value_or(GpuTime{}));
  }
  // The backfill scheduler plans with the limit: a limit of ten times the run time waits longer and blocks others.
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

std::vector<GpuUse> gpus_of_jobs(const JobTable& table, const IdleRule& idle, const std::set<std::string>& covered) {
  std::vector<const SlurmJob*> jobs;
  for (const SlurmJob& job : table.jobs) jobs.push_back(&job);
  std::ranges::stable_sort(jobs, [](const SlurmJob* a, const SlurmJob* b) { return a->start < b->start; });
  std::map<HostKey, std::map<int, Slot>> hosts;
  for (const SlurmJob* job : jobs) {
    for (const JobGpu& gpu : job->gpus) {
      if (covered.contains(short_host(gpu.host))) continue;
      std::map<int, Slot>& host = hosts[{gpu.host, job->gpu_model, job->mig_profile}];
      slot_for(host, *job, gpu).add(*job, gpu, idle);
    }
  }
  std::vector<GpuUse> gpus;
  for (auto& [key, slots] : hosts) {
    const auto& [host, model, profile] = key;
    for (auto& [index, slot] : slots) {
      slot.use.device = {.index = index, .name = model, .host = host, .mig_profile = profile};
      // GPUs of two types on one host are numbered separately, and each instance needs a name.
      if (!profile.empty()) slot.use.device.mig_id = fmt::format("{}-{}", profile, index);
      slot.use.from_job_log = true;
      gpus.push_back(slot.finish());
    }
  }
  return gpus;
}

JobLedger make_job_ledger(const JobTable& table, const DevicePrices& prices, const IdleRule& idle,
                          const std::vector<GpuRow>& rows) {
  std::map<std::string, const GpuPrice*> host_prices;
  for (const GpuRow& row : rows) {
    if (!row.use.from_job_log && row.price.share == 1) host_prices[short_host(row.use.device.host)] = &row.price;
  }
  static constexpr std::pair<std::string SlurmJob::*, std::vector<GroupLine> JobLedger::*> kGroups[] = {
      {&SlurmJob::user, &JobLedger::users},
      {&SlurmJob::account, &JobLedger::accounts},
      {&SlurmJob::partition, &JobLedger::partitions},
      {&SlurmJob::state, &JobLedger::states},
  };
  std::map<std::string, GroupLine> groups[std::size(kGroups)];
  JobLedger ledger;
  Issues issues;
  for (const SlurmJob& job : table.jobs) {
    const Costed costed = cost_of(job, prices, idle, host_prices);
    for (std::size_t g = 0; g < std::size(kGroups); ++g) add_to(groups[g], job.*kGroups[g].first, costed);
    find_issues(issues, costed);
    ++ledger.jobs;
    ledger.gpu_time += costed.gpu_time;
    ledger.spend += costed.spend.value_or(Usd{});
    ledger.priced += costed.spend ? 1 : 0;
    ledger.measured += job.measured() ? 1 : 0;
  }
  for (std::size_t g = 0; g < std::size(kGroups); ++g)
    ledger.*kGroups[g].second = sorted(std::move(groups[g]), ledger.priced > 0);
  for (auto& [issue, line] : issues) ledger.issues.push_back(std::move(line));
  std::ranges::stable_sort(ledger.issues, std::ranges::greater(), &JobIssueLine::lost);
  ledger.without_gpu = table.without_gpu;
  ledger.never_started = table.never_started;
  return ledger;
}

std::vector<std::string> job_notes(const JobTable& table, const std::vector<GpuRow>& rows) {
  std::vector<std::string> notes;
  std::size_t unmeasured = 0;
  for (const SlurmJob& job : table.jobs) unmeasured += job.measured() ? 0 : 1;
  const bool only_log = std::ranges::all_of(rows, [](const GpuRow& row) { return row.use.from_job_log; });
  if (only_log && unmeasured > 0) {
    notes.push_back(fmt::format(
        "{} of {} GPU jobs have no utilization (neither jobstats nor gres/gpuutil): their hours and dollars are "
        "counted, but the use of their GPUs is unknown",
        format_count(static_cast<double>(unmeasured)), format_count(static_cast<double>(table.jobs.size()))));
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

// A job that had a GPU, or a share of it if it had one of several GPUs.
struct JobShare {
  const SlurmJob* job = nullptr;
  double weight = 1;
};

void add_tenancies(GpuUse& gpu, const std::vector<JobShare>& parts) {
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
  if (found.empty()) return;
  // Jobs can share a GPU; together they have at most its observed time.
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
}

}  // namespace

Attribution attribute_jobs(std::vector<GpuUse>& gpus, const telemetry::JobTable& table) {
  std::map<std::string, const SlurmJob*> by_id;
  std::map<std::pair<std::string, int>, std::vector<JobShare>> by_gpu;
  std::map<std::string, double> gpus_of_host;
  for (const GpuUse& gpu : gpus) gpus_of_host[short_host(gpu.device.host)] += 1;
  for (const SlurmJob& job : table.jobs) {
    by_id[job.id] = &job;
    for (const telemetry::JobGpu& gpu : job.gpus) {
      const std::string host = short_host(gpu.host);
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
    add_tenancies(gpu, parts);
    ++done.by_time;
  }
  return done;
}

}  // namespace rightsize::fleet
