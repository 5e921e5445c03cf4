#include "mig/workloads.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "base/format.h"

namespace rightsize::mig {

using catalog::Gpu;

// The worse of arithmetic and bandwidth, because a file does not tell which of the two is the limit.
double slowdown_on(const Workload& workload, const Gpu& gpu, const perf::SpeedTable& speeds) {
  if (workload.measured_on.empty()) return 1;
  const Result<const Gpu*> reference = speeds.catalog().find_gpu(workload.measured_on);
  if (!reference) return 1;
  const perf::SustainedRates *from = speeds.find(**reference), *to = speeds.find(gpu);
  if (from == nullptr || to == nullptr) return 1;
  const std::optional<perf::Slowdown> slow = perf::slowdown(*from, *to, catalog::NumberFormat::kBf16);
  return slow ? slow->worst() : from->memory / to->memory;
}

namespace {

// p99 latency of one replica: its service time, longer by the smaller share of SMs and bandwidth, plus the wait in a
// queue with constant service (Kingman's exponential tail, exact in heavy traffic). Empty without a service time;
// infinite if requests arrive faster than they can be served.
std::optional<Seconds> latency_in(const Workload& workload, const Resources& capacity, const Gpu& gpu,
                                  const perf::SpeedTable& speeds) {
  if (!workload.service) return std::nullopt;
  const double share = std::min(capacity.sms, capacity.bandwidth);
  const Seconds service = *workload.service * (slowdown_on(workload, gpu, speeds) / share);
  if (!workload.rate) return service;
  const double busy = workload.load.fraction() * slowdown_on(workload, gpu, speeds) / share;
  if (busy >= 1) return seconds(INFINITY);
  // P(wait > t) = busy * exp(-2 (1 - busy) t / service) for Poisson arrivals and constant service.
  const double wait = busy <= 0.01 ? 0 : std::log(100 * busy) / (2 * (1 - busy));
  return service * (1 + wait);
}

constexpr double kTolerance = 1e-9;  // 7 x 1/7 must fit

}  // namespace

std::size_t WorkloadFile::replicas() const {
  std::size_t sum = 0;
  for (const Workload& workload : workloads) sum += static_cast<std::size_t>(workload.replicas);
  return sum;
}

Resources need_on(const Workload& workload, const Gpu& gpu, const perf::SpeedTable& speeds) {
  const double scale = slowdown_on(workload, gpu, speeds) * (1 + workload.headroom.fraction());
  return {workload.memory, workload.load.fraction() * scale, workload.bandwidth.fraction() * scale};
}

bool Resources::holds(const Resources& need) const {
  return need.memory <= memory * (1 + kTolerance) && need.sms <= sms + kTolerance &&
         need.bandwidth <= bandwidth + kTolerance;
}

Resources capacity_of(const Geometry& geometry, int profile) {
  return {geometry.profile(profile).memory, geometry.sm_share(profile), geometry.bandwidth_share(profile)};
}

Resources capacity_of(const Gpu& gpu) { return {gpu.capacity(), 1, 1}; }

std::string misfit(const Workload& workload, const Resources& capacity, const Gpu& gpu,
                   const perf::SpeedTable& speeds) {
  const Resources need = need_on(workload, gpu, speeds);
  if (need.memory > capacity.memory)
    return fmt::format("needs {}, has {}", format_bytes(need.memory), format_bytes(capacity.memory));
  const auto too_little = [](const char* what, double needed, double offered) {
    return fmt::format("needs {} of the {} including headroom, has {}", format_percent(Ratio::fraction(needed)), what,
                       format_percent(Ratio::fraction(offered)));
  };
  if (need.sms > capacity.sms + kTolerance) return too_little("SMs", need.sms, capacity.sms);
  if (need.bandwidth > capacity.bandwidth + kTolerance)
    return too_little("bandwidth", need.bandwidth, capacity.bandwidth);
  if (!workload.latency) return {};
  const std::optional<Seconds> latency = latency_in(workload, capacity, gpu, speeds);
  if (!latency || *latency <= *workload.latency) return {};
  if (std::isinf(in_seconds(*latency))) return "requests arrive faster than it can serve them";
  return fmt::format("p99 latency {} exceeds the SLO of {}", format_duration(*latency),
                     format_duration(*workload.latency));
}

}  // namespace rightsize::mig
