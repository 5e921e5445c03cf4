// Work in a regular cycle of long phases, as in reinforcement learning: a GPU generates answers and then trains on
// them, or trains and then waits until other GPUs have generated the next batch. Such waits belong to the job: they
// recur with about the same length, and the memory stays in use.
//
// Not a cycle: gaps of irregular length (requests, notebooks, queues), pauses shorter than a few seconds (data loading,
// checkpoints of small models) or rare ones (checkpoints, evaluation), and GPUs that release their memory.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "diagnose/summary.h"

namespace rightsize::diagnose {

// The readings of one time step. Samples and curves of any width can be steps.
struct CycleStep {
  Seconds width;
  std::optional<double> activity;      // up to kIdleActivity: idle
  std::optional<double> tensor, dram;  // use of tensor cores and memory bandwidth
  std::optional<Bytes> memory;         // in use
};

enum class CycleKind {
  kWaiting,    // work alternates with waits
  kColocated,  // generation, which reads memory, alternates with training, which computes
};
std::string_view name_of(CycleKind kind);  // "waiting", "colocated"

struct Cycle {
  CycleKind kind = CycleKind::kWaiting;
  int cycles = 0;
  Seconds period;           // median
  double wait_share = 0;    // of the time in cycles
  std::vector<bool> waits;  // by step: a wait of the cycle
};

// Needs at least five cycles of phases between 5 s and half an hour. Only the longest stretch of steps with known
// activity counts.
std::optional<Cycle> find_cycle(std::span<const CycleStep> steps);

std::vector<CycleStep> cycle_steps(std::span<const Sample> samples);

// One sentence for people.
std::string describe(const Cycle& cycle);

}  // namespace rightsize::diagnose
