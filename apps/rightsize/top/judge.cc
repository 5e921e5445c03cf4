#include "rightsize/top/judge.h"

#include <algorithm>
#include <map>

#include "diagnose/observer.h"
#include "diagnose/series.h"

namespace rightsize::app {
namespace {

constexpr Seconds kLasting = seconds(5);  // a state must last this long to count

// The sample at which the GPU last changed between idle and busy, if that state lasted long enough; otherwise 0.
// find_phases() needs more readings.
std::size_t last_turn(const std::vector<telemetry::Sample>& samples) {
  constexpr double kBusy = 0.05;
  const auto is_busy = [](const telemetry::Sample& sample) {
    return sample.get(telemetry::Metric::kGpuUtil).value_or(0) > kBusy;
  };
  if (samples.empty()) return 0;
  std::size_t turn = samples.size() - 1;
  while (turn > 0 && is_busy(samples[turn - 1]) == is_busy(samples.back())) --turn;
  return samples.back().time - samples[turn].time >= kLasting ? turn : 0;
}

// Summarizes the samples since the last lasting change: a job that started working five seconds ago is not judged by
// its start-up.
diagnose::Summary summary_of_now(const TopGpu& gpu) {
  const std::vector<telemetry::Sample> samples(gpu.recent.begin(), gpu.recent.end());
  const std::vector<diagnose::Phase> phases = diagnose::find_phases(samples, false);
  std::size_t first = 0;
  for (const diagnose::Phase& phase : phases) {
    const bool lasting = phase.end - phase.begin >= kLasting;
    if (lasting && phase.kind != diagnose::PhaseKind::kCheckpoint) first = phase.first;
  }
  first = std::max(first, last_turn(samples));
  diagnose::SummaryBuilder gathered;
  for (std::size_t i = first; i < samples.size(); ++i) gathered.add(samples[i]);
  return gathered.summary();
}

std::string physical_key(const TopGpu& gpu) {
  telemetry::Device whole = gpu.device;
  whole.mig_id.clear();
  // NVML gives each instance its own UUID.
  if (!gpu.device.mig_id.empty()) whole.uuid.clear();
  return whole.key();
}

}  // namespace

void judge_gpus(std::vector<TopGpu>& gpus, const market::PriceBook& prices, const catalog::Gpu* named) {
  for (TopGpu& gpu : gpus) {
    gpu.gpu = named != nullptr ? named : diagnose::identify(prices.catalog(), gpu.device);
    gpu.diagnosis = diagnose::classify(summary_of_now(gpu),
                                       gpu.gpu != nullptr ? diagnose::hardware_of(*gpu.gpu) : diagnose::Hardware{});
    const auto quote =
        gpu.gpu != nullptr ? prices.gpu(*gpu.gpu, catalog::Purchase::kOnDemand) : prices.own_gpu(gpu.device.name);
    gpu.share = diagnose::mig_share(gpu.device, gpu.gpu, prices.catalog());
    if (quote) gpu.price = quote->rate * rightsize::gpus(gpu.share);
  }
  // The instances of a GPU add up to one GPU, even if their profiles are unknown.
  std::map<std::string, double> whole;
  for (const TopGpu& gpu : gpus) whole[physical_key(gpu)] += gpu.share;
  for (TopGpu& gpu : gpus) {
    const double factor = 1 / std::max(1.0, whole[physical_key(gpu)]);
    gpu.share *= factor;
    if (gpu.price) gpu.price = *gpu.price * factor;
  }
}

}  // namespace rightsize::app
