// The sustained rate of a GPU in large kernels, per resource, for work that is known only by its busy time per
// resource. Every comparison of the same work on two GPUs uses these figures, so it agrees with the estimates; no other
// code divides data-sheet peaks.
//
//   const SpeedTable speeds(catalog, constants);                                                       // once
//   std::optional<Slowdown> slow = slowdown(*speeds.find(*h100), *speeds.find(*l4), NumberFormat::kBf16);
//   slow->arithmetic                 // how many times longer a large matrix product takes on the L4
#pragma once

#include <array>
#include <optional>
#include <vector>

#include "perf/constants/constants.h"

namespace rightsize::perf {

struct SustainedRates {
  const catalog::Gpu* gpu = nullptr;  // must outlive this
  Basis basis = Basis::kSpecification;
  // Large products at sustained clocks, by catalog::NumberFormat. A format that the GPU lacks, or that has an unknown
  // peak, runs in 16 bits (wider ones in fp32); zero if that rate is also unknown.
  std::array<FlopsPerSecond, catalog::kNumberFormats> arithmetic{};
  BytesPerSecond memory;                    // streaming weights in thin products
  Seconds launch;                           // GPU time to start a kernel
  std::optional<BytesPerSecond> host_link;  // PCIe, one direction; empty if unknown
  GpuPower power;
};

SustainedRates sustained_rates(const Constants& constants, const catalog::Gpu& gpu);

// The rates of every GPU in a catalogue, which must outlive the table.
class SpeedTable {
 public:
  SpeedTable(const catalog::Catalog& catalog, const Constants& constants);

  const catalog::Catalog& catalog() const { return catalog_; }
  const std::vector<SustainedRates>& all() const { return rates_; }  // in catalogue order
  const SustainedRates* find(const catalog::Gpu& gpu) const;         // by name; null for a GPU of another catalogue

 private:
  const catalog::Catalog& catalog_;
  std::vector<SustainedRates> rates_;
};

// How many times longer each kind of work takes on another GPU; 1 on the same GPU.
struct Slowdown {
  double arithmetic = 1, memory = 1, launch = 1, host_link = 1;
  // |log error| of these factors that covers 80 %: zero on the same GPU, more for each unmeasured GPU.
  double width = 0;
  Basis basis = Basis::kMeasured;  // of the less certain GPU

  // Upper bound if the limiting resource is unknown.
  double worst() const { return arithmetic > memory ? arithmetic : memory; }
};

// Interval width of a comparison of these two GPUs; zero for a GPU with itself.
double width_between(const SustainedRates& from, const SustainedRates& to);

// Empty if the arithmetic rate of a GPU is unknown.
std::optional<Slowdown> slowdown(const SustainedRates& from, const SustainedRates& to, catalog::NumberFormat format);

// "5.0x16": bytes per second in one direction, after link encoding.
std::optional<BytesPerSecond> host_link_rate(const catalog::Gpu& gpu);

}  // namespace rightsize::perf
