#include "memory/tape/ops_images.h"

#include <utility>

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

void same_size(BackwardCall& call) {
  call.results[0] = call.recorder.make(call.grads[0].elements, call.grads[0].width);
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
  OpState state;
  state.n = {x.elements, weight.elements, bias ? bias.elements : 0, padded_input > 0 ? padded_input + n : 0};
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
  OpState state;
  state.n = {x.elements, weight.elements, 0, 0};
  r.record(
      [](BackwardCall& call) {
        for (std::size_t i : {0u, 1u}) {
          if (call.wants(i)) call.results[i] = call.recorder.make(call.state.n[i], call.grads[0].width);
        }
      },
      state, {&x, &weight}, {&y});
  return y;
}

namespace {

Tensor statistics_norm(Tensor given, Tensor given_weight, Tensor given_bias, Count statistics) {
  Tensor x = std::move(given), weight = std::move(given_weight), bias = std::move(given_bias);
  Recorder& r = x.recorder();
  Tensor y = r.make(x.elements, x.width);
  Tensor mean = r.make(statistics, kSingle), deviation = r.make(statistics, kSingle);
  r.keep({&x, &mean, &deviation});
  OpState state;
  state.n[0] = weight ? weight.elements : 0;
  r.record(
      [](BackwardCall& call) {
        if (call.wants(0)) call.results[0] = call.recorder.make(call.grads[0].elements, call.grads[0].width);
        for (std::size_t i : {1u, 2u}) {
          if (call.wants(i)) call.results[i] = call.recorder.make(call.state.n[0], kSingle);
        }
      },
      state, {&x, &weight, &bias}, {&y});
  return y;
}

}  // namespace

Tensor batch_norm(Tensor x, Tensor weight, Tensor bias, Count channels) {
  return statistics_norm(std::move(x), std::move(weight), std::move(bias), channels);
}

Tensor group_norm(Tensor given, Tensor weight, Tensor bias, Count groups) {
  Recorder& r = given.recorder();
  Tensor x = r.autocast ? cast(std::move(given), kSingle) : std::move(given);
  return statistics_norm(std::move(x), std::move(weight), std::move(bias), groups);
}

Tensor relu_in_place(Tensor given) {
  Tensor x = std::move(given);
  Recorder& r = x.recorder();
  Tensor y = r.alias(x);
  if (x.needs_grad) r.keep({&y});
  r.record(same_size, {}, {&x}, {&y});
  return y;
}

Tensor silu_in_place(Tensor given) {
  Tensor x = std::move(given);
  Recorder& r = x.recorder();
  Tensor before = r.make(x.elements, x.width);
  if (x.needs_grad) r.keep({&before});
  Tensor y = r.alias(x);
  r.record(same_size, {}, {&x}, {&y});
  return y;
}

Tensor max_pool(Tensor given, Count n) {
  Tensor x = std::move(given);
  Recorder& r = x.recorder();
  Tensor y = r.make(n, x.width), indices = r.make(n, kLong);
  if (x.needs_grad) r.keep({&x, &indices});
  OpState state;
  state.n[0] = x.elements;
  r.record([](BackwardCall& call) { call.results[0] = call.recorder.make(call.state.n[0], call.grads[0].width); },
           state, {&x}, {&y});
  return y;
}

Tensor average_pool(Tensor given, Count n) {
  Tensor x = std::move(given);
  Recorder& r = x.recorder();
  Tensor y = r.make(n, x.width);
  OpState state;
  state.n[0] = x.elements;
  r.record([](BackwardCall& call) { call.results[0] = call.recorder.make(call.state.n[0], call.grads[0].width); },
           state, {&x}, {&y});
  return y;
}

}  // namespace rightsize::memory::tape
