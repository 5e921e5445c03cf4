// What a GPU keeps up in large kernels, one figure a resource: for work that is known only by how long it kept each
// resource busy. Everything that asks "the same work on another GPU" asks here, so that it is told what an estimate of
// the same work is told; nobody else divides data-sheet peaks.
//
//   const SpeedTable speeds(catalog, constants);                                                       // once
//   std::optional<Slowdown> slow = slowdown(*speeds.find(*h100), *speeds.find(*l4), NumberFormat::kBf16);
//   slow->arithmetic                 // how many times longer a large matrix product takes on the L4
#pragma once

#include <array>
#include <optional>
#include <vector>

#include "perf/calibration/constants.h"

namespace rightsize::perf {

// What a number known in this way is less sure by, as |log error| at 80 %: 0.15 for a relative of a measured GPU, 0.30
// for one known from its data sheet alone (judgement: nothing was measured end to end on such GPUs).
double width_of(Basis basis);

struct SustainedRates {
  const catalog::Gpu* gpu = nullptr;  // must outlive this
  Basis basis = Basis::kSpecification;
  // Large products at the clocks long runs hold, by catalog::NumberFormat. A format the GPU lacks, or whose peak nobody
  // states, runs in 16 bits, or in fp32 what is wider than that; zero where that rate is unknown, too.
  std::array<FlopsPerSecond, catalog::kNumberFormats> arithmetic{};
  BytesPerSecond memory;                    // weights streamed by thin products
  Seconds launch;                           // the device's part of starting a kernel
  std::optional<BytesPerSecond> host_link;  // PCIe, one direction; nothing where the catalogue does not say
};

SustainedRates sustained_rates(const Constants& constants, const catalog::Gpu& gpu);

// Those of every GPU of a catalogue, which must outlive it.
class SpeedTable {
 public:
  SpeedTable(const catalog::Catalog& catalog, const Constants& constants);

  const catalog::Catalog& catalog() const { return catalog_; }
  const std::vector<SustainedRates>& all() const { return rates_; }  // in the catalogue's order
  const SustainedRates* find(const catalog::Gpu& gpu) const;         // by name; null for one of another catalogue

 private:
  const catalog::Catalog& catalog_;
  std::vector<SustainedRates> rates_;
};

// How many times longer each kind of work takes on another GPU; 1 of each on the same.
struct Slowdown {
  double arithmetic = 1, memory = 1, launch = 1, host_link = 1;
  // |log error| of these factors that holds 80 %: nothing on the same GPU, more for each GPU that was not measured.
  double width = 0;
  Basis basis = Basis::kMeasured;  // of the less known of the two

  // When it is not known which resource binds: no work takes longer than this.
  double worst() const { return arithmetic > memory ? arithmetic : memory; }
};

// The width of a comparison of these two GPUs: nothing of a GPU with itself.
double width_between(const SustainedRates& from, const SustainedRates& to);

// Nothing where a GPU's arithmetic is unknown.
std::optional<Slowdown> slowdown(const SustainedRates& from, const SustainedRates& to, catalog::NumberFormat format);

// "5.0x16": bytes a second in one direction, after the link's encoding.
std::optional<BytesPerSecond> host_link_rate(const catalog::Gpu& gpu);

}  // namespace rightsize::perf
