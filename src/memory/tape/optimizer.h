// Optimizer states, and the temporaries of a step.
#pragma once

#include <vector>

#include "memory/tape/plan.h"
#include "memory/tape/recorder.h"
#include "memory/tape/weights.h"

namespace rightsize::memory::tape {

class OptimizerStates {
 public:
  OptimizerStates(Recorder& recorder, const GpuWeights& weights, const GpuPlan& plan)
      : recorder_(recorder), weights_(weights), plan_(plan) {}

  // Allocates what exists before the first step: 32-bit master weights and gradient buffers.
  void prepare();
  // One step over every parameter with a gradient. The first step allocates the states, as torch does.
  void step(bool has_gradient_shards);

 private:
  void make_states(const ParameterInfo& info);
  void add(Count elements, std::uint8_t width);
  void add_8bit(Count elements);
  void run_temporaries(const ParameterInfo& largest);

  Recorder& recorder_;
  const GpuWeights& weights_;
  const GpuPlan& plan_;
  std::vector<Tensor> states_;
  bool made_ = false;
};

}  // namespace rightsize::memory::tape
