#include "mig/workloads.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "base/format.h"

namespace rightsize::mig {

using catalog::Catalog;
using catalog::Gpu;

namespace {

// How much longer work takes on `gpu` than where it was measured: by the worse of arithmetic and bandwidth, since a
// file does not say which of the two binds.
double slowdown(const Workload& workload, const Gpu& gpu, const Catalog& catalog) {
  if (workload.measured_on.empty()) return 1;
  const Result<const Gpu*> reference = catalog.find_gpu(workload.measured_on);
  if (!reference || *reference == &gpu) return 1;
  double factor = (*reference)->bandwidth / gpu.bandwidth;
  const auto was = (*reference)->half_rate(), is = gpu.half_rate();
  if (was && is) factor = std::max(factor, *was / *is);
  return factor;
}

constexpr double kTolerance = 1e-9;  // 7 x 1/7 must fit

}  // namespace

std::size_t WorkloadFile::replicas() const {
  std::size_t sum = 0;
  for (const Workload& workload : workloads) sum += static_cast<std::size_t>(workload.replicas);
  return sum;
}

Need need_on(const Workload& workload, const Gpu& gpu, const Catalog& catalog) {
  const double scale = slowdown(workload, gpu, catalog) * (1 + workload.headroom.fraction());
  return {workload.memory, workload.load.fraction() * scale, workload.bandwidth.fraction() * scale};
}

Room room_of(const Geometry& geometry, int profile) {
  return {geometry.profile(profile).memory, geometry.sm_share(profile), geometry.bandwidth_share(profile)};
}

Room room_of(const Gpu& gpu) { return {gpu.capacity(), 1, 1}; }

std::optional<Seconds> latency_in(const Workload& workload, const Room& room, const Gpu& gpu, const Catalog& catalog) {
  if (!workload.service) return std::nullopt;
  const double share = std::min(room.sms, room.bandwidth);
  const Seconds service = *workload.service * (slowdown(workload, gpu, catalog) / share);
  if (!workload.rate) return service;
  const double busy = *workload.rate / workload.replicas * service / requests(1);
  if (busy >= 1) return seconds(INFINITY);
  // P(wait > t) = busy * exp(-2 (1 - busy) t / service) for Poisson arrivals and constant service.
  const double wait = busy <= 0.01 ? 0 : std::log(100 * busy) / (2 * (1 - busy));
  return service * (1 + wait);
}

std::string misfit(const Workload& workload, const Room& room, const Gpu& gpu, const Catalog& catalog) {
  const Need need = need_on(workload, gpu, catalog);
  if (need.memory > room.memory) {
    return fmt::format("needs {}, there are {}", format_bytes(need.memory), format_bytes(room.memory));
  }
  if (need.sms > room.sms + kTolerance) {
    return fmt::format("needs {} of the SMs with its headroom, there are {}", format_percent(Ratio::fraction(need.sms)),
                       format_percent(Ratio::fraction(room.sms)));
  }
  if (need.bandwidth > room.bandwidth + kTolerance) {
    return fmt::format("needs {} of the bandwidth with its headroom, there are {}",
                       format_percent(Ratio::fraction(need.bandwidth)),
                       format_percent(Ratio::fraction(room.bandwidth)));
  }
  if (!workload.latency) return {};
  const std::optional<Seconds> latency = latency_in(workload, room, gpu, catalog);
  if (!latency || *latency <= *workload.latency) return {};
  if (std::isinf(in_seconds(*latency))) return "requests come faster than it can answer there";
  return fmt::format("would answer in {}, promised are {}", format_duration(*latency),
                     format_duration(*workload.latency));
}

}  // namespace rightsize::mig
