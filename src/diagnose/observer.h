// Collects the samples of many GPUs with their statistics.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "diagnose/cycle.h"
#include "diagnose/diagnose.h"
#include "diagnose/series.h"

namespace rightsize::diagnose {

struct Observed {
  telemetry::Device device;
  SummaryBuilder whole;
  SampleSeries series;
};

// A sink for files and live sampling. GPUs stay in the order in which they were first seen.
class Observer final : public telemetry::SampleSink {
 public:
  int open(const telemetry::Device& device) override;
  void add(int device, const Sample& sample) override;
  const std::vector<Observed>& gpus() const { return gpus_; }

 private:
  std::vector<Observed> gpus_;
  std::map<std::string, int> by_key_;
};

// One observed GPU, diagnosed.
struct GpuProfile {
  telemetry::Device device;
  Summary whole;   // from first to last sample
  Summary steady;  // without start-up, checkpoints and idleness after the work
  std::vector<Phase> phases;
  Diagnosis diagnosis;                // of the steady part
  std::optional<Cycle> cycle = {};    // its waits are not in the steady part
  const catalog::Gpu* gpu = nullptr;  // null: unknown
};

// Adds the cycle to the evidence and, if the GPU waits, what to compare.
void explain_cycle(const Cycle& cycle, Diagnosis& diagnosis);

// `gpu` overrides the hardware named by the source. `from_start` as in find_phases().
GpuProfile understand(const Observed& observed, const catalog::Catalog& catalog, const catalog::Gpu* gpu,
                      bool from_start);

// The catalogue's GPU for the driver's name; null if unknown.
const catalog::Gpu* identify(const catalog::Catalog& catalog, const telemetry::Device& device);

// The share of a MIG instance in a whole GPU: the larger of its compute and memory shares in the catalogue, or by its
// name ("3g.40gb": 3 of 7). 1 for a device that is not an instance.
double mig_share(const telemetry::Device& device, const catalog::Gpu* gpu, const catalog::Catalog& catalog);

}  // namespace rightsize::diagnose
