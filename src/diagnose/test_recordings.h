// Recordings of known loads for the tests of this module.
#pragma once

#include <functional>
#include <vector>

#include "diagnose/diagnose.h"
#include "diagnose/series.h"

namespace rightsize::diagnose {

// A recording at 10 Hz with samples from a function. Levels are shares; PCIe in MB/s.
struct Level {
  double engine = 0, sm = 0, dram = 0, tensor = 0, pcie = 1, util = -1, memory_gib = 16, fp32 = 0;
};

inline std::vector<Sample> record(double seconds_long, const std::function<Level(double)>& draw, double step = 0.1) {
  std::vector<Sample> samples;
  for (int i = 0; i * step < seconds_long; ++i) {
    const Level level = draw(i * step);
    Sample sample;
    sample.time = unix_seconds(i * step);
    sample.set(Metric::kGraphicsActive, level.engine);
    sample.set(Metric::kSmActive, level.sm);
    sample.set(Metric::kDramActive, level.dram);
    sample.set(Metric::kTensorActive, level.tensor);
    sample.set(Metric::kFp32Active, level.fp32);
    sample.set(Metric::kPcieRx, level.pcie * 1e6);
    sample.set(Metric::kPcieTx, level.pcie * 0.3e6);
    sample.set(Metric::kGpuUtil, level.util < 0 ? level.engine : level.util);
    sample.set(Metric::kMemoryUtil, level.dram);
    sample.set(Metric::kMemoryUsed, level.memory_gib * 1073741824.0);
    samples.push_back(sample);
  }
  return samples;
}

inline Verdict verdict_of(const std::vector<Sample>& samples, bool from_start = false) {
  const auto phases = find_phases(samples, from_start);
  return classify(summarize_steady(samples, phases), {}).verdict;
}

inline Level steady(double) { return {}; }

inline Level on(double share) { return {share, 0.9 * share, 0.5 * share, 0.15 * share, 30 * share}; }

struct Kind {
  const char* name;
  Level level;
  Verdict verdict;
};

// Loads by construction. The comments give the physics; the numbers are rounded from such loads.
inline const Kind kSteadyKinds[] = {
    {"a matrix product keeps the tensor pipes busy", {0.99, 0.95, 0.17, 0.93, 14}, Verdict::kComputeBound},
    {"8-bit products need the same cycles for twice the work", {0.99, 0.95, 0.25, 0.85, 14}, Verdict::kComputeBound},
    {"fp32 without tensor cores", {0.99, 0.97, 0.1, 0, 14, -1, 4, 0.8}, Verdict::kComputeBound},
    {"prefill: products with attention and norms between", {0.99, 0.94, 0.22, 0.66, 20}, Verdict::kComputeBound},
    {"training: optimizer and norms read memory, products lead", {0.99, 0.95, 0.35, 0.5, 30}, Verdict::kComputeBound},
    {"a copy", {0.99, 0.98, 0.88, 0, 30}, Verdict::kMemoryBound},
    {"decode at batch 1: SMs half empty, but never without memory traffic",
     {0.99, 0.45, 0.43, 0.02, 9},
     Verdict::kMemoryBound},
    {"decode at batch 32", {0.99, 0.7, 0.55, 0.08, 20}, Verdict::kMemoryBound},
    {"decode with a long cache", {0.99, 0.9, 0.7, 0.05, 20}, Verdict::kMemoryBound},
    {"an image model in training: batch norms and activations", {0.98, 0.9, 0.5, 0.15, 30}, Verdict::kMemoryBound},
    {"kernels of a microsecond, launched without pause", {0.26, 0.02, 0.0, 0, 210}, Verdict::kLaunchBound},
    {"small kernels one after the other in a graph", {0.97, 0.1, 0.03, 0.01, 3}, Verdict::kLaunchBound},
    {"copies to the GPU", {0.0001, 0, 0.012, 0, 59000, 1.0}, Verdict::kTransferBound},
    {"a request now and then", {0.08, 0.03, 0.01, 0.01, 7}, Verdict::kUnderused},
    {"a held model without requests", {0.0, 0, 0, 0, 1}, Verdict::kIdleHeld},
    {"an empty GPU", {0.0, 0, 0, 0, 1, 0, 0.6}, Verdict::kIdle},
};

// One sample with SM activity and memory held, bytes.
inline Sample reading(double time, double sm, double memory) {
  Sample sample;
  sample.time = unix_seconds(time);
  sample.set(Metric::kSmActive, sm);
  sample.set(Metric::kMemoryUsed, memory);
  return sample;
}

}  // namespace rightsize::diagnose
