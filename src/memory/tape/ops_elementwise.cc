// Elementwise operations.
#include <algorithm>
#include <utility>

#include "memory/tape/backwards.h"
#include "memory/tape/ops.h"

namespace rightsize::memory::tape {
namespace {

// y = f(x) that saves x, or y.
Tensor unary(Tensor given, bool saves_input) {
  Tensor x = std::move(given);
  Recorder& r = x.recorder();
  if (saves_input && x.needs_grad) r.keep({&x});
  Tensor y = like(x);
  if (!saves_input && x.needs_grad) r.keep({&y});
  r.record(same_size, {}, {&x}, {&y});
  return y;
}

}  // namespace

Tensor add(Tensor first, Tensor second, std::uint8_t width) {
  Tensor a = std::move(first), b = std::move(second);
  Recorder& r = a.recorder();
  Tensor y = r.make(std::max(a.elements, b.elements), width ? width : std::max(a.width, b.width), a.layout);
  OpState state;
  state.n = {a.elements, b.elements, 0, 0};
  r.record(
      [](BackwardCall& call) {
        const Tensor& g = call.grads[0];
        for (std::size_t i = 0; i < 2; ++i) {
          const bool broadcast = call.state.n[i] != g.elements;
          Tensor gradient = broadcast ? call.recorder.make(call.state.n[i], g.width) : g;
          if (call.wants(i)) call.results[i] = std::move(gradient);
        }
      },
      state, {&a, &b}, {&y});
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

Tensor add_constant(Tensor given) {
  Tensor x = std::move(given);
  Tensor y = like(x);
  x.recorder().record(pass_through, {}, {&x}, {&y});
  return y;
}

Tensor multiply_constant(Tensor given) {
  Tensor x = std::move(given);
  Tensor y = like(x);
  x.recorder().record(same_size, {}, {&x}, {&y});
  return y;
}

Tensor negate(Tensor given) { return multiply_constant(std::move(given)); }

Tensor multiply(Tensor first, Tensor second) {
  Tensor a = std::move(first), b = std::move(second);
  Recorder& r = a.recorder();
  r.keep({a.needs_grad ? &b : nullptr, b.needs_grad ? &a : nullptr});
  const bool a_larger = a.elements >= b.elements;
  Tensor y = r.make(std::max(a.elements, b.elements), std::max(a.width, b.width), a_larger ? a.layout : b.layout);
  OpState state;
  state.n = {a.elements, b.elements, 0, 0};
  state.width = {a.is_parameter, !a.is_parameter && b.is_parameter, 0, 0};  // which operand is a norm's weight
  r.record(
      [](BackwardCall& call) {
        const Tensor& g = call.grads[0];
        Recorder& recorder = call.recorder;
        for (std::size_t i : {1u, 0u}) {
          if (call.wants(i)) call.results[i] = recorder.make(g.elements, g.width, g.layout);
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

Tensor power(Tensor given) {
  Tensor x = std::move(given);
  Recorder& r = x.recorder();
  if (r.autocast) x = cast(std::move(x), kSingle);
  if (x.needs_grad) r.keep({&x});
  Tensor y = like(x);
  r.record(
      [](BackwardCall& call) {
        const Tensor& g = call.grads[0];
        Tensor one = call.recorder.make(g.elements, g.width), two = call.recorder.make(g.elements, g.width);
        call.results[0] = call.recorder.make(g.elements, g.width);
      },
      {}, {&x}, {&y});
  return y;
}

Tensor mean(Tensor given, Count rows) {
  Tensor x = std::move(given);
  Recorder& r = x.recorder();
  Tensor y = r.make(rows, x.width);
  r.record(whole_size, whole_of(x), {&x}, {&y});
  return y;
}

Tensor rsqrt(Tensor given) {
  Tensor x = std::move(given);
  Recorder& r = x.recorder();
  Tensor y = r.make(x.elements, x.width);
  if (x.needs_grad) r.keep({&y});
  r.record(
      [](BackwardCall& call) {
        const Count n = call.grads[0].elements;
        Tensor one = call.recorder.make(n, kSingle), two = call.recorder.make(n, kSingle);
        call.results[0] = call.recorder.make(n, kSingle);
      },
      {}, {&x}, {&y});
  return y;
}

Tensor silu(Tensor x) { return unary(std::move(x), true); }
Tensor gelu(Tensor x) { return unary(std::move(x), true); }
Tensor relu(Tensor x) { return unary(std::move(x), false); }
Tensor tanh(Tensor x) { return unary(std::move(x), false); }

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
  gate = unary(std::move(gate), false);  // sigmoid
  return multiply(std::move(x), std::move(gate));
}

Tensor bloom_gelu(Tensor given) {
  Tensor x = std::move(given);
  Recorder& r = x.recorder();
  if (x.needs_grad) r.keep({&x});
  // The steps of its formula; each name is reused as Python reuses it.
  Tensor a = like(x), b = like(x), c = like(x), d = like(x);
  c.reset();
  c = like(x);
  d.reset();
  d = like(x);
  b.reset();
  c.reset();
  c = like(x);
  d.reset();
  d = like(x);
  c.reset();
  Tensor y = like(x);
  r.record(
      [](BackwardCall& call) {
        const Tensor& g = call.grads[0];
        {
          std::array<Tensor, 5> temporaries;
          for (Tensor& temporary : temporaries) temporary = call.recorder.make(g.elements, g.width);
        }
        Tensor tangent = call.recorder.make(g.elements, g.width);
        {
          std::array<Tensor, 4> temporaries;
          for (Tensor& temporary : temporaries) temporary = call.recorder.make(g.elements, g.width);
        }
        call.results[0] = call.recorder.make(g.elements, g.width);
      },
      {}, {&x}, {&y});
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

Tensor softmax(Tensor given, std::uint8_t width) {
  Recorder& r = given.recorder();
  Tensor x = cast(std::move(given), r.autocast ? kSingle : width);
  Tensor y = r.make(x.elements, x.width);
  if (x.needs_grad) r.keep({&y});
  r.record(
      [](BackwardCall& call) {
        const Tensor& g = call.grads[0];
        call.results[0] = call.recorder.make(g.elements, g.width);
        Tensor temporary = call.recorder.make(g.elements, g.width);
      },
      {}, {&x}, {&y});
  return y;
}

Tensor sum_groups(Tensor given, Count n) {
  Tensor x = std::move(given);
  Recorder& r = x.recorder();
  Tensor y = r.make(n, x.width);
  r.record(
      [](BackwardCall& call) {
        call.results[0] = call.recorder.alias(call.grads[0], call.state.n[0], Layout::kPlain);
        call.results[0].reshaped = true;
      },
      whole_of(x), {&x}, {&y});
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
