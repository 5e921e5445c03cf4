// Recurrent layers.
#include <utility>

#include "memory/tape/ops.h"

namespace rightsize::memory::tape {
namespace {

// n: 0 inputs, 1 steps, 2 states. width[0]: of the inputs; [1]: of the steps.
void scan_backward(BackwardCall& call) {
  Recorder& r = call.recorder;
  const OpState& state = call.state;
  Tensor states = r.make(state.n[2], kSingle), their_gradient = r.make(state.n[2], kSingle);
  call.results[0] = r.make(state.n[0], state.width[0]);
  call.results[1] = r.make(state.n[1], state.width[1]);
}

}  // namespace

Tensor scan(Tensor given_x, Tensor given_steps, Count outputs, Count states) {
  Tensor x = std::move(given_x), steps = std::move(given_steps);
  Recorder& r = x.recorder();
  { Tensor made = r.make(states, kSingle); }
  Tensor out = r.make(outputs, x.width);
  if (x.needs_grad || steps.needs_grad) r.keep({&x, &steps, &out});
  OpState state;
  state.n = {x.elements, steps.elements, states, 0};
  state.width[0] = x.width;
  state.width[1] = steps.width;
  r.record(scan_backward, state, {&x, &steps}, {&out});
  return out;
}

}  // namespace rightsize::memory::tape
