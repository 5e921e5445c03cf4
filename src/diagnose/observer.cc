#include "diagnose/observer.h"

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
  // Some exporters put '-' for blanks, some leave the vendor out.
  for (std::string_view vendor : {"NVIDIA ", "NVIDIA-", "Tesla "}) {
    if (!device.name.starts_with(vendor)) continue;
    if (auto bare = catalog.find_gpu(device.name.substr(vendor.size()))) return *bare;
  }
  return nullptr;
}

GpuProfile understand(const Observed& observed, const catalog::Catalog& catalog, const catalog::Gpu* gpu,
                      bool from_start) {
  GpuProfile profile;
  profile.device = observed.device;
  profile.gpu = gpu != nullptr ? gpu : identify(catalog, observed.device);
  profile.whole = observed.whole.summary();
  profile.phases = find_phases(observed.series.samples(), from_start);
  profile.steady = summarize_steady(observed.series.samples(), profile.phases);
  profile.diagnosis = classify(profile.steady, profile.gpu != nullptr ? hardware_of(*profile.gpu) : Hardware{});
  return profile;
}

}  // namespace rightsize::diagnose
