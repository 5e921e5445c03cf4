#include "memory/tape/op_parts.h"

#include <utility>

namespace rightsize::memory::tape {

OpState sizes_of(const Tensor& x) {
  OpState state;
  state.n[0] = x.elements;
  state.width[0] = x.width;
  return state;
}

OpState sizes_of(const Tensor& a, const Tensor& b) {
  OpState state = sizes_of(a);
  state.n[1] = b.elements;
  return state;
}

OpState sizes_of(const Tensor& a, const Tensor& b, const Tensor& c) {
  OpState state = sizes_of(a, b);
  state.n[2] = c.elements;
  return state;
}

void pass_through(BackwardCall& call) { call.results[0] = call.grads[0]; }

void same_size(BackwardCall& call) { call.results[0] = like(call.grads[0]); }

void same_size_plain(BackwardCall& call) {
  call.results[0] = call.recorder.make(call.grads[0].elements, call.grads[0].width);
}

void as_view(BackwardCall& call) { call.results[0] = call.recorder.alias(call.grads[0]); }

void as_reshaped_view(BackwardCall& call) {
  call.results[0] = call.recorder.alias(call.grads[0]);
  call.results[0].reshaped = true;
}

void whole_size(BackwardCall& call) { call.results[0] = call.recorder.make(call.state.n[0], call.grads[0].width); }

void whole_size_own_width(BackwardCall& call) {
  call.results[0] = call.recorder.make(call.state.n[0], call.state.width[0]);
}

void sizes_in_order(BackwardCall& call) {
  for (std::size_t i : {0u, 1u, 2u}) {
    if (call.wants(i)) call.results[i] = call.recorder.make(call.state.n[i], call.grads[0].width);
  }
}

void sizes_from_last(BackwardCall& call) {
  for (std::size_t i : {2u, 1u, 0u}) {
    if (call.wants(i)) call.results[i] = call.recorder.make(call.state.n[i], call.grads[0].width);
  }
}

Tensor unary(Tensor given, const Unary& op, Count n) {
  Tensor x = std::move(given);
  Recorder& r = x.recorder();
  if (n < 0) n = x.elements;
  if (op.saves == Saves::kInput && x.needs_grad) r.keep({&x});
  const Layout layout = op.makes == Makes::kLike || op.makes == Makes::kView ? x.layout : Layout::kPlain;
  const bool is_new = op.makes == Makes::kLike || op.makes == Makes::kPlain;
  Tensor y = is_new ? r.make(n, x.width, layout) : r.alias(x, n, layout);
  if (op.saves == Saves::kResult && x.needs_grad) r.keep({&y});
  r.record(op.backward, sizes_of(x), {&x}, {&y});
  return y;
}

Tensor like(const Tensor& x) { return x.recorder().make(x.elements, x.width, x.layout); }

}  // namespace rightsize::memory::tape
