// The bottleneck of a GPU according to its counters, with confidence, wasted time and suggested actions.
//
//   SummaryBuilder gathered;                           // or a Summary made from a server's aggregates
//   for (const Sample& sample : samples) gathered.add(sample);
//   Diagnosis found = classify(gathered.summary(), hardware_of(*gpu));
//
// The rules follow from the meaning of each counter (docs/profile.md), not from particular programs. They work with SM,
// tensor and DRAM counters (NVML's GPM, DCGM), with the default subset of dcgm-exporter, or with nvidia-smi's
// utilization and power alone, at decreasing confidence.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/units.h"
#include "catalog/catalog.h"
#include "diagnose/summary.h"

namespace rightsize::diagnose {

enum class Verdict {
  kComputeBound,   // arithmetic pipes are the limit
  kMemoryBound,    // device memory is the limit
  kLaunchBound,    // kernels are too small: the time goes into starting them
  kInputBound,     // the GPU waits for data between pieces of work
  kTransferBound,  // copies over PCIe or NVLink are the limit
  kUnderused,      // evenly little work
  kBursty,         // seconds of work, then seconds without
  kIdleHeld,       // memory is held, nothing runs
  kIdle,
  kUnknown,  // the source reports no activity
};
std::string_view name_of(Verdict verdict);
std::string_view explain(Verdict verdict);  // one sentence

// The capabilities of the GPU; rules that need an unknown value are skipped.
struct Hardware {
  std::string name;
  std::optional<FlopsPerSecond> matrix;  // dense 16-bit
  std::optional<BytesPerSecond> bandwidth;
  std::optional<BytesPerSecond> link;  // PCIe, one direction
  std::optional<Watts> power;
  std::optional<Bytes> memory;
  std::optional<int> sms;
};
Hardware hardware_of(const catalog::Gpu& gpu);

// How the wall-clock time was spent, as shares that add up to 1. `compute` and `memory` are the time each would take
// alone at full rate; while they overlap, the time counts for the larger of the two.
struct TimeShares {
  double compute = 0, memory = 0, transfer = 0;
  double launch = 0;   // the engine is busy but few SMs hold work: kernels start and drain
  double stall = 0;    // SMs hold work that saturates neither pipes nor memory: latency, synchronization
  double wait = 0;     // nothing runs
  double overlap = 0;  // compute and memory at the same time
};

// Position on the roofline of the GPU.
struct Roofline {
  std::optional<FlopsPerSecond> achieved;  // tensor activity x rate at the observed clock
  std::optional<BytesPerSecond> traffic;
  std::optional<double> intensity, ridge;  // FLOP per byte of the work, and of this GPU's ridge point
  std::optional<double> of_limit;          // achieved rate as a share of the limit at this intensity
};

struct Action {
  std::string kind;  // batch, smaller-gpu, quantize, consolidate, mig, stop, data-loading, graphs, transfer, none
  std::string text;
};

// A common rule of thumb about SM activity, compared with the verdict.
struct RuleOfThumb {
  std::string says;  // "memory-bound", "in the optimal zone", "compute-bound"
  bool agrees = true;
  std::string why;  // if it does not agree
};

struct Diagnosis {
  Verdict verdict = Verdict::kUnknown;
  double confidence = 0;  // 0-1
  std::vector<std::string> evidence;
  std::vector<std::string> surer;  // measurements that would raise the confidence
  std::vector<Action> actions;
  double wasted = 0;  // share of the time without useful work
  std::string wasted_why;
  TimeShares shares;
  Roofline roofline;
  std::optional<RuleOfThumb> article;
};

Diagnosis classify(const Summary& summary, const Hardware& hardware);

}  // namespace rightsize::diagnose
