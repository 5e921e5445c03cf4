// The values the rules use, read from a Summary once.
#pragma once

#include <optional>

#include "diagnose/diagnose.h"

namespace rightsize::diagnose {

// Means over time as shares, unless noted otherwise.
struct Signals {
  std::optional<double> engine;    // the compute engine ran something
  std::optional<double> reported;  // nvidia-smi's utilization, which includes copies
  std::optional<double> sm;        // SMs held a warp
  std::optional<double> dram;      // of peak bandwidth
  std::optional<double> pipes;     // the busiest arithmetic pipe: tensor, fp16, fp32, fp64
  std::optional<double> tensor;
  std::optional<double> link;            // PCIe, of one direction's rate
  std::optional<Seconds> launch_period;  // between kernel launches, by the commands fetched over PCIe
  std::optional<double> power;           // of the limit
  std::optional<double> memory_util;
  std::optional<Bytes> memory_held;

  double busy = 0;  // the best evidence of activity: engine, SMs, or reported
  bool counters() const { return dram || pipes || sm; }
};

Signals read_signals(const Summary& summary, const Hardware& hardware);

// The highest values real kernels reach: a copy kernel was measured at 88-92 % DRAM on an H200, large matrix products
// at 93-97 % of the pipe.
inline constexpr double kFullDram = 0.92;
inline constexpr double kFullPipe = 0.95;

// Bytes the GPU fetches over PCIe for a kernel launched from the host: 1.8 KB for the smallest kernels of PyTorch, up
// to 2.4 KB for others (H200, driver 580, 2026-11). A CUDA graph fetches far less, so it looks like few launches.
inline constexpr Bytes kBytesPerLaunch = bytes(2000);

// A host that only launches leaves 5 to 25 us between kernels, a slow one (Python between every two) 40 us. Longer gaps
// mean that the host waits.
inline constexpr Seconds kLaunchGap = microseconds(25), kSlowLaunchGap = microseconds(40);
// Shorter gaps in a GPU that waits: the traffic is data, not launches.
inline constexpr Seconds kShortestGap = microseconds(3);
inline constexpr double kNeverWaits = 0.9;
// Kernels longer than these would keep the GPU busy if the host only launched.
inline constexpr Seconds kShortKernel = microseconds(12), kTinyKernel = microseconds(6);

TimeShares split_time(const Signals& signals);
Roofline place_on_roofline(const Summary& summary, const Signals& signals, const Hardware& hardware);

// The other parts of a Diagnosis.
std::vector<std::string> evidence_for(Verdict verdict, const Summary& summary, const Signals& signals,
                                      const Hardware& hardware);
std::vector<Action> actions_for(const Diagnosis& diagnosis, const Summary& summary, const Signals& signals,
                                const Hardware& hardware);
std::optional<RuleOfThumb> article_rule(Verdict verdict, const Signals& signals);

}  // namespace rightsize::diagnose
