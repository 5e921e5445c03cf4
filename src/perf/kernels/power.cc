#include "perf/kernels/power.h"

#include <algorithm>
#include <cmath>

namespace rightsize::perf {

namespace {

// Power as a function of the clock: fixed + (kernels x clock + tensor) x voltage^2.
struct PowerParts {
  Watts fixed, kernels, tensor;
};

PowerParts parts_of(const GpuPower& gpu, const Activity& a) {
  const double per = 1 / in_seconds(a.time);
  const auto use = [&](Seconds time) { return std::min(1.0, in_seconds(time) * per); };
  return {gpu.idle + gpu.memory * use(a.memory) + gpu.exchange * use(a.exchange) + gpu.host * use(a.host),
          gpu.kernels * use(a.busy), gpu.tensor * use(a.tensor)};
}

// Dynamic power is frequency x voltage^2, and voltage follows the clock down to a floor: measured on the A100 (Perseus,
// ml-energy/zeus sosp24_data, docs/energy.md).
Watts power_of(const PowerParts& parts, double floor, double clock) {
  const double voltage = std::max(clock, floor);
  return parts.fixed + (parts.kernels * clock + parts.tensor) * (voltage * voltage);
}

}  // namespace

Watts power_at(const GpuPower& gpu, const Activity& activity, double clock) {
  return power_of(parts_of(gpu, activity), gpu.voltage_floor, clock);
}

double clock_within(const GpuPower& gpu, const Activity& activity, Watts limit) {
  const PowerParts parts = parts_of(gpu, activity);
  const double floor = gpu.voltage_floor;
  if (power_of(parts, floor, 1) <= limit) return 1;
  // Below the floor power is linear in the clock.
  if (power_of(parts, floor, floor) >= limit) {
    const double left = (limit - parts.fixed) / (floor * floor) / parts.kernels - parts.tensor / parts.kernels;
    return parts.kernels > Watts{} ? std::clamp(left, kSlowestClock, floor) : kSlowestClock;
  }
  // Above the floor power is convex, so Newton steps from the highest clock never overshoot.
  double clock = 1;
  for (int i = 0; i < 5; ++i) {
    const Watts above = power_of(parts, floor, clock) - limit;
    clock -= above / ((parts.kernels * (3 * clock) + parts.tensor * 2) * clock);
  }
  return std::clamp(clock, std::max(floor, kSlowestClock), 1.0);
}

void bound_power(const GpuPower& gpu, Watts limit, PowerEstimate& estimate) {
  estimate.mean = std::clamp(estimate.mean, gpu.idle, limit);
  estimate.high = std::min(std::exp(gpu.width), limit / estimate.mean);
  estimate.low = std::max(std::exp(-gpu.width), gpu.idle / estimate.mean);
}

PowerEstimate power_of(const GpuPower& gpu, const Activity& activity) {
  PowerEstimate estimate;
  estimate.activity = activity;
  if (!gpu.known() || !(activity.time > Seconds{})) return estimate;
  const Watts settled = gpu.limit * gpu.held;
  estimate.clock = clock_within(gpu, activity, settled);
  estimate.mean = std::min(settled, power_at(gpu, activity, estimate.clock));
  bound_power(gpu, gpu.limit, estimate);
  return estimate;
}

}  // namespace rightsize::perf
