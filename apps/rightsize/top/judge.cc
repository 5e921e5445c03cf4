#include "rightsize/top/judge.h"

#include <algorithm>

#include "diagnose/observer.h"
#include "diagnose/series.h"

namespace rightsize::app {
namespace {

constexpr Seconds kLasting = seconds(5);  // of the same make it what the GPU does now

// Where the GPU last went from idle to busy or back, if it has stayed so for long enough; else 0. Short phases are
// too few readings for find_phases().
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

// What the GPU does now: since the last lasting change within the time that is looked back. A job that began its work
// five seconds ago is judged by these, not by the start-up before.
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

}  // namespace

void judge_gpus(std::vector<TopGpu>& gpus, const market::PriceBook& prices, const catalog::Gpu* named) {
  for (TopGpu& gpu : gpus) {
    gpu.gpu = named != nullptr ? named : diagnose::identify(prices.catalog(), gpu.device);
    gpu.diagnosis = diagnose::classify(summary_of_now(gpu),
                                       gpu.gpu != nullptr ? diagnose::hardware_of(*gpu.gpu) : diagnose::Hardware{});
    const auto quote =
        gpu.gpu != nullptr ? prices.gpu(*gpu.gpu, catalog::Purchase::kOnDemand) : prices.own_gpu(gpu.device.name);
    if (quote) gpu.price = quote->rate;
  }
}

}  // namespace rightsize::app
