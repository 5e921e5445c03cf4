// Backward functions that several operations share.
#pragma once

#include "memory/tape/recorder.h"

namespace rightsize::memory::tape {

inline void pass_through(BackwardCall& call) { call.results[0] = call.grads[0]; }

inline void same_size(BackwardCall& call) {
  const Tensor& g = call.grads[0];
  call.results[0] = call.recorder.make(g.elements, g.width, g.layout);
}

inline void same_size_plain(BackwardCall& call) {
  call.results[0] = call.recorder.make(call.grads[0].elements, call.grads[0].width);
}

inline void as_view(BackwardCall& call) { call.results[0] = call.recorder.alias(call.grads[0]); }

inline void as_reshaped_view(BackwardCall& call) {
  call.results[0] = call.recorder.alias(call.grads[0]);
  call.results[0].reshaped = true;
}

// A gradient of state.n[0] elements in the width of the one that came.
inline void whole_size(BackwardCall& call) {
  call.results[0] = call.recorder.make(call.state.n[0], call.grads[0].width);
}

inline OpState whole_of(const Tensor& x) {
  OpState state;
  state.n[0] = x.elements;
  return state;
}

inline Tensor like(const Tensor& x) { return x.recorder().make(x.elements, x.width, x.layout); }

}  // namespace rightsize::memory::tape
