#include "gpu_use/use.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <string_view>
#include <tuple>

#include <fmt/format.h>

#include "base/format.h"

namespace rightsize::gpu_use {
namespace {

bool is_random(std::string_view part, std::size_t least, std::size_t most) {
  // The alphabet of Kubernetes' random names, which has no vowels.
  return part.size() >= least && part.size() <= most &&
         part.find_first_not_of("bcdfghjklmnpqrstvwxz2456789") == std::string_view::npos;
}

// Anonymized names have other letters at their end.
bool is_plain(std::string_view part) {
  return part.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789") == std::string_view::npos;
}

bool is_number(std::string_view part) {
  return !part.empty() && part.size() <= 5 && part.find_first_not_of("0123456789") == std::string_view::npos;
}

// The hash of a replica set uses the same alphabet, or hexadecimal digits in older versions.
bool is_hash(std::string_view part) {
  return is_random(part, 6, 10) || (part.size() >= 8 && part.size() <= 10 &&
                                    part.find_first_not_of("0123456789abcdef") == std::string_view::npos &&
                                    part.find_first_of("0123456789") != std::string_view::npos);
}

// The last multiple of the width that is not later than `time`.
TimePoint whole_steps(TimePoint time, Seconds width) {
  return TimePoint(std::floor(time.since_epoch() / width) * width);
}

// `from` on a coarser axis: step i is part of step lead + (i + skip) / factor there, which gets the mean or maximum.
std::vector<float> resample(const std::vector<float>& from, std::size_t skip, std::size_t factor, std::size_t lead,
                            std::size_t steps, bool largest) {
  if (from.empty()) return {};
  std::vector<float> to(steps, kUnknownStep);
  std::vector<float> count(steps, 0);
  for (std::size_t i = 0; i < from.size(); ++i) {
    const std::size_t at = lead + (i + skip) / factor;
    if (at >= steps || std::isnan(from[i])) continue;
    if (count[at] == 0) {
      to[at] = from[i];
    } else {
      to[at] = largest ? std::max(to[at], from[i]) : to[at] + from[i];
    }
    count[at] += 1;
  }
  for (std::size_t i = 0; i < steps && !largest; ++i) {
    if (count[i] > 1) to[i] /= count[i];
  }
  return to;
}

// Widths divide each other (wider_step), so every narrow step lies within one wide step.
void move_profile(Profile& profile, TimePoint start, Seconds width, std::size_t steps) {
  const auto factor = static_cast<std::size_t>(std::llround(width / profile.width));
  const TimePoint coarse = whole_steps(profile.start, width);
  const auto skip = static_cast<std::size_t>(std::llround((profile.start - coarse) / profile.width));
  const auto lead = static_cast<std::size_t>(std::llround((coarse - start) / width));
  for (MetricCurve* curve : {&profile.activity, &profile.dram, &profile.memory}) {
    curve->mean = resample(curve->mean, skip, factor, lead, steps, false);
    curve->max = resample(curve->max, skip, factor, lead, steps, true);
  }
  profile.idle = resample(profile.idle, skip, factor, lead, steps, false);
  profile.start = start;
  profile.width = width;
}

}  // namespace

std::string Owner::shown() const {
  if (!team.empty() && !workload.empty()) return team + "/" + workload;
  if (!team.empty() && !user.empty()) return team + "/" + user;
  for (const std::string* part : {&team, &workload, &user, &instance}) {
    if (!part->empty()) return *part;
  }
  return kUnowned;
}

std::optional<Metric> GpuUse::activity() const {
  for (Metric m : kActivityMetrics) {
    if (metric(m) != nullptr) return m;
  }
  return std::nullopt;
}

Seconds gap_limit(Seconds interval) { return std::max(seconds(300), 2.5 * interval); }

Seconds wider_step(Seconds width) {
  for (double step : {1, 2, 4, 12, 60, 300, 900, 1800, 3600, 7200, 14400, 28800, 86400}) {
    if (seconds(step) > width) return seconds(step);
  }
  return width * 2;
}

Seconds step_at_least(Seconds width) {
  Seconds step = seconds(1);
  while (step < width) step = wider_step(step);
  return step;
}

std::string whole_key(Device device) {
  device.mig_id.clear();
  return device.key();
}

std::string instance_name(const Device& device) { return device.mig_id + "/" + device.mig_profile; }

void sort_by_place(std::vector<GpuUse>& gpus) {
  std::ranges::sort(gpus, [](const GpuUse& a, const GpuUse& b) {
    return std::tie(a.device.host, a.device.index, a.device.uuid, a.device.mig_id, a.device.mig_profile) <
           std::tie(b.device.host, b.device.index, b.device.uuid, b.device.mig_id, b.device.mig_profile);
  });
}

void align(std::vector<GpuUse>& gpus) {
  Seconds width;
  TimePoint last, start = unix_seconds(std::numeric_limits<double>::infinity());
  for (const GpuUse& gpu : gpus) {
    if (gpu.profile.steps() > 0) width = std::max(width, gpu.profile.width);
  }
  if (width <= Seconds{}) return;
  for (const GpuUse& gpu : gpus) {
    if (gpu.profile.steps() == 0) continue;
    start = std::min(start, whole_steps(gpu.profile.start, width));
    last = std::max(last, gpu.profile.begin_of(gpu.profile.steps()));
  }
  const auto steps = static_cast<std::size_t>(std::ceil((last - start) / width));
  for (GpuUse& gpu : gpus) {
    if (gpu.profile.steps() > 0) move_profile(gpu.profile, start, width, steps);
  }
}

std::string count_of(std::size_t count, std::string_view thing) {
  if (thing == "GPU") return fmt::format("{} GPU{}", format_count(static_cast<double>(count)), count == 1 ? "" : "s");
  return fmt::format("{} {}", format_count(static_cast<double>(count)), thing);
}

std::string short_host(const std::string& host) { return host.substr(0, host.find('.')); }

std::string first_label(const Device& device, std::initializer_list<const char*> names) {
  return first_label(device, std::span(names.begin(), names.size()));
}

std::string first_label(const Device& device, std::span<const char* const> names) {
  for (const char* name : names) {
    const auto found = device.labels.find(name);
    if (found != device.labels.end() && !found->second.empty()) return found->second;
  }
  return {};
}

std::string workload_of_pod(const std::string& pod) {
  std::string_view name = pod;
  const std::size_t dash = name.rfind('-');
  if (dash == std::string_view::npos || dash == 0) return pod;
  const std::string_view end = name.substr(dash + 1);
  name = name.substr(0, dash);
  const std::size_t second = name.rfind('-');
  const bool replica = end.size() == 5 && is_plain(end) && second != std::string_view::npos && second > 0 &&
                       is_hash(name.substr(second + 1));
  if (replica) return std::string(name.substr(0, second));
  return is_random(end, 5, 5) || is_number(end) ? std::string(name) : pod;  // stateful set, indexed job
}

Owner owner_of(const Device& device) {
  Owner owner;
  owner.team = first_label(device, kTeamLabels);
  owner.user = first_label(device, kUserLabels);
  const std::string pod = first_label(device, kPodLabels);
  // Without honorLabels, `pod` and `namespace` are those of the exporter.
  const bool exporter = first_label(device, {"exported_pod"}).empty() && pod.find("dcgm-exporter") != std::string::npos;
  if (exporter) {
    owner.team.clear();
  } else if (!pod.empty()) {
    owner.instance = pod;
    owner.workload = workload_of_pod(pod);
  }
  if (const std::string job = first_label(device, kJobLabels); owner.instance.empty()) {
    owner.instance = job;
    owner.workload = first_label(device, kJobNameLabels);
    if (owner.workload.empty() && !job.empty()) owner.workload = "job " + job;
  }
  // Pods of Ray and SkyPilot are named by their operator; labels carry the user's name for the job.
  const std::string job_name =
      first_label(device, {"ray_io_originated_from_cr_name", "label_ray_io_originated_from_cr_name", "ray_io_cluster",
                           "label_ray_io_cluster", "skypilot_cluster_name", "label_skypilot_cluster_name",
                           "skypilot_cluster", "label_skypilot_cluster"});
  if (!exporter && !job_name.empty()) owner.workload = job_name;
  if (owner.user.empty()) owner.user = first_label(device, {"skypilot_user", "label_skypilot_user"});
  return owner;
}

}  // namespace rightsize::gpu_use
