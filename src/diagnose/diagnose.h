// What binds a GPU, from what its counters say; how sure that is, what it wastes, and what to do.
//
//   SummaryBuilder gathered;                           // or a Summary made from a server's aggregates
//   for (const Sample& sample : samples) gathered.add(sample);
//   Diagnosis found = classify(gathered.summary(), hardware_of(*gpu));
//
// The rules are about what each counter means, not about particular programs; docs/profile.md derives them. They work
// with whatever is there: SM, tensor and DRAM counters (NVML's GPM, DCGM), the subset dcgm-exporter exports by default,
// or nvidia-smi's utilisation and power alone, at falling confidence.
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
  kLaunchBound,    // kernels too small: the time goes into starting them
  kInputBound,     // the GPU waits for data between pieces of work
  kTransferBound,  // copies over PCIe or NVLink are the limit
  kUnderused,      // little work, evenly
  kBursty,         // work for seconds, then nothing for seconds
  kIdleHeld,       // memory is held, nothing runs
  kIdle,
  kUnknown,  // the source says nothing about activity
};
std::string_view name_of(Verdict verdict);
std::string_view explain(Verdict verdict);  // one sentence a newcomer understands

// What this GPU can do; what is not known is empty and then not argued with.
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

// Where the wall-clock time went, each 0-1, adding to 1. `compute` and `memory` are the time these would take alone at
// full rate, where they overlap the larger hides the other.
struct TimeShares {
  double compute = 0, memory = 0, transfer = 0;
  double launch = 0;   // the engine is busy but few SMs hold work: starting and draining kernels
  double stall = 0;    // SMs hold work that uses neither pipes nor memory fully: latency, synchronisation
  double wait = 0;     // nothing runs
  double overlap = 0;  // compute and memory at once: counted in the larger of the two
};

// Position on the roofline of the GPU.
struct Roofline {
  std::optional<FlopsPerSecond> achieved;  // tensor activity x rate at the clock that was seen
  std::optional<BytesPerSecond> traffic;
  std::optional<double> intensity, ridge;  // FLOP per byte of the work; where this GPU's two limits meet
  std::optional<double> of_limit;          // achieved against what this intensity allows, 0-1
};

struct Action {
  std::string kind;  // batch, smaller-gpu, quantize, consolidate, mig, stop, data-loading, graphs, transfer, none
  std::string text;
};

// The article's rule on SM activity beside ours.
struct RuleOfThumb {
  std::string says;  // "memory-bound", "in the optimal zone", "compute-bound"
  bool agrees = true;
  std::string why;  // where it does not
};

struct Diagnosis {
  Verdict verdict = Verdict::kUnknown;
  double confidence = 0;              // 0-1
  std::vector<std::string> evidence;  // sentences with numbers
  std::vector<std::string> surer;     // what would raise the confidence
  std::vector<Action> actions;
  double wasted = 0;  // share of the GPU's time that bought nothing
  std::string wasted_why;
  TimeShares shares;
  Roofline roofline;
  std::optional<RuleOfThumb> article;
};

Diagnosis classify(const Summary& summary, const Hardware& hardware);

}  // namespace rightsize::diagnose
