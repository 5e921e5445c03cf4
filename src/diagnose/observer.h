// Gathers the samples of many GPUs, each with its statistics and its picture over time.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "diagnose/diagnose.h"
#include "diagnose/series.h"

namespace rightsize::diagnose {

struct Observed {
  telemetry::Device device;
  SummaryBuilder whole;
  Series series;
};

// A sink for readers and for live sampling. GPUs keep the order in which they were first seen.
class Observer final : public telemetry::SampleSink {
 public:
  int open(const telemetry::Device& device) override;
  void add(int device, const Sample& sample) override;
  const std::vector<Observed>& gpus() const { return gpus_; }

 private:
  std::vector<Observed> gpus_;
  std::map<std::string, int> by_key_;
};

// One GPU of the observation, understood.
struct GpuProfile {
  telemetry::Device device;
  Summary whole;   // from first to last sample
  Summary steady;  // without start-up, checkpoints and the idleness after the work
  std::vector<Phase> phases;
  Diagnosis diagnosis;                // of the steady part
  const catalog::Gpu* gpu = nullptr;  // of the catalogue; null when unknown
};

// `gpu` overrides what the source says about the hardware. `from_start` as in find_phases().
GpuProfile understand(const Observed& observed, const catalog::Catalog& catalog, const catalog::Gpu* gpu,
                      bool from_start);

// The catalogue's GPU for a driver's name and memory; null when it is none we know, or none can be told.
const catalog::Gpu* identify(const catalog::Catalog& catalog, const telemetry::Device& device);

}  // namespace rightsize::diagnose
