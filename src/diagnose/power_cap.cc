#include "diagnose/power_cap.h"

#include <algorithm>

#include "perf/kernels/gpu_speed.h"

namespace rightsize::diagnose {
namespace {

// The time at a clock relative to today's. If memory is the limit, slower arithmetic stays hidden until it takes
// longer.
double time_at(const PoweredWork& work, double clock) {
  const double memory = work.memory / std::min(1.0, work.clock * clock / perf::kMemoryClock);
  const double others = 1 - work.arithmetic - work.memory;
  return others + std::max(memory, work.hidden / clock) + work.arithmetic / clock;
}

Watts power_at(const PoweredWork& work, double clock) {
  perf::Activity parts = work.parts;
  parts.time = seconds(time_at(work, clock));
  parts.busy += parts.time - work.parts.time;
  return perf::power_at(work.gpu, parts, work.clock * clock);
}

}  // namespace

std::optional<PoweredWork> powered_work(const Summary& summary, const TimeShares& shares, const perf::GpuPower& gpu) {
  const std::optional<double> mean = summary.mean(Metric::kPower);
  if (!mean || !gpu.known() || !summary.on_off) return std::nullopt;
  PoweredWork work;
  work.active = 1 - summary.on_off->idle_share;
  constexpr double kFewestActive = 0.01;
  if (work.active < kFewestActive) return std::nullopt;
  const auto share = [&](double of_all) { return std::clamp(of_all / work.active, 0.0, 1.0); };
  work.arithmetic = share(shares.compute + shares.stall);
  work.memory = std::min(share(shares.memory), 1 - work.arithmetic);
  work.hidden = std::min(share(shares.overlap), work.memory);
  const double waits = share(std::max(0.0, shares.wait - summary.on_off->idle_share));
  work.parts.time = seconds(1);
  work.parts.busy = seconds(1 - waits);
  work.parts.tensor = seconds(share(summary.mean(Metric::kTensorActive).value_or(shares.compute)));
  work.parts.memory = seconds(share(summary.mean(Metric::kDramActive).value_or(shares.memory)));
  // While idle the GPU draws its idle power.
  const Watts idle = std::min(gpu.idle, watts(*mean));
  work.drawn = std::min(gpu.limit, idle + (watts(*mean) - idle) / work.active);
  work.clock = perf::clock_within(gpu, work.parts, gpu.limit * gpu.held);
  // Effects outside the model (data, temperature, kernels) scale every part equally.
  const Watts modelled = perf::power_at(gpu, work.parts, work.clock) - gpu.idle;
  if (!(modelled > Watts{})) return std::nullopt;
  const double scale = std::max(0.0, (work.drawn - idle) / modelled);
  work.gpu = gpu;
  work.gpu.idle = idle;
  for (Watts* part : {&work.gpu.kernels, &work.gpu.tensor, &work.gpu.memory, &work.gpu.exchange, &work.gpu.host})
    *part = *part * scale;
  return work;
}

CapEffect under_cap(const PoweredWork& work, Watts cap) {
  const Watts settled = cap * work.gpu.held;
  if (work.drawn <= settled) return {cap};
  double low = perf::kSlowestClock, high = 1;
  for (int i = 0; i < 20 && power_at(work, low) < settled; ++i) {
    const double middle = (low + high) / 2;
    (power_at(work, middle) <= settled ? low : high) = middle;
  }
  const double time = time_at(work, low);
  return {cap, time, time * (power_at(work, low) / work.drawn)};
}

CapEffect under_cap(std::span<const WeightedWork> works, Watts cap) {
  CapEffect all{cap, 0, 0};
  Joules energy;
  for (const WeightedWork& each : works) energy += each.energy;
  if (!(energy > Joules{})) return {cap};
  for (const WeightedWork& each : works) {
    const CapEffect effect = under_cap(each.work, cap);
    all.time += effect.time * (each.energy / energy);
    all.energy += effect.energy * (each.energy / energy);
  }
  return all;
}

std::optional<CapEffect> best_cap(std::span<const WeightedWork> works, double most_time) {
  constexpr double kStep = 0.05, kWorthwhile = 0.99;
  if (works.empty()) return std::nullopt;
  std::optional<CapEffect> best;
  for (int step = 1; step <= 10; ++step) {
    const CapEffect tried = under_cap(works, works.front().work.gpu.limit * (1 - kStep * step));
    if (tried.time > most_time) break;
    if (tried.energy < (best ? best->energy : kWorthwhile)) best = tried;
  }
  return best;
}

}  // namespace rightsize::diagnose
