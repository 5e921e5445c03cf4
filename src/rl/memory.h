// GPU memory of each phase of a step, and the items that must move to host memory for all phases to fit.
#pragma once

#include <vector>

#include "memory/memory.h"
#include "rl/rl.h"

namespace rightsize::rl {

// Items that can leave the GPUs while another phase runs, cheapest first.
enum class Offload { kEngine, kReference, kOptimizer, kWeights };
inline constexpr int kOffloads = 4;
std::string_view name_of(Offload offload);

// One item in memory during a phase.
struct PhasePart {
  std::string_view name;
  Bytes bytes;
};

struct PhaseMemory {
  PhaseKind kind = PhaseKind::kGenerate;
  bool on_rollout = false;  // on the engine's GPUs of a split layout
  std::vector<PhasePart> parts;
  memory::MemoryNeed need;  // device, low and high
  memory::Fit fit;
};

struct RlMemory {
  std::vector<PhaseMemory> phases;
  std::vector<Offload> offloads;  // needed; if nothing helps, all that apply
  memory::Verdict verdict = memory::Verdict::kNo;
  Bytes host;                   // host memory of the offloads per GPU
  double engine_share = 0;      // of the GPU that the trainer leaves to the engine (vLLM's gpu-memory-utilization)
  double answers_in_cache = 0;  // answers of mean length that the engine's cache holds after offloading

  const PhaseMemory& fullest() const;  // relative to the GPU's capacity
};

// A lower bound on the trainer's memory on one GPU: its share of weights, gradients and optimizer states.
Bytes least_memory(const model::ModelShape& model, const RlJob& job);

// Memory on the fullest GPU of each side.
RlMemory phase_memory(const model::ModelShape& model, const RlJob& job, const catalog::Gpu& train,
                      const catalog::Gpu& rollout);

}  // namespace rightsize::rl
