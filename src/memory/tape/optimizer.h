// Optimizer states and what a step needs besides them.
#pragma once

#include <vector>

#include "memory/tape/plan.h"
#include "memory/tape/recorder.h"
#include "memory/tape/weights.h"

namespace rightsize::memory::tape {

class OptimizerStates {
 public:
  OptimizerStates(Recorder& recorder, const Weights& weights, const Plan& plan)
      : recorder_(recorder), weights_(weights), plan_(plan) {}

  // What stands before the first step: 32-bit master weights, 32-bit gradient buffers.
  void prepare();
  // One step over every parameter with a gradient; the first makes the states, as torch does.
  void step(bool has_gradient_shards);

 private:
  void make_states(const ParameterInfo& info);
  void add(Count elements, std::uint8_t width);
  void add_8bit(Count elements);
  void run_temporaries(const ParameterInfo& largest);

  Recorder& recorder_;
  const Weights& weights_;
  const Plan& plan_;
  std::vector<Tensor> states_;
  bool made_ = false;
};

}  // namespace rightsize::memory::tape
