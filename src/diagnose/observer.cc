#include "diagnose/observer.h"

#include <algorithm>
#include <charconv>

#include <fmt/format.h>

#include "base/format.h"

namespace rightsize::diagnose {

int Observer::open(const telemetry::Device& device) {
  auto [found, added] = by_key_.try_emplace(device.key(), static_cast<int>(gpus_.size()));
  if (added) gpus_.push_back({device, {}, {}});
  return found->second;
}

void Observer::add(int device, const Sample& sample) {
  Observed& observed = gpus_[static_cast<std::size_t>(device)];
  observed.whole.add(sample);
  observed.series.add(sample);
}

const catalog::Gpu* identify(const catalog::Catalog& catalog, const telemetry::Device& device) {
  if (device.name.empty()) return nullptr;
  Result<const catalog::Gpu*> found = catalog.find_gpu(device.name);
  if (found) return *found;
  // Some exporters write '-' for blanks, some leave out the vendor.
  for (std::string_view vendor : {"NVIDIA ", "NVIDIA-", "Tesla "}) {
    if (!device.name.starts_with(vendor)) continue;
    if (auto bare = catalog.find_gpu(device.name.substr(vendor.size()))) return *bare;
  }
  return nullptr;
}

double mig_share(const telemetry::Device& device, const catalog::Gpu* gpu, const catalog::Catalog& catalog) {
  if (device.mig_profile.empty()) return 1;
  if (gpu != nullptr && gpu->mig_instances > 0) {
    // GPUs with seven instances divide memory into eighths, those with four into quarters.
    const double memory_slices = gpu->mig_instances == 7 ? 8 : gpu->mig_instances;
    for (const catalog::MigProfile& profile : catalog.mig) {
      if (profile.gpu != gpu->name || profile.profile != device.mig_profile) continue;
      return std::max(static_cast<double>(profile.compute_slices) / gpu->mig_instances,
                      profile.memory_slices / memory_slices);
    }
  }
  int slices = 0;
  const std::string& name = device.mig_profile;
  const auto [stop, problem] = std::from_chars(name.data(), name.data() + name.size(), slices);
  if (problem != std::errc() || slices < 1) return 1;
  return std::min(1.0, slices / 7.0);
}

namespace {

constexpr double kLongPauses = 0.2;  // of the recording: shorter ones are checkpoints and evaluations

Summary without_waits(const std::vector<Sample>& samples, const Cycle& cycle) {
  SummaryBuilder gathered;
  for (std::size_t i = 0; i < samples.size(); ++i) {
    if (i >= cycle.waits.size() || !cycle.waits[i]) gathered.add(samples[i]);
  }
  return gathered.summary();
}

}  // namespace

void explain_cycle(const Cycle& cycle, Diagnosis& diagnosis) {
  diagnosis.evidence.insert(diagnosis.evidence.begin(), describe(cycle));
  if (cycle.kind != CycleKind::kWaiting) return;
  diagnosis.actions.push_back(
      {"rl-layout",
       "if this is the trainer of reinforcement learning, compare other splits and off-policy steps with "
       "'rightsize recommend --job rl'"});
}

GpuProfile understand(const Observed& observed, const catalog::Catalog& catalog, const catalog::Gpu* gpu,
                      bool from_start) {
  GpuProfile profile;
  profile.device = observed.device;
  profile.gpu = gpu != nullptr ? gpu : identify(catalog, observed.device);
  profile.whole = observed.whole.summary();
  profile.phases = find_phases(observed.series.samples(), from_start);
  profile.steady = summarize_steady(observed.series.samples(), profile.phases);
  // Averages over a long recording blur phases of seconds; its first hours show them.
  const std::vector<Sample>*samples = &observed.series.samples(), &detail = observed.series.detail();
  profile.cycle = find_cycle(cycle_steps(*samples));
  constexpr double kFine = 16;  // averages in a period
  if (!detail.empty() &&
      (!profile.cycle || profile.cycle->period < (samples->back().time - samples->front().time) *
                                                     (kFine / static_cast<double>(samples->size())))) {
    if (std::optional<Cycle> finer = find_cycle(cycle_steps(detail)))
      profile.cycle = std::move(finer), samples = &detail;
  }
  if (profile.cycle && profile.cycle->kind == CycleKind::kWaiting)
    profile.steady = without_waits(*samples, *profile.cycle);
  profile.steady.clock_jumps = profile.whole.clock_jumps;  // phases that are left out are not jumps
  profile.diagnosis = classify(profile.steady, profile.gpu != nullptr ? hardware_of(*profile.gpu) : Hardware{});
  if (profile.cycle) explain_cycle(*profile.cycle, profile.diagnosis);
  const Verdict verdict = profile.diagnosis.verdict;
  const bool works = verdict != Verdict::kIdle && verdict != Verdict::kIdleHeld;
  if (const double pauses = pause_share(profile.phases); works && pauses >= kLongPauses) {
    profile.diagnosis.actions.insert(
        profile.diagnosis.actions.begin(),
        {"data-loading", fmt::format("shorten the pauses, which take {} of the time: load data, write checkpoints and "
                                     "evaluate while the GPU works. Up to {:.2g}x",
                                     format_percent(Ratio::fraction(pauses)), 1 / (1 - pauses))});
  }
  return profile;
}

}  // namespace rightsize::diagnose
