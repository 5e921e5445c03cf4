// Elementwise operations.
#include <algorithm>
#include <utility>

#include "memory/tape/op_parts.h"
#include "memory/tape/ops.h"

namespace rightsize::memory::tape {
namespace {

constexpr Unary kSavesInput = {Makes::kLike, same_size, Saves::kInput};
constexpr Unary kSavesResult = {Makes::kLike, same_size, Saves::kResult};

// The gradient's formula needs two temporaries of its size.
void two_temporaries(BackwardCall& call) {
  const Tensor& g = call.grads[0];
  Tensor one = call.recorder.make(g.elements, g.width), two = call.recorder.make(g.elements, g.width);
  call.results[0] = call.recorder.make(g.elements, g.width);
}

}  // namespace

Tensor add_constant(Tensor x) { return unary(std::move(x), {Makes::kLike, pass_through}); }
Tensor multiply_constant(Tensor x) { return unary(std::move(x), {Makes::kLike, same_size}); }
Tensor silu(Tensor x) { return unary(std::move(x), kSavesInput); }
Tensor gelu(Tensor x) { return unary(std::move(x), kSavesInput); }
Tensor relu(Tensor x) { return unary(std::move(x), kSavesResult); }
Tensor tanh(Tensor x) { return unary(std::move(x), kSavesResult); }
Tensor relu_in_place(Tensor x) { return unary(std::move(x), {Makes::kView, same_size_plain, Saves::kResult}); }
Tensor mean(Tensor x, Count rows) { return unary(std::move(x), {Makes::kPlain, whole_size}, rows); }
Tensor rsqrt(Tensor x) { return unary(std::move(x), {Makes::kPlain, two_temporaries, Saves::kResult}); }

Tensor power(Tensor x) {
  if (x.recorder().autocast) x = cast(std::move(x), kSingle);
  return unary(std::move(x), {Makes::kLike, two_temporaries, Saves::kInput});
}

Tensor sum_groups(Tensor x, Count n) {
  const Backward repeated = [](BackwardCall& call) {
    call.results[0] = call.recorder.alias(call.grads[0], call.state.n[0], Layout::kPlain);
    call.results[0].reshaped = true;
  };
  return unary(std::move(x), {Makes::kPlain, repeated}, n);
}

Tensor softmax(Tensor given, std::uint8_t width) {
  const Backward backward = [](BackwardCall& call) {
    const Tensor& g = call.grads[0];
    call.results[0] = call.recorder.make(g.elements, g.width);
    Tensor temporary = call.recorder.make(g.elements, g.width);
  };
  if (given.recorder().autocast) width = kSingle;
  Tensor x = cast(std::move(given), width);
  return unary(std::move(x), {Makes::kPlain, backward, Saves::kResult});
}

Tensor add(Tensor first, Tensor second, std::uint8_t width) {
  Tensor a = std::move(first), b = std::move(second);
  Recorder& r = a.recorder();
  Tensor y = r.make(std::max(a.elements, b.elements), width ? width : std::max(a.width, b.width), a.layout);
  r.record(
      [](BackwardCall& call) {
        const Tensor& g = call.grads[0];
        for (std::size_t i = 0; i < 2; ++i) {
          const bool broadcast = call.state.n[i] != g.elements;
          Tensor gradient = broadcast ? call.recorder.make(call.state.n[i], g.width) : g;
          if (call.wants(i)) call.results[i] = std::move(gradient);
        }
      },
      sizes_of(a, b), {&a, &b}, {&y});
  return y;
}

Tensor add_in_place(Tensor first, Tensor second) {
  Tensor a = std::move(first), b = std::move(second);
  Recorder& r = a.recorder();
  Tensor y = r.alias(a);
  r.record(
      [](BackwardCall& call) {
        for (std::size_t i = 0; i < 2; ++i) {
          if (call.wants(i)) call.results[i] = call.grads[0];
        }
      },
      {}, {&a, &b}, {&y});
  return y;
}

Tensor multiply(Tensor first, Tensor second) {
  Tensor a = std::move(first), b = std::move(second);
  Recorder& r = a.recorder();
  r.keep({a.needs_grad ? &b : nullptr, b.needs_grad ? &a : nullptr});
  const bool a_larger = a.elements >= b.elements;
  Tensor y = r.make(std::max(a.elements, b.elements), std::max(a.width, b.width), a_larger ? a.layout : b.layout);
  OpState state = sizes_of(a, b);
  state.width = {a.is_parameter, !a.is_parameter && b.is_parameter, 0, 0};  // which operand is a norm's weight
  r.record(
      [](BackwardCall& call) {
        const Tensor& g = call.grads[0];
        Recorder& recorder = call.recorder;
        for (std::size_t i : {1u, 0u}) {
          if (call.wants(i)) call.results[i] = like(g);
        }
        for (std::size_t i : {0u, 1u}) {
          const Count n = call.state.n[i];
          if (!call.wants(i) || n >= g.elements) continue;
          call.results[i] = recorder.make(n, g.width);
          if (call.state.width[i] != 0) row_sum_scratch(recorder, n, g.elements / n);
        }
      },
      state, {&a, &b}, {&y});
  return y;
}

Tensor gelu_new(Tensor given) {
  Tensor x = std::move(given);
  Tensor half = multiply_constant(x);
  Tensor inner = power(x);
  inner = multiply_constant(std::move(inner));
  inner = add(x, std::move(inner));
  inner = multiply_constant(std::move(inner));
  inner = tanh(std::move(inner));
  inner = add_constant(std::move(inner));
  return multiply(std::move(half), std::move(inner));
}

Tensor quick_gelu(Tensor given) {
  Tensor x = std::move(given);
  Tensor gate = multiply_constant(x);
  gate = unary(std::move(gate), kSavesResult);  // sigmoid
  return multiply(std::move(x), std::move(gate));
}

Tensor bloom_gelu(Tensor given) {
  Tensor x = std::move(given);
  Recorder& r = x.recorder();
  if (x.needs_grad) r.keep({&x});
  // The steps of its formula; each name is reused as in the Python code.
  Tensor a = like(x), b = like(x), c = like(x), d = like(x);
  for (Tensor* step : {&c, &d}) {
    step->reset();
    *step = like(x);
  }
  b.reset();
  for (Tensor* step : {&c, &d}) {
    step->reset();
    *step = like(x);
  }
  c.reset();
  Tensor y = like(x);
  r.record(
      [](BackwardCall& call) {
        const Tensor& g = call.grads[0];
        const auto make = [&] { return call.recorder.make(g.elements, g.width); };
        { Tensor temporaries[] = {make(), make(), make(), make(), make()}; }
        Tensor tangent = make();
        { Tensor temporaries[] = {make(), make(), make(), make()}; }
        call.results[0] = make();
      },
      {}, {&x}, {&y});
  return y;
}

Tensor silu_in_place(Tensor given) {
  Tensor x = std::move(given);
  Recorder& r = x.recorder();
  Tensor before = r.make(x.elements, x.width);
  if (x.needs_grad) r.keep({&before});
  Tensor y = r.alias(x);
  r.record(same_size_plain, {}, {&x}, {&y});
  return y;
}

Tensor dropout(Tensor given, double p) {
  Tensor x = std::move(given);
  if (p == 0) return x;
  Recorder& r = x.recorder();
  Tensor mask = r.make(x.elements, kByte);
  Tensor y = like(x);
  if (x.needs_grad) r.keep({&mask});
  r.record(same_size, {}, {&x}, {&y});
  return y;
}

Tensor masked_fill(Tensor given, Tensor given_mask) {
  Tensor x = std::move(given), mask = std::move(given_mask);
  Recorder& r = x.recorder();
  if (x.needs_grad) r.keep({&mask});
  Tensor y = r.make(x.elements, x.width);
  r.record(same_size_plain, {}, {&x}, {&y});
  return y;
}

Tensor fused_gate(Tensor first, Tensor second) {
  Tensor gate = std::move(first), up = std::move(second);
  Recorder& r = gate.recorder();
  r.keep({&gate, &up});
  Tensor y = like(gate);
  r.record(
      [](BackwardCall& call) {
        const Tensor& g = call.grads[0];
        for (std::size_t i = 0; i < 2; ++i) call.results[i] = call.recorder.make(g.elements, g.width);
      },
      {}, {&gate, &up}, {&y});
  return y;
}

}  // namespace rightsize::memory::tape
