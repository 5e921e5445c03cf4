// Norms.
#include <utility>

#include "memory/tape/backwards.h"
#include "memory/tape/ops.h"

namespace rightsize::memory::tape {

Tensor layer_norm(Tensor given, Tensor given_weight, Tensor given_bias, Count rows) {
  Tensor x = std::move(given), weight = std::move(given_weight), bias = std::move(given_bias);
  Recorder& r = x.recorder();
  if (r.autocast) x = cast(std::move(x), kSingle);
  Tensor y = r.make(x.elements, x.width);
  Tensor means = r.make(rows, kSingle), deviations = r.make(rows, kSingle);
  if (x.needs_grad || (weight && weight.needs_grad)) r.keep({&x, &means, &deviations});
  OpState state;
  state.n[0] = weight ? weight.elements : 0;
  r.record(
      [](BackwardCall& call) {
        const Tensor& g = call.grads[0];
        if (call.wants(0)) call.results[0] = call.recorder.make(g.elements, g.width);
        for (std::size_t i : {1u, 2u}) {
          if (call.wants(i)) call.results[i] = call.recorder.make(call.state.n[0], g.width);
        }
      },
      state, {&x, &weight, &bias}, {&y});
  return y;
}

namespace {

// x / sqrt(mean(x^2) + eps), x in 32 bits.
Tensor normalize(Tensor given, Count rows) {
  Tensor x = std::move(given);
  Tensor scale = mean(power(x), rows);
  scale = add_constant(std::move(scale));
  scale = rsqrt(std::move(scale));
  return multiply(std::move(x), std::move(scale));
}

}  // namespace

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
  OpState state;
  state.n[0] = weight ? weight.elements : 0;
  r.record(
      [](BackwardCall& call) {
        const Tensor& g = call.grads[0];
        if (call.wants(0)) call.results[0] = call.recorder.make(g.elements, g.width);
        if (call.wants(1)) call.results[1] = call.recorder.make(call.state.n[0], g.width);
      },
      state, {&x, &weight}, {&y});
  return y;
}

}  // namespace rightsize::memory::tape
