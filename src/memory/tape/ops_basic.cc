// Shapes, copies, elementwise operations and norms.
#include <algorithm>
#include <utility>

#include "memory/tape/ops.h"

namespace rightsize::memory::tape {
namespace {

// --- backward functions that several operations share

void pass_through(BackwardCall& call) { call.results[0] = call.grads[0]; }

void same_size(BackwardCall& call) {
  const Tensor& g = call.grads[0];
  call.results[0] = call.recorder.make(g.elements, g.width, g.layout);
}

void same_size_plain(BackwardCall& call) {
  call.results[0] = call.recorder.make(call.grads[0].elements, call.grads[0].width);
}

void as_view(BackwardCall& call) { call.results[0] = call.recorder.alias(call.grads[0]); }

void as_reshaped_view(BackwardCall& call) {
  call.results[0] = call.recorder.alias(call.grads[0]);
  call.results[0].reshaped = true;
}

// A gradient of state.n[0] elements in the width of the one that came.
void whole_size(BackwardCall& call) { call.results[0] = call.recorder.make(call.state.n[0], call.grads[0].width); }

OpState whole_of(const Tensor& x) {
  OpState state;
  state.n[0] = x.elements;
  return state;
}

Tensor like(const Tensor& x) { return x.recorder().make(x.elements, x.width, x.layout); }

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

// ---------------------------------------------------------------- shapes and copies

Tensor cast(Tensor given, std::uint8_t width) {
  Tensor x = std::move(given);
  if (x.width == width) return x;
  Recorder& r = x.recorder();
  Tensor y = r.make(x.elements, width, x.layout);
  OpState state;
  state.width[0] = x.width;
  r.record([](BackwardCall& call) {
    const Tensor& g = call.grads[0];
    call.results[0] = call.recorder.make(g.elements, call.state.width[0], g.layout);
  }, state, {&x}, {&y});
  return y;
}

Tensor view(Tensor given, Layout layout) {
  Tensor x = std::move(given);
  Recorder& r = x.recorder();
  Tensor y = r.alias(x, x.elements, layout);
  r.record(as_view, {}, {&x}, {&y});
  return y;
}

Tensor slice(Tensor given, Count n) {
  if (n == given.elements) return given;
  return select(std::move(given), n);
}

Tensor select(Tensor given, Count n) {
  Tensor x = std::move(given);
  Recorder& r = x.recorder();
  Tensor y = r.alias(x, n, x.layout);
  r.record(whole_size, whole_of(x), {&x}, {&y});
  return y;
}

Tensor contiguous(Tensor given) {
  Tensor x = std::move(given);
  if (x.layout == Layout::kPlain) return x;
  Recorder& r = x.recorder();
  Tensor y = r.make(x.elements, x.width);
  r.record(pass_through, {}, {&x}, {&y});
  return y;
}

Tensor split_heads(Tensor given) {
  Tensor x = std::move(given);
  Recorder& r = x.recorder();
  Tensor y = r.alias(x, x.elements, Layout::kHeads);
  r.record([](BackwardCall& call) {
    const Tensor& g = call.grads[0];
    if (g.layout != Layout::kHeads) return same_size_plain(call);
    call.results[0] = call.recorder.alias(g, g.elements, Layout::kPlain);
    call.results[0].reshaped = true;
  }, {}, {&x}, {&y});
  return y;
}

Tensor merge_heads(Tensor given) {
  Tensor x = std::move(given);
  Recorder& r = x.recorder();
  Tensor y = x.layout == Layout::kHeads ? r.alias(x, x.elements, Layout::kPlain) : r.make(x.elements, x.width);
  r.record([](BackwardCall& call) {
    call.results[0] = call.recorder.alias(call.grads[0], call.grads[0].elements, Layout::kHeads);
  }, {}, {&x}, {&y});
  return y;
}

Tensor copy(Tensor given) {
  Tensor x = std::move(given);
  Recorder& r = x.recorder();
  Tensor y = r.make(x.elements, x.width);
  r.record(as_view, {}, {&x}, {&y});
  return y;
}

Tensor copy_both_ways(Tensor given) {
  Tensor x = std::move(given);
  Recorder& r = x.recorder();
  Tensor y = r.make(x.elements, x.width);
  r.record(same_size_plain, {}, {&x}, {&y});
  return y;
}

Tensor copy_per_head(Tensor given, bool view_back) {
  Tensor x = std::move(given);
  Recorder& r = x.recorder();
  Tensor y = r.single_sample ? r.alias(x, x.elements, Layout::kPlain) : r.make(x.elements, x.width);
  r.record(view_back ? as_reshaped_view : same_size_plain, {}, {&x}, {&y});
  return y;
}

Tensor expand_copy(Tensor given, Count n, Expand how) {
  Tensor x = std::move(given);
  Recorder& r = x.recorder();
  const bool copies = how == Expand::kAlways || (how == Expand::kForProduct && !r.single_sample);
  Tensor y = copies ? r.make(n, x.width) : r.alias(x, n, x.layout);
  y.reshaped = false;
  r.record(n == x.elements ? as_view : whole_size, whole_of(x), {&x}, {&y});
  return y;
}

Tensor gather_rows(Tensor given, Count n) { return expand_copy(std::move(given), n, Expand::kAlways); }
Tensor scatter_rows(Tensor given, Count n) { return expand_copy(std::move(given), n, Expand::kAlways); }

Tensor repeat_heads(Tensor given, Count n) {
  if (n == given.elements) return given;
  return expand_copy(std::move(given), n, Expand::kAlways);
}

Tensor view_copied_back(Tensor given) {
  Tensor x = std::move(given);
  Recorder& r = x.recorder();
  Tensor y = r.alias(x, x.elements, Layout::kPlain);
  r.record(same_size_plain, {}, {&x}, {&y});
  return y;
}

Tensor cat(Tensor first, Tensor second) {
  Tensor a = std::move(first), b = std::move(second);
  Recorder& r = a.recorder();
  Tensor y = r.make(a.elements + b.elements, std::max(a.width, b.width));
  OpState state;
  state.n = {a.elements, b.elements, 0, 0};
  r.record([](BackwardCall& call) {
    const Tensor& g = call.grads[0];
    for (std::size_t i = 0; i < 2; ++i) {
      call.results[i] = call.recorder.alias(g, call.state.n[i], g.layout);
      call.results[i].reshaped = false;
    }
  }, state, {&a, &b}, {&y});
  return y;
}

std::array<Tensor, 3> split3(Tensor given, Count a, Count b, Count c) {
  Tensor x = std::move(given);
  Recorder& r = x.recorder();
  std::array<Tensor, 3> y = {r.alias(x, a, x.layout), r.alias(x, b, x.layout), r.alias(x, c, x.layout)};
  OpState state;
  state.n = {a, b, c, x.elements};
  state.width[0] = x.width;
  r.record([](BackwardCall& call) {
    const std::uint8_t width = call.state.width[0];
    std::array<Tensor, 3> zeros;
    for (std::size_t i = 0; i < 3; ++i) {
      if (!call.grads[i]) zeros[i] = call.recorder.make(call.state.n[i], width);
    }
    call.results[0] = call.recorder.make(call.state.n[3], width);
  }, state, {&x}, {&y[0], &y[1], &y[2]});
  return y;
}

std::array<Tensor, 2> split2(Tensor given) {
  Tensor x = std::move(given);
  Recorder& r = x.recorder();
  const Count half = x.elements / 2;
  std::array<Tensor, 2> y = {r.alias(x, half, x.layout), r.alias(x, half, x.layout)};
  OpState state;
  state.n = {half, x.elements, 0, 0};
  state.width[0] = x.width;
  r.record([](BackwardCall& call) {
    std::array<Tensor, 2> zeros;
    for (std::size_t i = 0; i < 2; ++i) {
      if (!call.grads[i]) zeros[i] = call.recorder.make(call.state.n[0], call.state.width[0]);
    }
    call.results[0] = call.recorder.make(call.state.n[1], call.state.width[0]);
  }, state, {&x}, {&y[0], &y[1]});
  return y;
}

Tensor index(Tensor given, Count n, Tensor chosen) {
  Tensor x = std::move(given), ids = std::move(chosen);
  Recorder& r = x.recorder();
  if (x.needs_grad) r.keep({&ids});
  Tensor y = r.make(n, x.width);
  r.record(whole_size, whole_of(x), {&x}, {&y});
  return y;
}

// ---------------------------------------------------------------- elementwise

Tensor add(Tensor first, Tensor second, std::uint8_t width) {
  Tensor a = std::move(first), b = std::move(second);
  Recorder& r = a.recorder();
  Tensor y = r.make(std::max(a.elements, b.elements), width ? width : std::max(a.width, b.width), a.layout);
  OpState state;
  state.n = {a.elements, b.elements, 0, 0};
  r.record([](BackwardCall& call) {
    const Tensor& g = call.grads[0];
    for (std::size_t i = 0; i < 2; ++i) {
      const bool broadcast = call.state.n[i] != g.elements;
      Tensor gradient = broadcast ? call.recorder.make(call.state.n[i], g.width) : g;
      if (call.wants(i)) call.results[i] = std::move(gradient);
    }
  }, state, {&a, &b}, {&y});
  return y;
}

Tensor add_in_place(Tensor first, Tensor second) {
  Tensor a = std::move(first), b = std::move(second);
  Recorder& r = a.recorder();
  Tensor y = r.alias(a);
  r.record([](BackwardCall& call) {
    for (std::size_t i = 0; i < 2; ++i) {
      if (call.wants(i)) call.results[i] = call.grads[0];
    }
  }, {}, {&a, &b}, {&y});
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
  r.record([](BackwardCall& call) {
    const Tensor& g = call.grads[0];
    Recorder& recorder = call.recorder;
    for (std::size_t i : {1, 0}) {
      if (call.wants(i)) call.results[i] = recorder.make(g.elements, g.width, g.layout);
    }
    for (std::size_t i : {0, 1}) {
      const Count n = call.state.n[i];
      if (!call.wants(i) || n >= g.elements) continue;
      call.results[i] = recorder.make(n, g.width);
      if (call.state.width[i] != 0) row_sum_scratch(recorder, n, g.elements / n);
    }
  }, state, {&a, &b}, {&y});
  return y;
}

Tensor power(Tensor given) {
  Tensor x = std::move(given);
  Recorder& r = x.recorder();
  if (r.autocast) x = cast(std::move(x), kSingle);
  if (x.needs_grad) r.keep({&x});
  Tensor y = like(x);
  r.record([](BackwardCall& call) {
    const Tensor& g = call.grads[0];
    Tensor one = call.recorder.make(g.elements, g.width), two = call.recorder.make(g.elements, g.width);
    call.results[0] = call.recorder.make(g.elements, g.width);
  }, {}, {&x}, {&y});
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
  r.record([](BackwardCall& call) {
    const Count n = call.grads[0].elements;
    Tensor one = call.recorder.make(n, kSingle), two = call.recorder.make(n, kSingle);
    call.results[0] = call.recorder.make(n, kSingle);
  }, {}, {&x}, {&y});
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
  r.record([](BackwardCall& call) {
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
  }, {}, {&x}, {&y});
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
  r.record([](BackwardCall& call) {
    const Tensor& g = call.grads[0];
    call.results[0] = call.recorder.make(g.elements, g.width);
    Tensor temporary = call.recorder.make(g.elements, g.width);
  }, {}, {&x}, {&y});
  return y;
}

Tensor sum_groups(Tensor given, Count n) {
  Tensor x = std::move(given);
  Recorder& r = x.recorder();
  Tensor y = r.make(n, x.width);
  r.record([](BackwardCall& call) {
    call.results[0] = call.recorder.alias(call.grads[0], call.state.n[0], Layout::kPlain);
    call.results[0].reshaped = true;
  }, whole_of(x), {&x}, {&y});
  return y;
}

Tensor fused_gate(Tensor first, Tensor second) {
  Tensor gate = std::move(first), up = std::move(second);
  Recorder& r = gate.recorder();
  r.keep({&gate, &up});
  Tensor y = like(gate);
  r.record([](BackwardCall& call) {
    const Tensor& g = call.grads[0];
    for (std::size_t i = 0; i < 2; ++i) call.results[i] = call.recorder.make(g.elements, g.width);
  }, {}, {&gate, &up}, {&y});
  return y;
}

// ---------------------------------------------------------------- norms

Tensor layer_norm(Tensor given, Tensor given_weight, Tensor given_bias, Count rows) {
  Tensor x = std::move(given), weight = std::move(given_weight), bias = std::move(given_bias);
  Recorder& r = x.recorder();
  if (r.autocast) x = cast(std::move(x), kSingle);
  Tensor y = r.make(x.elements, x.width);
  Tensor means = r.make(rows, kSingle), deviations = r.make(rows, kSingle);
  if (x.needs_grad || (weight && weight.needs_grad)) r.keep({&x, &means, &deviations});
  OpState state;
  state.n[0] = weight ? weight.elements : 0;
  r.record([](BackwardCall& call) {
    const Tensor& g = call.grads[0];
    if (call.wants(0)) call.results[0] = call.recorder.make(g.elements, g.width);
    for (std::size_t i : {1, 2}) {
      if (call.wants(i)) call.results[i] = call.recorder.make(call.state.n[0], g.width);
    }
  }, state, {&x, &weight, &bias}, {&y});
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
  r.record([](BackwardCall& call) {
    const Tensor& g = call.grads[0];
    if (call.wants(0)) call.results[0] = call.recorder.make(g.elements, g.width);
    if (call.wants(1)) call.results[1] = call.recorder.make(call.state.n[0], g.width);
  }, state, {&x, &weight}, {&y});
  return y;
}

}  // namespace rightsize::memory::tape
