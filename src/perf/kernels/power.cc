#include "perf/kernels/power.h"

#include <algorithm>
#include <cmath>

namespace rightsize::perf {

// Dynamic power is frequency x voltage^2, and voltage follows the clock down to a floor: measured on the A100 (Perseus,
// ml-energy/zeus sosp24_data, docs/energy.md).
Watts power_at(const GpuPower& gpu, const Activity& a, double clock) {
  const double voltage = std::max(clock, gpu.voltage_floor), squared = voltage * voltage;
  const double per = 1 / in_seconds(a.time);
  const auto use = [&](Seconds time) { return std::min(1.0, in_seconds(time) * per); };
  const Watts cores = gpu.kernels * (use(a.busy) * clock) + gpu.tensor * use(a.tensor);
  return gpu.idle + cores * squared + gpu.memory * use(a.memory) + gpu.exchange * use(a.exchange) +
         gpu.host * use(a.host);
}

double clock_within(const GpuPower& gpu, const Activity& activity, Watts limit) {
  if (power_at(gpu, activity, 1) <= limit) return 1;
  double low = kSlowestClock, high = 1;
  if (power_at(gpu, activity, low) >= limit) return low;
  for (int i = 0; i < 12; ++i) {
    const double middle = (low + high) / 2;
    (power_at(gpu, activity, middle) <= limit ? low : high) = middle;
  }
  return low;
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
