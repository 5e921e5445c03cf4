#include "fleet/attribute.h"

#include <algorithm>
#include <cmath>
#include <map>

namespace rightsize::fleet {
namespace {

using telemetry::Job;

Owner owner_of_job(const Job& job) { return {job.account, job.name, job.user, job.id}; }

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
struct Part {
  const Job* job = nullptr;
  double weight = 1;
};

void add_tenancies(GpuUse& gpu, const std::vector<Part>& parts) {
  std::map<const Job*, double> weights;  // a job with three of a host's eight GPUs occurs three times
  for (const Part& part : parts) weights[part.job] += part.weight;
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
  std::stable_sort(found.begin(), found.end(), [](const Tenancy& a, const Tenancy& b) { return a.time > b.time; });
  gpu.tenancies = std::move(found);
}

}  // namespace

Attribution attribute_jobs(std::vector<GpuUse>& gpus, const telemetry::JobTable& table) {
  std::map<std::string, const Job*> by_id;
  std::map<std::pair<std::string, int>, std::vector<Part>> by_gpu;
  std::map<std::string, double> gpus_of_host;
  for (const GpuUse& gpu : gpus) gpus_of_host[short_host(gpu.device.host)] += 1;
  for (const Job& job : table.jobs) {
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
    std::vector<Part> parts = by_gpu[{host, gpu.device.index}];
    const std::vector<Part>& anywhere = by_gpu[{host, -1}];
    parts.insert(parts.end(), anywhere.begin(), anywhere.end());
    if (parts.empty()) continue;
    add_tenancies(gpu, parts);
    ++done.by_time;
  }
  return done;
}

}  // namespace rightsize::fleet
