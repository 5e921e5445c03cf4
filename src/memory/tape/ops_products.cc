// Matrix products and embeddings.
#include <algorithm>
#include <utility>

#include "memory/tape/op_parts.h"
#include "memory/tape/ops.h"

namespace rightsize::memory::tape {
namespace {

// n: 0 input, 1 weight, 2 bias, 3 elements of a weight to dequantize; flag: has a bias; width[1]: reshaped gradient,
// width[2]: the input has to be gathered again.
void linear_backward(BackwardCall& call) {
  Recorder& r = call.recorder;
  const OpState& state = call.state;
  Tensor g = call.grads[0];
  if (g.layout != Layout::kPlain) g = r.make(g.elements, g.width);
  auto input_gradient = [&] {
    if (!call.wants(0)) return;
    Tensor dequantized;
    if (state.n[3] > 0) dequantized = r.make(state.n[3], g.width);
    call.results[0] = r.make(state.n[0], g.width);
    call.results[0].reshaped = state.width[1] != 0;
  };
  // addmm's backward computes the input's gradient first, mm's the weight's.
  if (state.flag) input_gradient();
  if (call.wants(1)) {
    Tensor gathered;
    if (state.width[2] != 0) gathered = r.make(state.n[0], g.width);
    call.results[1] = r.make(state.n[1], g.width);
    call.results[1].reshaped = true;
  }
  if (!state.flag) input_gradient();
  if (call.wants(2)) {
    call.results[2] = r.make(state.n[2], g.width);
    row_sum_scratch(r, state.n[2], g.elements / state.n[2]);
  }
}

// The tensor that a linear layer saves: its input or, under fp8, a copy with one byte per element.
Tensor saved_input(const Tensor& x) {
  Recorder& r = x.recorder();
  return r.saved_input_width != 0 && x.width > r.saved_input_width ? r.make(x.elements, r.saved_input_width) : x;
}

}  // namespace

void row_sum_scratch(Recorder& r, Count columns, Count rows) {
  auto ceil_divide = [](Count a, Count b) { return (a + b - 1) / b; };
  const Count vector = columns % 4 == 0 ? 4 : columns % 2 == 0 ? 2 : 1;
  if (columns < 32 * vector) return;
  const Count block_rows = 16 / vector, values = ceil_divide(rows, block_rows);
  if (values < 256) return;
  const Count grid = ceil_divide(columns, 32 * vector);
  const Count resident = Count{r.multiprocessors} * 2048 / (32 * block_rows);
  const Count blocks =
      std::max(std::min(ceil_divide(resident, grid), ceil_divide(values, 16)), ceil_divide(values, 256));
  if (blocks > 1) Tensor scratch = r.make(4 * columns * blocks * 32 * vector, kByte);
}

Tensor linear(Tensor given, Tensor given_weight, Tensor given_bias, const LinearOptions& options) {
  Tensor x = std::move(given), weight = std::move(given_weight), bias = std::move(given_bias);
  Recorder& r = x.recorder();
  if (bias) bias = r.cast_for_product(std::move(bias));
  weight = r.cast_for_product(std::move(weight), options.cached_cast);
  x = r.cast_for_product(std::move(x));
  const Count elements = weight.elements;
  const Count rows = x.elements / (elements / options.outputs);
  x = contiguous(std::move(x));
  if (weight.needs_grad) {
    Tensor saved = options.saves ? *options.saves : saved_input(x);
    r.keep({&saved, x.needs_grad && !weight.is_parameter ? &weight : nullptr});
  } else if (x.needs_grad) {
    r.keep({weight.is_parameter ? nullptr : &weight});
  }
  const std::uint8_t width = options.quantized ? x.width : std::max(x.width, weight.width);
  Tensor dequantized;
  if (options.quantized) dequantized = r.make(elements, width);
  Tensor y = r.make_product(rows * options.outputs, width);
  OpState state;
  state.n = {x.elements, elements, options.outputs, options.quantized ? elements : 0};
  state.flag = static_cast<bool>(bias);
  state.width[1] = options.reshaped_gradient ? 1 : 0;
  state.width[2] = options.saves ? 1 : 0;
  r.record(linear_backward, state, {&x, &weight, &bias}, {&y});
  return y;
}

Tensor batched_product(Tensor first, Tensor second, Count n, bool autocast) {
  Tensor a = std::move(first), b = std::move(second);
  Recorder& r = a.recorder();
  if (autocast) {
    b = r.cast_for_product(std::move(b));
    a = r.cast_for_product(std::move(a));
  }
  r.keep({a.needs_grad ? &b : nullptr, b.needs_grad ? &a : nullptr});
  Tensor y = r.make(n, a.width);
  r.record(sizes_from_last, sizes_of(a, b), {&a, &b}, {&y});
  return y;
}

Tensor batched_product_raw(Tensor first, Tensor second, Count n) {
  Tensor a = std::move(first), b = std::move(second);
  Recorder& r = a.recorder();
  r.keep({a.needs_grad ? &b : nullptr, b.needs_grad ? &a : nullptr});
  Tensor y = r.make(n, a.width);
  r.record(
      [](BackwardCall& call) {
        Tensor g = call.recorder.make(call.grads[0].elements, call.grads[0].width);
        for (std::size_t i : {1u, 0u}) {
          if (call.wants(i)) call.results[i] = call.recorder.make(call.state.n[i], kSingle);
        }
      },
      sizes_of(a, b), {&a, &b}, {&y});
  return y;
}

Tensor grouped_product(Tensor given, Tensor given_weight, Count n, bool narrow) {
  Tensor x = std::move(given), weight = std::move(given_weight);
  Recorder& r = x.recorder();
  Tensor saved = narrow && weight.needs_grad ? saved_input(x) : x;
  r.keep({weight.needs_grad ? &saved : nullptr, x.needs_grad && !weight.is_parameter ? &weight : nullptr});
  Tensor y = r.make_product(n, x.width);
  r.record(sizes_from_last, sizes_of(x, weight), {&x, &weight}, {&y});
  return y;
}

Tensor embedding(Count rows, Tensor table, Count width) {
  return unary(std::move(table), {Makes::kPlain, whole_size}, rows * width);
}

Tensor merged_adapter(Tensor given_weight, Tensor given_a, Tensor given_b) {
  Tensor weight = std::move(given_weight), a = std::move(given_a), b = std::move(given_b);
  Recorder& r = weight.recorder();
  const Count wide = b.elements;
  a = cast(std::move(a), weight.width);
  b = cast(std::move(b), weight.width);
  {  // once when the parametrization is registered
    Tensor whole = r.make(weight.elements, weight.width), part = r.make(wide, weight.width);
  }
  r.keep({&a, &b});
  Tensor y = r.make(weight.elements, weight.width);
  { Tensor part = r.make(wide, weight.width); }
  r.record(sizes_in_order, sizes_of(a, b), {&a, &b}, {&y});
  return y;
}

}  // namespace rightsize::memory::tape
