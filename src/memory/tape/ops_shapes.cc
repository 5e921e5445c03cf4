// Views, copies and other changes of shape.
#include <algorithm>
#include <utility>

#include "memory/tape/backwards.h"
#include "memory/tape/ops.h"

namespace rightsize::memory::tape {

Tensor cast(Tensor given, std::uint8_t width) {
  Tensor x = std::move(given);
  if (x.width == width) return x;
  Recorder& r = x.recorder();
  Tensor y = r.make(x.elements, width, x.layout);
  OpState state;
  state.width[0] = x.width;
  r.record(
      [](BackwardCall& call) {
        const Tensor& g = call.grads[0];
        call.results[0] = call.recorder.make(g.elements, call.state.width[0], g.layout);
      },
      state, {&x}, {&y});
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

Tensor merge_heads(Tensor given) {
  Tensor x = std::move(given);
  Recorder& r = x.recorder();
  Tensor y = x.layout == Layout::kHeads ? r.alias(x, x.elements, Layout::kPlain) : r.make(x.elements, x.width);
  r.record(
      [](BackwardCall& call) {
        call.results[0] = call.recorder.alias(call.grads[0], call.grads[0].elements, Layout::kHeads);
      },
      {}, {&x}, {&y});
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
  r.record(
      [](BackwardCall& call) {
        const Tensor& g = call.grads[0];
        for (std::size_t i = 0; i < 2; ++i) {
          call.results[i] = call.recorder.alias(g, call.state.n[i], g.layout);
          call.results[i].reshaped = false;
        }
      },
      state, {&a, &b}, {&y});
  return y;
}

std::array<Tensor, 3> split3(Tensor given, Count a, Count b, Count c) {
  Tensor x = std::move(given);
  Recorder& r = x.recorder();
  std::array<Tensor, 3> y = {r.alias(x, a, x.layout), r.alias(x, b, x.layout), r.alias(x, c, x.layout)};
  OpState state;
  state.n = {a, b, c, x.elements};
  state.width[0] = x.width;
  r.record(
      [](BackwardCall& call) {
        const std::uint8_t width = call.state.width[0];
        std::array<Tensor, 3> zeros;
        for (std::size_t i = 0; i < 3; ++i) {
          if (!call.grads[i]) zeros[i] = call.recorder.make(call.state.n[i], width);
        }
        call.results[0] = call.recorder.make(call.state.n[3], width);
      },
      state, {&x}, {&y[0], &y[1], &y[2]});
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
  r.record(
      [](BackwardCall& call) {
        std::array<Tensor, 2> zeros;
        for (std::size_t i = 0; i < 2; ++i) {
          if (!call.grads[i]) zeros[i] = call.recorder.make(call.state.n[0], call.state.width[0]);
        }
        call.results[0] = call.recorder.make(call.state.n[1], call.state.width[0]);
      },
      state, {&x}, {&y[0], &y[1]});
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

}  // namespace rightsize::memory::tape
