#include "gpu_use/account.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <set>

#include <fmt/format.h>

#include "base/format.h"

namespace rightsize::gpu_use {

Seconds total(const std::vector<Seconds>& times) { return std::accumulate(times.begin(), times.end(), Seconds{}); }

GpuUse begin_use(Device device, Seconds covered, const TimeSpan& span, Seconds interval) {
  GpuUse use;
  use.device = std::move(device);
  use.covered = covered;
  use.interval = interval;
  use.first = span.from;
  use.last = std::max(span.from, span.until - interval);
  return use;
}

void set_idle(GpuUse& use, const StepTimes& time, const IdleRule& rule) {
  Profile& profile = use.profile;
  Seconds idle, held;
  use.known = total(time.known);
  for (std::size_t i = 0; i < time.idle.size(); ++i) {
    idle += time.idle[i];
    const bool memory = i < profile.memory.mean.size() && !std::isnan(profile.memory.mean[i]);
    if (memory && bytes(static_cast<double>(profile.memory.mean[i])) > rule.held_above) held += time.idle[i];
  }
  use.idle_share = use.covered > Seconds{} ? idle / use.covered : 0;
  use.held_share = use.covered > Seconds{} ? held / use.covered : 0;
  profile.idle.reserve(profile.steps());
  for (std::size_t i = 0; i < profile.steps(); ++i) {
    const bool known = !std::isnan(profile.activity.mean[i]) && time.known[i] > Seconds{};
    profile.idle.push_back(known ? static_cast<float>(time.idle[i] / time.known[i]) : kUnknownStep);
  }
}

void add_free_part(std::vector<GpuUse>& rows, Seconds partitioned, const TimeSpan& span,
                   std::vector<MigPeriod> layouts) {
  if (rows.empty()) return;
  Device device = rows.front().device;
  device.mig_id = kFreePart;
  device.mig_profile.clear();
  GpuUse free = begin_use(std::move(device), partitioned, span, rows.front().interval);
  free.known = partitioned;
  free.idle_share = 1;
  free.layouts = std::move(layouts);
  rows.push_back(std::move(free));
}

namespace {

constexpr Seconds kClockOff = kYear;  // a larger difference from the fleet means a wrong clock

// GPUs with times at most a year apart.
struct Era {
  TimePoint first, last;
  std::vector<std::size_t> gpus;
};

std::vector<Era> eras_of(const std::vector<GpuUse>& gpus) {
  std::vector<std::size_t> order;
  for (std::size_t i = 0; i < gpus.size(); ++i) order.push_back(i);
  std::ranges::sort(order, [&](std::size_t a, std::size_t b) { return gpus[a].first < gpus[b].first; });
  std::vector<Era> eras;
  for (std::size_t i : order) {
    if (eras.empty() || gpus[i].first - eras.back().last > kClockOff) eras.push_back({gpus[i].first, gpus[i].last, {}});
    eras.back().last = std::max(eras.back().last, gpus[i].last);
    eras.back().gpus.push_back(i);
  }
  return eras;
}

// Profiles stay aligned to whole steps.
void move_times(GpuUse& gpu, Seconds by, const Era& into) {
  gpu.clock_off = -by;
  auto moved = [&](TimePoint time) { return std::clamp(time + by, into.first, std::max(into.first, into.last)); };
  gpu.first = moved(gpu.first);
  gpu.last = moved(gpu.last);
  if (gpu.profile.width > Seconds{}) gpu.profile.start += std::round(by / gpu.profile.width) * gpu.profile.width;
  for (Tenancy& t : gpu.tenancies) {
    t.first = moved(t.first);
    t.last = moved(t.last);
  }
}

}  // namespace

void correct_clocks(std::vector<GpuUse>& gpus) {
  const std::vector<Era> eras = eras_of(gpus);
  if (eras.size() < 2) return;
  const auto most =
      std::ranges::max_element(eras, [](const Era& a, const Era& b) { return a.gpus.size() < b.gpus.size(); });
  for (const Era& era : eras) {
    if (&era == &*most) continue;
    for (std::size_t i : era.gpus) move_times(gpus[i], most->first - era.first, *most);
  }
}

std::vector<std::string> accounting_notes(const std::vector<GpuUse>& gpus) {
  std::vector<std::string> notes;
  Seconds unknown, filled, covered;
  std::uint64_t dropped = 0;
  std::size_t silent = 0, with_dropped = 0;
  std::map<std::string, std::pair<Seconds, std::set<std::string>>> clocks;  // by host: how far off, GPUs
  for (const GpuUse& gpu : gpus) {
    if (gpu.is_free_part()) continue;
    covered += gpu.covered;
    filled += gpu.filled;
    dropped += gpu.dropped;
    with_dropped += gpu.dropped > 0 ? 1 : 0;
    if (gpu.activity() && gpu.covered - gpu.known > gap_limit(gpu.interval)) {
      unknown += gpu.covered - gpu.known;
      ++silent;
    }
    if (gpu.clock_off != Seconds{}) {
      auto& [off, ids] = clocks[gpu.device.host.empty() ? gpu.device.key() : gpu.device.host];
      off = gpu.clock_off;
      ids.insert(gpu.device.key());
    }
  }
  if (dropped > 0) {
    notes.push_back(
        fmt::format("{} readings of {} were blank or impossible and dropped: the GPUs count as present, and "
                    "their activity then is taken from the other readings",
                    format_count(static_cast<double>(dropped)), count_of(with_dropped, "GPU")));
  }
  if (silent > 0) {
    notes.push_back(
        fmt::format("{} GPU-hours of {} have no activity, only other metrics: they are billed, and count as "
                    "neither idle nor busy",
                    format_number(in_hours(unknown)), count_of(silent, "GPU")));
  }
  if (filled > 0.001 * covered && filled > seconds(600)) {
    notes.push_back(fmt::format("{} GPU-hours in gaps of at most five minutes between readings count as present",
                                format_number(in_hours(filled))));
  }
  for (const auto& [host, clock] : clocks) {
    if (notes.size() > 20) break;
    notes.push_back(
        fmt::format("the clock of {} is {:.1f} years {} the fleet's ({}): its hours are counted within the fleet's "
                    "window",
                    host, std::abs(clock.first / kClockOff), clock.first > Seconds{} ? "ahead of" : "behind",
                    count_of(clock.second.size(), "GPU")));
  }
  return notes;
}

}  // namespace rightsize::gpu_use
