#include "fleet/jobs.h"

#include <algorithm>
#include <map>
#include <tuple>

#include <fmt/format.h>

#include "base/format.h"

namespace rightsize::fleet {
namespace {

using telemetry::Job;
using telemetry::JobGpu;
using telemetry::JobTable;

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

  void add(const Job& job, const JobGpu& gpu, const IdleRule& rule) {
    const Seconds length = job.elapsed;
    const bool resting = is_idle(gpu, rule);
    use.first = use.covered == Seconds{} ? job.start : std::min(use.first, job.start);
    use.last = std::max(use.last, job.end - kGrain);
    use.covered += length;
    busy_until = std::max(busy_until, job.end);
    use.tenancies.push_back(
        {{job.account, job.name, job.user, job.id}, length, resting ? length : Seconds{}, job.start, job.end});
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
    std::stable_sort(use.tenancies.begin(), use.tenancies.end(),
                     [](const Tenancy& a, const Tenancy& b) { return a.time > b.time; });
    return std::move(use);
  }
};

// Host, GPU type and MIG profile: GPUs that can run each other's jobs.
using HostKey = std::tuple<std::string, std::string, std::string>;

Slot& slot_for(std::map<int, Slot>& host, const Job& job, const JobGpu& gpu) {
  if (gpu.index >= 0) return host[gpu.index];
  int index = 0;
  while (host.contains(index) && host[index].busy_until > job.start) ++index;
  return host[index];
}

// Why a job that has ended was unsuccessful, if it was.
std::optional<JobIssue> failure_of(const Job& job) {
  static const std::map<std::string, JobIssue, std::less<>> kFailures = {
      {"FAILED", JobIssue::kFailed},        {"BOOT_FAIL", JobIssue::kNodeFailed},
      {"TIMEOUT", JobIssue::kTimedOut},     {"DEADLINE", JobIssue::kTimedOut},
      {"CANCELLED", JobIssue::kCancelled},  {"REVOKED", JobIssue::kCancelled},
      {"NODE_FAIL", JobIssue::kNodeFailed}, {"OUT_OF_MEMORY", JobIssue::kOutOfMemory},
      {"PREEMPTED", JobIssue::kPreempted},  {"REQUEUED", JobIssue::kPreempted},
  };
  const auto found = kFailures.find(job.state);
  return job.running() || found == kFailures.end() ? std::nullopt : std::optional(found->second);
}

// One job's figures, before they are added to those of its user, account and so on.
struct Costed {
  const Job& job;
  GpuTime gpu_time = {};
  std::optional<GpuTime> idle = {};  // of its GPUs that were measured
  std::optional<Usd> spend = {};
  std::size_t idle_gpus = 0;

  Usd spend_on(GpuTime part) const { return gpu_time > GpuTime{} ? spend.value_or(Usd{}) * (part / gpu_time) : Usd{}; }
};

Costed cost_of(const Job& job, const DevicePrices& prices, const IdleRule& idle,
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
  std::stable_sort(list.begin(), list.end(),
                   [](const GroupLine& a, const GroupLine& b) { return a.gpu_time > b.gpu_time; });
  return list;
}

// Sums up GPU-hours without a result by reason, with the largest jobs as examples.
class Issues {
 public:
  void add(JobIssue issue, const Costed& costed, GpuTime lost) {
    if (lost <= GpuTime{} && issue != JobIssue::kTimeLimitTooLong) return;
    JobIssueLine& line = lines_[issue];
    line.issue = issue;
    ++line.jobs;
    line.lost += lost;
    if (costed.spend) line.spend = line.spend.value_or(Usd{}) + costed.spend_on(lost);
    std::vector<std::pair<GpuTime, const Job*>>& worst = worst_[issue];
    worst.emplace_back(costed.gpu_time, &costed.job);
    std::stable_sort(worst.begin(), worst.end(), [](const auto& a, const auto& b) { return a.first > b.first; });
    if (worst.size() > kExamples) worst.resize(kExamples);
  }

  std::vector<JobIssueLine> finish() {
    std::vector<JobIssueLine> list;
    for (auto& [issue, line] : lines_) {
      for (const auto& [time, job] : worst_[issue]) line.examples.push_back({job->id, job->user, job->name, time});
      list.push_back(std::move(line));
    }
    std::stable_sort(list.begin(), list.end(),
                     [](const JobIssueLine& a, const JobIssueLine& b) { return a.lost > b.lost; });
    return list;
  }

 private:
  static constexpr std::size_t kExamples = 3;
  std::map<JobIssue, JobIssueLine> lines_;
  std::map<JobIssue, std::vector<std::pair<GpuTime, const Job*>>> worst_;
};

// The hours of a job count under one reason only: how it failed, else what it did not use.
void find_issues(Issues& issues, const Costed& costed) {
  const Job& job = costed.job;
  if (const std::optional<JobIssue> failure = failure_of(job)) return issues.add(*failure, costed, costed.gpu_time);
  if (costed.idle_gpus > 0 && costed.idle_gpus == job.gpus.size()) {
    issues.add(JobIssue::kGpusUnused, costed, costed.gpu_time);
  } else if (costed.idle_gpus > 0) {
    issues.add(JobIssue::kTooManyGpus, costed, costed.idle.value_or(GpuTime{}));
  }
  // The backfill scheduler plans with the limit: a limit of ten times the run time waits longer and blocks others.
  if (job.time_limit && !job.running() && job.elapsed < *job.time_limit * 0.1 && *job.time_limit > hours(1)) {
    issues.add(JobIssue::kTimeLimitTooLong, costed, {});
  }
}

}  // namespace

void clip_jobs(JobTable& table, const TimeSpan& window) {
  for (Job& job : table.jobs) {
    const TimePoint start = std::max(window.from, job.start), end = std::min(window.until, job.end);
    if (start == job.start && end == job.end) continue;
    job.elapsed = job.elapsed * (std::max(Seconds{}, end - start) / (job.end - job.start));
    job.start = start;
    job.end = end;
  }
  std::erase_if(table.jobs, [](const Job& job) { return job.end <= job.start; });
}

std::vector<GpuUse> gpus_of_jobs(const JobTable& table, const IdleRule& idle, const std::set<std::string>& covered) {
  std::vector<const Job*> jobs;
  for (const Job& job : table.jobs) jobs.push_back(&job);
  std::stable_sort(jobs.begin(), jobs.end(), [](const Job* a, const Job* b) { return a->start < b->start; });
  std::map<HostKey, std::map<int, Slot>> hosts;
  for (const Job* job : jobs) {
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
  std::map<std::string, GroupLine> users, accounts, partitions, states;
  JobLedger ledger;
  Issues issues;
  for (const Job& job : table.jobs) {
    const Costed costed = cost_of(job, prices, idle, host_prices);
    add_to(users, job.user, costed);
    add_to(accounts, job.account, costed);
    add_to(partitions, job.partition, costed);
    add_to(states, job.state, costed);
    find_issues(issues, costed);
    ++ledger.jobs;
    ledger.gpu_time += costed.gpu_time;
    ledger.spend += costed.spend.value_or(Usd{});
    ledger.priced += costed.spend ? 1 : 0;
    ledger.measured += job.measured() ? 1 : 0;
  }
  const bool priced = ledger.priced > 0;
  ledger.users = sorted(std::move(users), priced);
  ledger.accounts = sorted(std::move(accounts), priced);
  ledger.partitions = sorted(std::move(partitions), priced);
  ledger.states = sorted(std::move(states), priced);
  ledger.issues = issues.finish();
  ledger.without_gpu = table.without_gpu;
  ledger.never_started = table.never_started;
  return ledger;
}

std::vector<std::string> job_notes(const JobTable& table, const std::vector<GpuRow>& rows) {
  std::vector<std::string> notes;
  std::size_t unmeasured = 0;
  for (const Job& job : table.jobs) unmeasured += job.measured() ? 0 : 1;
  const bool only_log = std::all_of(rows.begin(), rows.end(), [](const GpuRow& row) { return row.use.from_job_log; });
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

std::string_view name_of(JobIssue issue) {
  static constexpr std::string_view kNames[] = {"failed",        "timed-out",     "cancelled",
                                                "out-of-memory", "node-failed",   "preempted",
                                                "gpus-unused",   "too-many-gpus", "time-limit-too-long"};
  return kNames[static_cast<std::size_t>(issue)];
}

std::string_view explain(JobIssue issue) {
  static constexpr std::string_view kSentences[] = {
      "the job failed: its work since the last checkpoint is lost",
      "the job reached its time limit: request more time, or checkpoint and requeue",
      "the job was cancelled while it ran",
      "the job ran out of host memory",
      "a node failed under the job",
      "the job was preempted or requeued: the run is lost unless it checkpoints",
      "the job succeeded, but its GPUs were never used",
      "some of the job's GPUs were never used: request fewer",
      "the job ran for less than a tenth of its time limit: it waits longer in the queue and blocks backfill",
  };
  return kSentences[static_cast<std::size_t>(issue)];
}

}  // namespace rightsize::fleet
