// The activity of a GPU in a pass, to estimate its power. Internal to this module.
#pragma once

#include "perf/stacks/estimate_parts.h"
#include "perf/stacks/image_cost.h"
#include "perf/stacks/serve_replica.h"

namespace rightsize::perf {

// One prefill pass or decode step. `exchange_factor` is the stack's factor on exchanges.
Activity activity_of(const EngineCopy& r, const Step& step, double exchange_factor);

// Requests that share one copy of the model: a decode step, and the prompts processed meanwhile. `time` includes both.
Activity serving_activity(const EngineCopy& r, const Prefill& prefill, const Step& step, double running, Seconds time);

// A training step, from its FLOPs: products run at the GPU's sustained rate, and the remaining busy time moves memory.
Activity training_activity(const GpuSpeed& gpu, const TrainEstimate& estimate, Seconds tensor);

// Products at the GPU's sustained rate and other kernels at memory speed, for passes known by their time alone.
Activity pass_activity(const GpuSpeed& gpu, Seconds time, Seconds device, Seconds tensor);

// The estimate at the clock that the user's power cap allows. `make` estimates the job at a given speed.
template <class Estimate, class Make>
Result<Estimate> within_cap(const GpuSpeed& gpu, const Make& make) {
  RIGHTSIZE_TRY(Estimate found, make(gpu));
  found.power = power_of(gpu.power, found.power.activity);
  const double energy_width = std::is_same_v<Estimate, ServeEstimate> ? gpu.power.served_energy_width : 0;
  found.power.energy_width = energy_width;
  const Watts settled = gpu.power.cap * gpu.power.held;
  if (!gpu.power.capped() || !found.power.known()) return found;
  if (found.power.mean <= settled) {
    bound_power(gpu.power, gpu.power.cap, found.power);
    return found;
  }
  const double free = found.power.clock;
  double low = 0, high = 1;
  Estimate best = found;
  for (int i = 0; i < 9; ++i) {
    // The last resort is the slowest clock, whatever its power.
    const double slower = i == 0 ? kSlowestClock : (low + high) / 2;
    RIGHTSIZE_TRY(Estimate tried, make(at_clock(gpu, slower)));
    tried.power.activity = at_full_clock(tried.power.activity, slower);
    tried.power.mean = power_at(gpu.power, tried.power.activity, free * slower);
    tried.power.clock = free * slower;
    const bool fits = tried.power.mean <= settled;
    if (i > 0 && !fits) {
      high = slower;
      continue;
    }
    low = slower, best = tried;
    if (i == 0 && !fits) break;
  }
  best.power.slower = low, best.power.energy_width = energy_width;
  bound_power(gpu.power, gpu.power.cap, best.power);
  return best;
}

}  // namespace rightsize::perf
