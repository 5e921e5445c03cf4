#include "perf/stacks/activity.h"

#include <algorithm>

namespace rightsize::perf {

Activity activity_of(const EngineCopy& r, const Step& step, double exchange_factor) {
  const EngineWork& w = step.work;
  Activity a;
  a.time = step.time;
  a.exchange = w.all_reduce * exchange_factor;
  // Kernels draw power while they compute or move data. The rest of their time counts as waiting, as in exchanges.
  constexpr double kAchieved = 0.8;  // share of the highest rates that kernels reach when they run well
  const Seconds works = (w.matmul.ideal + w.experts.ideal + w.attention.ideal) / kAchieved + w.elementwise;
  a.busy = std::min(std::max(Seconds{}, step.device - a.exchange), works);
  a.exchange = std::max(Seconds{}, step.device - a.busy);
  // Engines keep kernels queued: with many requests, GPUs draw as much power in the step model's waits as in kernels
  // (energy-served.csv).
  a.busy += std::max(Seconds{}, step.time - step.device);
  // Experts with few tokens also compute the unused rows of their tiles.
  const double expert_rate = r.gpu.experts[static_cast<std::size_t>(MatmulFormat::kHalf)].rate;
  a.tensor = w.matmul.flops / peak_of(r.gpu, r.layout.format) +
             std::max(w.experts.flops / peak_of(r.gpu, r.layout.experts), w.experts.compute * expert_rate) +
             w.attention.flops / r.gpu.half;
  a.memory = (w.matmul.traffic + w.experts.traffic + w.attention.traffic) / r.gpu.bandwidth +
             w.elementwise * kElementwiseShare;
  return a;
}

Activity serving_activity(const EngineCopy& r, const Prefill& prefill, const Step& step, double running, Seconds time) {
  Activity a = activity_of(r, step, r.c.decode_all_reduce);
  // Prompts that start per step, in full passes: one read of the weights serves many prompts.
  const double prompts = running * r.accepted / std::max(1.0, r.answer);
  const Activity pass = activity_of(r, prefill.full, r.c.prefill_all_reduce) * (prompts / prefill.most);
  a += pass;
  a.time = time;
  a.busy = std::min(a.busy, time);
  a.exchange = std::min(a.exchange, time - a.busy);
  return a;
}

Activity pass_activity(const GpuSpeed& gpu, Seconds time, Seconds device, Seconds tensor) {
  // Shares of the bandwidth: elementwise kernels, and the operands of large products.
  constexpr double kElementwise = 0.75, kProducts = 0.2;
  Activity a;
  a.time = time;
  a.busy = std::min(device, time);
  a.host = time - a.busy;
  a.tensor = tensor;
  const double rate = gpu.sustained > 0 ? gpu.sustained : 0.7;
  const Seconds products = std::min(a.busy, tensor / rate);
  a.memory = (a.busy - products) * kElementwise + products * kProducts;
  return a;
}

Activity training_activity(const GpuSpeed& gpu, const TrainEstimate& estimate, Seconds tensor) {
  Seconds waits;
  for (const TimePart& part : estimate.parts) {
    if (std::string_view(part.name) == "waiting for the network") waits += part.time;
  }
  Activity a = pass_activity(gpu, estimate.step, std::min(estimate.device, estimate.step - waits), tensor);
  a.exchange = waits;
  a.host = std::max(Seconds{}, a.host - waits);
  return a;
}

}  // namespace rightsize::perf
