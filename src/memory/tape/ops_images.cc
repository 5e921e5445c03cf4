// Convolutions, recurrent layers, and other operations of image models.
#include <utility>

#include "memory/tape/op_parts.h"
#include "memory/tape/ops.h"

namespace rightsize::memory::tape {
namespace {

// n: 0 input, 1 weight, 2 bias, 3 elements of the workspace.
void convolution_backward(BackwardCall& call) {
  Recorder& r = call.recorder;
  const std::uint8_t width = call.grads[0].width;
  for (std::size_t i : {0u, 1u, 2u}) {
    if (!call.wants(i)) continue;
    call.results[i] = r.make(call.state.n[i], width);
    if (i < 2 && call.state.n[3] > 0) Tensor workspace = r.make(call.state.n[3], width);
  }
}

}  // namespace

Tensor convolution(Tensor given, Tensor given_weight, Tensor given_bias, Count n, Count padded_input) {
  Tensor x = std::move(given), weight = std::move(given_weight), bias = std::move(given_bias);
  Recorder& r = x.recorder();
  if (bias) bias = r.cast_for_product(std::move(bias));
  weight = r.cast_for_product(std::move(weight));
  x = r.cast_for_product(std::move(x));
  r.keep({weight.needs_grad ? &x : nullptr, x.needs_grad && !weight.is_parameter ? &weight : nullptr});
  Tensor y = r.make(n, x.width);
  OpState state = sizes_of(x, weight, bias);
  state.n[3] = padded_input > 0 ? padded_input + n : 0;
  if (padded_input > 0) Tensor workspace = r.make(state.n[3], x.width);
  r.record(convolution_backward, state, {&x, &weight, &bias}, {&y});
  return y;
}

Tensor convolution_over_time(Tensor given, Tensor given_weight, Count n) {
  Tensor x = std::move(given), weight = std::move(given_weight);
  Recorder& r = x.recorder();
  weight = r.cast_for_product(std::move(weight));
  if (weight.needs_grad) r.keep({&x});
  Tensor y = r.make(n, x.width);
  r.record(sizes_in_order, sizes_of(x, weight), {&x, &weight}, {&y});
  return y;
}

Tensor scan(Tensor given_x, Tensor given_steps, Count outputs, Count states) {
  Tensor x = std::move(given_x), steps = std::move(given_steps);
  Recorder& r = x.recorder();
  { Tensor made = r.make(states, kSingle); }
  Tensor out = r.make(outputs, x.width);
  if (x.needs_grad || steps.needs_grad) r.keep({&x, &steps, &out});
  OpState state = sizes_of(x, steps);
  state.n[2] = states;
  state.width[1] = steps.width;
  r.record(
      [](BackwardCall& call) {
        const OpState& s = call.state;
        Tensor made = call.recorder.make(s.n[2], kSingle), gradient = call.recorder.make(s.n[2], kSingle);
        for (std::size_t i : {0u, 1u}) call.results[i] = call.recorder.make(s.n[i], s.width[i]);
      },
      state, {&x, &steps}, {&out});
  return out;
}

Tensor max_pool(Tensor given, Count n) {
  Tensor x = std::move(given);
  Recorder& r = x.recorder();
  Tensor y = r.make(n, x.width), indices = r.make(n, kLong);
  if (x.needs_grad) r.keep({&x, &indices});
  r.record(whole_size, sizes_of(x), {&x}, {&y});
  return y;
}

Tensor average_pool(Tensor x, Count n) { return unary(std::move(x), {Makes::kPlain, whole_size}, n); }

}  // namespace rightsize::memory::tape
