// Norms.
#include <utility>

#include "memory/tape/op_parts.h"
#include "memory/tape/ops.h"

namespace rightsize::memory::tape {

namespace {

// One kernel that saves its input and some numbers per row, channel or group. n[0]: elements of the weight; width[0]:
// of the gradients of weight and bias; 0: as the incoming gradient.
void norm_backward(BackwardCall& call) {
  const Tensor& g = call.grads[0];
  if (call.wants(0)) call.results[0] = call.recorder.make(g.elements, g.width);
  const std::uint8_t width = call.state.width[0] != 0 ? call.state.width[0] : g.width;
  for (std::size_t i : {1u, 2u}) {
    if (call.wants(i)) call.results[i] = call.recorder.make(call.state.n[0], width);
  }
}

OpState norm_state(const Tensor& weight, std::uint8_t width = 0) {
  OpState state;
  state.n[0] = weight ? weight.elements : 0;
  state.width[0] = width;
  return state;
}

Tensor statistics_norm(Tensor given, Tensor given_weight, Tensor given_bias, Count statistics) {
  Tensor x = std::move(given), weight = std::move(given_weight), bias = std::move(given_bias);
  Recorder& r = x.recorder();
  Tensor y = r.make(x.elements, x.width);
  Tensor means = r.make(statistics, kSingle), deviations = r.make(statistics, kSingle);
  r.keep({&x, &means, &deviations});
  r.record(norm_backward, norm_state(weight, kSingle), {&x, &weight, &bias}, {&y});
  return y;
}

// x / sqrt(mean(x^2) + eps), x in 32 bits.
Tensor normalize(Tensor given, Count rows) {
  Tensor x = std::move(given);
  Tensor scale = mean(power(x), rows);
  scale = add_constant(std::move(scale));
  scale = rsqrt(std::move(scale));
  return multiply(std::move(x), std::move(scale));
}

}  // namespace

Tensor batch_norm(Tensor x, Tensor weight, Tensor bias, Count channels) {
  return statistics_norm(std::move(x), std::move(weight), std::move(bias), channels);
}

Tensor group_norm(Tensor x, Tensor weight, Tensor bias, Count groups) {
  if (x.recorder().autocast) x = cast(std::move(x), kSingle);
  return statistics_norm(std::move(x), std::move(weight), std::move(bias), groups);
}

Tensor layer_norm(Tensor given, Tensor given_weight, Tensor given_bias, Count rows) {
  Tensor x = std::move(given), weight = std::move(given_weight), bias = std::move(given_bias);
  Recorder& r = x.recorder();
  if (r.autocast) x = cast(std::move(x), kSingle);
  Tensor y = r.make(x.elements, x.width);
  Tensor means = r.make(rows, kSingle), deviations = r.make(rows, kSingle);
  if (x.needs_grad || (weight && weight.needs_grad)) r.keep({&x, &means, &deviations});
  r.record(norm_backward, norm_state(weight), {&x, &weight, &bias}, {&y});
  return y;
}

Tensor rms_norm(Tensor given, Tensor weight, Count rows) {
  Tensor x = std::move(given);
  const std::uint8_t width = x.width;
  x = cast(std::move(x), kSingle);
  Tensor variance = mean(power(x), rows);
  Tensor scale = add_constant(variance);
  scale = rsqrt(std::move(scale));
  x = multiply(x, std::move(scale));
  Tensor narrow = cast(x, width);
  if (!weight) return narrow;
  return multiply(std::move(weight), std::move(narrow));
}

Tensor gemma_norm(Tensor given, Tensor given_weight, Count rows) {
  Tensor x = std::move(given), weight = std::move(given_weight);
  const std::uint8_t width = x.width;
  Tensor y = normalize(cast(x, kSingle), rows);
  Tensor scale = add_constant(cast(std::move(weight), kSingle));
  y = multiply(std::move(y), std::move(scale));
  return cast(std::move(y), width);
}

Tensor olmo_norm(Tensor given, Tensor weight, Count rows) {
  Tensor x = std::move(given);
  const std::uint8_t width = x.width;
  x = cast(std::move(x), kSingle);
  Tensor variance = mean(power(x), rows);
  Tensor scale = add_constant(variance);
  scale = rsqrt(std::move(scale));
  x = multiply(x, std::move(scale));
  Tensor scaled = multiply(std::move(weight), x);
  return cast(std::move(scaled), width);
}

Tensor cohere_norm(Tensor given, Tensor given_weight, Count rows) {
  Tensor x = std::move(given), weight = std::move(given_weight);
  const std::uint8_t width = x.width;
  x = cast(std::move(x), kSingle);
  Tensor center = mean(x, rows);
  Tensor variance = mean(power(add(x, center)), rows);
  Tensor scale = rsqrt(add_constant(variance));
  Tensor shifted = add(x, center);
  x = multiply(std::move(shifted), std::move(scale));
  x = multiply(cast(std::move(weight), kSingle), std::move(x));
  return cast(std::move(x), width);
}

Tensor t5_norm(Tensor given, Tensor given_weight, Count rows) {
  Tensor x = std::move(given), weight = std::move(given_weight);
  Tensor variance = mean(power(cast(x, kSingle)), rows);
  Tensor scale = rsqrt(add_constant(variance));
  x = multiply(std::move(x), std::move(scale));
  if (weight.width == kHalf) x = cast(std::move(x), kHalf);
  return multiply(std::move(weight), x);
}

Tensor fused_rms_norm(Tensor given, Tensor given_weight, Count rows) {
  Tensor x = std::move(given), weight = std::move(given_weight);
  Recorder& r = x.recorder();
  Tensor y = like(x);
  Tensor deviations = r.make(rows, kSingle);
  if (x.needs_grad || (weight && weight.needs_grad)) r.keep({&x, &deviations});
  r.record(norm_backward, norm_state(weight), {&x, &weight}, {&y});
  return y;
}

}  // namespace rightsize::memory::tape
