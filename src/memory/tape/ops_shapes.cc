// Views, copies and other changes of shape.
#include <algorithm>
#include <utility>

#include "memory/tape/op_parts.h"
#include "memory/tape/ops.h"

namespace rightsize::memory::tape {

Tensor cast(Tensor given, std::uint8_t width) {
  Tensor x = std::move(given);
  if (x.width == width) return x;
  Recorder& r = x.recorder();
  Tensor y = r.make(x.elements, width, x.layout);
  r.record(
      [](BackwardCall& call) {
        const Tensor& g = call.grads[0];
        call.results[0] = call.recorder.make(g.elements, call.state.width[0], g.layout);
      },
      sizes_of(x), {&x}, {&y});
  return y;
}

Tensor select(Tensor x, Count n) { return unary(std::move(x), {Makes::kView, whole_size}, n); }
Tensor copy(Tensor x) { return unary(std::move(x), {Makes::kPlain, as_view}); }
Tensor copy_both_ways(Tensor x) { return unary(std::move(x), {Makes::kPlain, same_size_plain}); }
Tensor view_copied_back(Tensor x) { return unary(std::move(x), {Makes::kPlainView, same_size_plain}); }

Tensor slice(Tensor x, Count n) {
  if (n == x.elements) return x;
  return select(std::move(x), n);
}

Tensor contiguous(Tensor x) {
  if (x.layout == Layout::kPlain) return x;
  return unary(std::move(x), {Makes::kPlain, pass_through});
}

// In a batch of one the product reads a view.
Tensor copy_per_head(Tensor x, bool view_back) {
  const Makes makes = x.recorder().single_sample ? Makes::kPlainView : Makes::kPlain;
  return unary(std::move(x), {makes, view_back ? as_reshaped_view : same_size_plain});
}

Tensor split_heads(Tensor given) {
  Tensor x = std::move(given);
  Recorder& r = x.recorder();
  Tensor y = r.alias(x, x.elements, Layout::kHeads);
  r.record(
      [](BackwardCall& call) {
        const Tensor& g = call.grads[0];
        if (g.layout != Layout::kHeads) return same_size_plain(call);
        call.results[0] = call.recorder.alias(g, g.elements, Layout::kPlain);
        call.results[0].reshaped = true;
      },
      {}, {&x}, {&y});
  return y;
}

Tensor merge_heads(Tensor x) {
  const Backward heads_first = [](BackwardCall& call) {
    call.results[0] = call.recorder.alias(call.grads[0], call.grads[0].elements, Layout::kHeads);
  };
  const Makes makes = x.layout == Layout::kHeads ? Makes::kPlainView : Makes::kPlain;
  return unary(std::move(x), {makes, heads_first});
}

Tensor expand_copy(Tensor given, Count n, Expand how) {
  Tensor x = std::move(given);
  Recorder& r = x.recorder();
  const bool copies = how == Expand::kAlways || (how == Expand::kForProduct && !r.single_sample);
  Tensor y = copies ? r.make(n, x.width) : r.alias(x, n, x.layout);
  y.reshaped = false;
  r.record(n == x.elements ? as_view : whole_size, sizes_of(x), {&x}, {&y});
  return y;
}

Tensor gather_rows(Tensor given, Count n) { return expand_copy(std::move(given), n, Expand::kAlways); }
Tensor scatter_rows(Tensor given, Count n) { return expand_copy(std::move(given), n, Expand::kAlways); }

Tensor repeat_heads(Tensor given, Count n) {
  if (n == given.elements) return given;
  return expand_copy(std::move(given), n, Expand::kAlways);
}

Tensor cat(Tensor first, Tensor second) {
  Tensor a = std::move(first), b = std::move(second);
  Recorder& r = a.recorder();
  Tensor y = r.make(a.elements + b.elements, std::max(a.width, b.width));
  r.record(
      [](BackwardCall& call) {
        const Tensor& g = call.grads[0];
        for (std::size_t i = 0; i < 2; ++i) {
          call.results[i] = call.recorder.alias(g, call.state.n[i], g.layout);
          call.results[i].reshaped = false;
        }
      },
      sizes_of(a, b), {&a, &b}, {&y});
  return y;
}

namespace {

// n: elements of each part, then of the whole.
void split_backward(BackwardCall& call) {
  const std::uint8_t width = call.state.width[0];
  std::array<Tensor, 3> zeros;
  for (std::size_t i = 0; i < 3; ++i) {
    if (!call.grads[i] && call.state.n[i] > 0) zeros[i] = call.recorder.make(call.state.n[i], width);
  }
  call.results[0] = call.recorder.make(call.state.n[3], width);
}

}  // namespace

std::array<Tensor, 3> split3(Tensor given, Count a, Count b, Count c) {
  Tensor x = std::move(given);
  Recorder& r = x.recorder();
  std::array<Tensor, 3> y = {r.alias(x, a, x.layout), r.alias(x, b, x.layout), r.alias(x, c, x.layout)};
  OpState state = sizes_of(x);
  state.n = {a, b, c, x.elements};
  r.record(split_backward, state, {&x}, {&y[0], &y[1], &y[2]});
  return y;
}

std::array<Tensor, 2> split2(Tensor given) {
  Tensor x = std::move(given);
  Recorder& r = x.recorder();
  const Count half = x.elements / 2;
  std::array<Tensor, 2> y = {r.alias(x, half, x.layout), r.alias(x, half, x.layout)};
  OpState state = sizes_of(x);
  state.n = {half, half, 0, x.elements};
  r.record(split_backward, state, {&x}, {&y[0], &y[1]});
  return y;
}

Tensor index(Tensor given, Count n, Tensor chosen) {
  Tensor x = std::move(given), ids = std::move(chosen);
  Recorder& r = x.recorder();
  if (x.needs_grad) r.keep({&ids});
  Tensor y = r.make(n, x.width);
  r.record(whole_size, sizes_of(x), {&x}, {&y});
  return y;
}

}  // namespace rightsize::memory::tape
