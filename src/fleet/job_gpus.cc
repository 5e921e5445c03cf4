// The GPUs of a job log. A month of a large cluster is a million jobs on tens of thousands of GPUs, so the owners of
// ended jobs are summed by host: the number of entries depends on hosts and owners, not on GPUs and jobs.
#include <algorithm>
#include <bit>
#include <map>
#include <queue>
#include <tuple>

#include <fmt/format.h>

#include "fleet/jobs.h"

namespace rightsize::fleet {
namespace {

using telemetry::JobGpu;
using telemetry::JobTable;
using telemetry::SlurmJob;
using telemetry::Word;

// The resolution of times in a job log.
constexpr Seconds kGrain = seconds(1);

// Accounts and users of ended jobs by number.
class JobOwners {
 public:
  std::uint32_t number_of(const SlurmJob& job) { return number_of(job.account, with_users_ ? job.user : Word()); }
  Owner owner(std::uint32_t number) const { return {all_[number].first, "", all_[number].second, ""}; }
  bool with_users() const { return with_users_; }
  // From now on, users are merged.
  void drop_users() { with_users_ = false; }
  std::uint32_t without_user(std::uint32_t number) { return number_of(all_[number].first, Word()); }

 private:
  std::uint32_t number_of(Word account, Word user) {
    const auto [found, is_new] = numbers_.try_emplace({account, user}, static_cast<std::uint32_t>(all_.size()));
    if (is_new) all_.emplace_back(account, user);
    return found->second;
  }

  bool with_users_ = true;
  std::map<std::pair<Word, Word>, std::uint32_t> numbers_;
  std::vector<std::pair<Word, Word>> all_;
};

// The time of ended jobs by owner.
class OwnerTimes {
 public:
  struct Entry {
    std::uint32_t owner = 0;
    Seconds active, idle, slack;
  };

  void add(std::uint32_t owner, Seconds time, bool idle, Seconds slack) {
    if (entries_.size() >= merge_at_) merge();
    entries_.push_back({owner, idle ? Seconds{} : time, idle ? time : Seconds{}, slack});
  }
  // One entry per owner.
  const std::vector<Entry>& merge() {
    std::ranges::sort(entries_, {}, &Entry::owner);
    std::size_t kept = 0;
    for (const Entry& entry : entries_) {
      if (kept > 0 && entries_[kept - 1].owner == entry.owner) {
        entries_[kept - 1].active += entry.active;
        entries_[kept - 1].idle += entry.idle;
        entries_[kept - 1].slack += entry.slack;
      } else {
        entries_[kept++] = entry;
      }
    }
    entries_.resize(kept);
    merge_at_ = std::max<std::size_t>(64, 2 * kept);
    return entries_;
  }
  void drop_users(JobOwners& owners) {
    for (Entry& entry : entries_) entry.owner = owners.without_user(entry.owner);
    merge();
    entries_.shrink_to_fit();
  }

 private:
  std::vector<Entry> entries_;
  std::size_t merge_at_ = 64;
};

// The idle part of active time.
Seconds slack_of(Seconds length, const JobGpu& gpu, bool resting) {
  return gpu.utilization && !resting ? length * (1 - gpu.utilization->fraction()) : Seconds{};
}

// A GPU of a host, to which jobs are assigned.
struct Slot {
  bool used = false;
  TimePoint first, last, busy_until;
  Seconds covered, measured, work, idle, held;  // `work` is time times utilization
  Seconds pooled_active, pooled_idle;           // the part of it in HostSlots::ended
  double peak = 0;
  Bytes memory, capacity;
  OwnerTimes ended;  // of jobs with a known GPU
  std::vector<Tenancy> running;

  void add(const SlurmJob& job, const JobGpu& gpu, bool resting, const IdleRule& rule) {
    const Seconds length = job.elapsed;
    first = used ? std::min(first, job.start) : job.start;
    last = std::max(last, job.end - kGrain);
    used = true;
    covered += length;
    busy_until = std::max(busy_until, job.end);
    if (job.running()) {
      // A running job can be acted on, so it keeps its name.
      running.push_back(
          {{job.account, "", job.user, std::string(job.id)}, length, resting ? length : Seconds{}, job.start, job.end});
      running.back().slack = slack_of(length, gpu, resting);
    }
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

  // The GPU without its ended jobs.
  GpuUse finish() {
    GpuUse use;
    auto set = [&](Metric metric, double mean, double most) {
      use.metrics[metric] = MetricUse{mean, std::nullopt, std::nullopt, most};
    };
    if (measured > Seconds{}) set(Metric::kGpuUtil, work / measured, peak);
    if (memory > Bytes{}) set(Metric::kMemoryUsed, in_bytes(memory), in_bytes(memory));
    if (capacity > Bytes{}) set(Metric::kMemoryTotal, in_bytes(capacity), in_bytes(capacity));
    use.first = first;
    use.last = last;
    use.covered = covered;
    use.interval = kGrain;
    use.known = measured;
    use.idle_share = covered > Seconds{} ? idle / covered : 0;
    use.held_share = covered > Seconds{} ? held / covered : 0;
    use.tenancies = std::move(running);
    return use;
  }
};

// The GPUs of one type on a host. Jobs arrive in the order of their start.
class HostSlots {
 public:
  // `count` GPUs like `gpu` for a job.
  void add(const SlurmJob& job, const JobGpu& gpu, std::size_t count, std::uint32_t owner, const IdleRule& rule) {
    const bool resting = gpu.utilization && gpu.utilization->fraction() <= rule.active_above;
    Run run;
    for (std::size_t i = 0; i < count; ++i) {
      const std::size_t at = place(job, gpu.index);
      Slot& slot = slots_[at];
      slot.add(job, gpu, resting, rule);
      if (at != run.first + run.count) {
        release_later(job, run);
        run = {at, 0};
      }
      ++run.count;
      if (job.running()) continue;
      if (gpu.index >= 0) slot.ended.add(owner, job.elapsed, resting, slack_of(job.elapsed, gpu, resting));
      if (gpu.index < 0) (resting ? slot.pooled_idle : slot.pooled_active) += job.elapsed;
    }
    release_later(job, run);
    if (gpu.index < 0 && !job.running() && count > 0) {
      const Seconds all = job.elapsed * static_cast<double>(count);
      ended_.add(owner, all, resting, slack_of(all, gpu, resting));
    }
  }

  void drop_users(JobOwners& owners) {
    ended_.drop_users(owners);
    for (Slot& slot : slots_) slot.ended.drop_users(owners);
  }

  std::size_t size() const { return slots_.size(); }
  std::size_t owners() {
    std::size_t all = ended_.merge().size();
    for (Slot& slot : slots_) all += slot.ended.merge().size();
    return all;
  }

  // The GPUs with their numbers. The log does not record which GPU of a host a job used, so each owner's hours are
  // assigned to the GPUs in turn: the hours per host and owner are right, and those of each GPU add up.
  std::vector<std::pair<std::size_t, GpuUse>> finish(const JobOwners& owners) {
    std::map<Owner, Tenancy> pool;
    sum(ended_, owners, pool);
    auto active = pool.begin(), idle = pool.begin();
    std::vector<std::pair<std::size_t, GpuUse>> gpus;
    for (std::size_t i = 0; i < slots_.size(); ++i) {
      Slot& slot = slots_[i];
      if (!slot.used) continue;
      GpuUse use = slot.finish();
      std::map<Owner, Tenancy> mine;
      sum(slot.ended, owners, mine);
      deal(slot.pooled_active, &Tenancy::time, active, pool.end(), mine);
      deal(slot.pooled_idle, &Tenancy::idle, idle, pool.end(), mine);
      for (auto& [owner, tenancy] : mine) {
        // Until here, `time` is the active part.
        use.tenancies.push_back(
            {owner, tenancy.time + tenancy.idle, tenancy.idle, slot.first, std::min(slot.last, slot.busy_until)});
        use.tenancies.back().slack = tenancy.slack;
      }
      std::ranges::stable_sort(use.tenancies, std::ranges::greater(), &Tenancy::time);
      gpus.emplace_back(i, std::move(use));
    }
    return gpus;
  }

 private:
  // GPUs with consecutive numbers.
  struct Run {
    std::size_t first = 0, count = 0;
  };
  // A job's end and its GPUs. A GPU may also belong to a longer job; the last end counts.
  struct Release {
    double at = 0;
    Run gpus;
    bool operator>(const Release& other) const { return at > other.at; }
  };

  void release_later(const SlurmJob& job, Run gpus) {
    if (gpus.count > 0) busy_.push({in_unix_seconds(job.end), gpus});
  }
  // The number of a job's GPU: its own, or the lowest that is free.
  std::size_t place(const SlurmJob& job, int index) {
    if (index >= 0) {
      grow(static_cast<std::size_t>(index) + 1);
      return static_cast<std::size_t>(index);
    }
    for (const double start = in_unix_seconds(job.start); !busy_.empty() && busy_.top().at <= start; busy_.pop()) {
      const Run& gpus = busy_.top().gpus;
      for (std::size_t i = gpus.first; i < gpus.first + gpus.count; ++i) set_free(i);
    }
    while (true) {
      while (lowest_ < free_.size() && free_[lowest_] == 0) ++lowest_;
      if (lowest_ == free_.size()) grow(slots_.size() + 1);
      const std::size_t at = lowest_ * kBits + static_cast<std::size_t>(std::countr_zero(free_[lowest_]));
      free_[lowest_] &= free_[lowest_] - 1;
      // A job with a GPU index may have taken it or extended its use.
      if (!slots_[at].used || slots_[at].busy_until <= job.start) return at;
    }
  }
  void set_free(std::size_t at) {
    free_[at / kBits] |= std::uint64_t{1} << (at % kBits);
    lowest_ = std::min(lowest_, at / kBits);
  }
  void grow(std::size_t count) {
    free_.resize(std::max(free_.size(), (count + kBits - 1) / kBits));
    for (std::size_t at = slots_.size(); at < count; ++at) {
      slots_.emplace_back();
      set_free(at);
    }
  }

  static void sum(OwnerTimes& times, const JobOwners& owners, std::map<Owner, Tenancy>& into) {
    for (const OwnerTimes::Entry& entry : times.merge()) {
      Tenancy& tenancy = into[owners.owner(entry.owner)];
      tenancy.time += entry.active;
      tenancy.idle += entry.idle;
      tenancy.slack += entry.slack;
    }
  }
  // Moves `amount` of one kind of time from the owners at `from` on.
  using Place = std::map<Owner, Tenancy>::iterator;
  static void deal(Seconds amount, Seconds Tenancy::*kind, Place& from, Place end, std::map<Owner, Tenancy>& to) {
    constexpr Seconds kRounding = seconds(1e-3);
    while (amount > kRounding && from != end) {
      const Seconds part = std::min(amount, from->second.*kind);
      if (part > Seconds{}) {
        const bool active = kind == &Tenancy::time;
        const Seconds slack = active ? from->second.slack * (part / from->second.time) : Seconds{};
        to[from->first].*kind += part;
        to[from->first].slack += slack;
        from->second.slack -= slack;
      }
      from->second.*kind -= part;
      amount -= part;
      if (from->second.*kind <= kRounding) ++from;
    }
  }

  static constexpr std::size_t kBits = 64;
  std::vector<Slot> slots_;
  std::priority_queue<Release, std::vector<Release>, std::greater<>> busy_;
  std::vector<std::uint64_t> free_;  // a bit per GPU
  std::size_t lowest_ = 0;           // all words of free_ before it are zero
  OwnerTimes ended_;                 // of jobs with an unknown GPU
};

// Host, GPU type and MIG profile: GPUs that can run each other's jobs.
using HostKey = std::tuple<std::string, std::string, std::string>;

}  // namespace

std::vector<GpuUse> gpus_of_jobs(const JobTable& table, const IdleRule& idle, const std::set<std::string>& covered,
                                 const std::function<void()>& jobs_read) {
  std::vector<const SlurmJob*> jobs;
  jobs.reserve(table.jobs.size());
  for (const SlurmJob& job : table.jobs) jobs.push_back(&job);
  const auto by_start = [](const SlurmJob* a, const SlurmJob* b) { return a->start < b->start; };
  if (!std::ranges::is_sorted(jobs, by_start)) std::ranges::stable_sort(jobs, by_start);
  std::map<HostKey, HostSlots> hosts;
  JobOwners owners;
  const auto slots_of = [&](const std::string& host, const SlurmJob& job) {
    return covered.contains(short_host(host)) ? nullptr : &hosts[{host, job.gpu_model, job.mig_profile}];
  };
  // The same nodes occur in thousands of jobs.
  constexpr std::size_t kMostKnown = 50'000;
  std::map<std::tuple<Word, Word, Word>, std::vector<HostSlots*>> known;
  constexpr std::size_t kMostTenancies = 150'000;  // in detail; a tenancy takes 200 bytes
  const auto bound_detail = [&] {
    std::size_t tenancies = 0;
    for (auto& [key, host] : hosts) tenancies += host.owners();
    if (tenancies <= kMostTenancies) return;
    owners.drop_users();
    for (auto& [key, host] : hosts) host.drop_users(owners);
  };
  std::size_t done = 0;
  for (const SlurmJob* job : jobs) {
    if (++done % kMostTenancies == 0 && owners.with_users()) bound_detail();
    const std::uint32_t owner = owners.number_of(*job);
    if (job->known_gpus) {
      for (const JobGpu& gpu : job->gpus()) {
        if (HostSlots* host = slots_of(gpu.host, *job)) host->add(*job, gpu, 1, owner, idle);
      }
      continue;
    }
    if (known.size() > kMostKnown) known.clear();
    const auto [found, is_new] = known.try_emplace({job->nodes, job->gpu_model, job->mig_profile});
    if (is_new) {
      std::vector<std::string> names = telemetry::expand_hosts(job->nodes.str());
      if (names.empty()) names.emplace_back();
      for (const std::string& name : names) found->second.push_back(slots_of(name, *job));
    }
    JobGpu gpu;
    if (job->utilization >= 0) gpu.utilization = Ratio::fraction(static_cast<double>(job->utilization));
    if (job->used_bytes >= 0) gpu.used = bytes(static_cast<double>(job->used_bytes));
    const std::size_t nodes = found->second.size(), count = job->gpu_count;
    for (std::size_t n = 0; n < nodes; ++n) {
      const std::size_t here = count / nodes + (n < count % nodes ? 1 : 0);
      if (found->second[n] != nullptr) found->second[n]->add(*job, gpu, here, owner, idle);
    }
  }
  if (owners.with_users()) bound_detail();
  jobs = {};
  known = {};
  if (jobs_read) jobs_read();
  std::size_t count = 0;
  for (auto& [key, host] : hosts) count += host.size();
  std::vector<GpuUse> gpus;
  gpus.reserve(count);
  for (auto& [key, found] : hosts) {
    const auto& [host, model, profile] = key;
    for (auto& [number, use] : found.finish(owners)) {
      const int index = static_cast<int>(number);
      use.device = {.index = index, .name = model, .host = host, .mig_profile = profile};
      // GPUs of two types on one host are numbered separately, and each instance needs a name.
      if (!profile.empty()) use.device.mig_id = fmt::format("{}-{}", profile, index);
      use.from_job_log = true;
      gpus.push_back(std::move(use));
    }
    found = {};
  }
  return gpus;
}

}  // namespace rightsize::fleet
