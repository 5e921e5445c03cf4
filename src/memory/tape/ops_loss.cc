// Losses over a vocabulary, which take most of the memory outside the layers.
#include <algorithm>
#include <bit>
#include <utility>

#include "memory/tape/op_parts.h"
#include "memory/tape/ops.h"

namespace rightsize::memory::tape {

Tensor cross_entropy(Tensor given, Count rows, bool shifted) {
  Tensor logits = std::move(given);
  Recorder& r = logits.recorder();
  Tensor padded, labels;
  if (shifted) {
    padded = r.make(rows + 2, kLong);
    labels = r.make(rows, kLong);
  }
  Tensor probabilities = r.make(logits.elements, logits.width);
  if (logits.needs_grad) r.keep({&probabilities});
  r.record(whole_size_own_width, sizes_of(logits), {&logits}, {&probabilities});
  Tensor input = probabilities;
  if (r.autocast && logits.width == kHalf) input = cast(probabilities, kSingle);  // nll_loss runs in 32 bits
  Tensor loss = r.make(1, input.width), total_weight = r.make(1, input.width);
  r.keep({&input, &labels, &total_weight});
  r.record(whole_size_own_width, sizes_of(input), {&input}, {&loss});
  return loss;
}

Tensor causal_cross_entropy(Tensor given, Count rows) {
  Tensor logits = std::move(given);
  Tensor wide = cast(logits, kSingle);
  return cross_entropy(wide, rows, true);
}

Tensor vocabulary_parallel_cross_entropy(Tensor given, Count rows) {
  Tensor wide = cast(std::move(given), kSingle);
  Recorder& r = wide.recorder();
  Tensor labels = r.make(rows, kLong), largest = r.make(rows, kSingle), sums = r.make(rows, kSingle);
  r.keep({&wide, &labels});
  Tensor loss = r.make(1, kSingle);
  r.record([](BackwardCall& call) { call.results[0] = call.recorder.alias(call.saved[0]); }, {}, {&wide}, {&loss});
  return loss;
}

namespace {

constexpr std::size_t kChunks = 8;

// n: 0 input, 1 weight, 2 bias, 3 logits of a chunk. width: 0 of logits; flag: compiled.
void chunked_backward(BackwardCall& call) {
  Recorder& r = call.recorder;
  const OpState& state = call.state;
  const std::uint8_t width = state.width[0];
  if (call.wants(0)) call.results[0] = r.make(state.n[0], width);
  for (std::size_t i = kChunks; i-- > 0;) {
    Tensor gradient = r.make(state.n[3], width);
    {
      Tensor wide = r.make(state.n[3], kSingle), more;
      if (!state.flag) more = r.make(state.n[3], kSingle);
    }
    call.saved[i].reset();
    if (!call.wants(1)) continue;
    Tensor product = r.make(state.n[1], width);
    if (!call.results[1]) call.results[1] = std::move(product);
  }
  if (call.wants(2)) call.results[2] = r.make(state.n[2], width);
}

}  // namespace

Tensor chunked_linear_cross_entropy(Tensor given, Tensor given_weight, Tensor given_bias, Count rows, Count vocabulary,
                                    bool compiled) {
  Tensor x = std::move(given), weight = std::move(given_weight), bias = std::move(given_bias);
  Recorder& r = x.recorder();
  if (bias) bias = r.cast_for_product(std::move(bias));
  weight = r.cast_for_product(std::move(weight));
  x = r.cast_for_product(std::move(x));
  const Count chunk = (rows + static_cast<Count>(kChunks) - 1) / static_cast<Count>(kChunks) * vocabulary;
  Tensor labels = r.make(rows, kLong);
  std::array<Tensor, kChunks> logits;
  std::array<const Tensor*, kChunks + 2> kept{};
  for (std::size_t i = 0; i < kChunks; ++i) {
    logits[i] = r.make(chunk, x.width);
    kept[i] = &logits[i];
    Tensor wide = r.make(chunk, kSingle), more;
    if (!compiled) more = r.make(chunk, kSingle);
  }
  kept[kChunks] = weight.needs_grad ? &x : nullptr;
  kept[kChunks + 1] = &labels;
  r.keep(kept);
  Tensor loss = r.make(1, kSingle);
  OpState state = sizes_of(x, weight, bias);
  state.n[3] = chunk;
  state.flag = compiled;
  r.record(chunked_backward, state, {&x, &weight, &bias}, {&loss});
  return loss;
}

// Processes as many rows at a time as give logits of about the input's size: rows / (V / h), rounded up to a power of
// two.
Tensor fused_linear_cross_entropy(Tensor given, Tensor given_weight, Count rows, Count vocabulary) {
  Tensor x = std::move(given), weight = std::move(given_weight);
  Recorder& r = x.recorder();
  const Count width = std::max<Count>(1, x.elements / std::max<Count>(1, rows));
  const Count pieces = std::max<Count>(1, (vocabulary + width - 1) / width);
  const Count wanted = std::max<Count>(1, (rows + pieces - 1) / pieces);
  const Count piece = std::min(rows, static_cast<Count>(std::bit_ceil(static_cast<std::uint64_t>(wanted))));
  Tensor input_gradient = r.make(x.elements, x.width);
  Tensor weight_gradient;
  if (weight.needs_grad) weight_gradient = r.make(weight.elements, weight.width);
  Tensor losses = r.make(rows, kSingle);
  {
    Tensor logits = r.make(piece * vocabulary, x.width);
    Tensor product;
    if (weight.needs_grad) product = r.make(weight.elements, weight.width);
  }
  r.keep({&input_gradient, &weight_gradient});
  Tensor loss = r.make(1, kSingle);
  // Both gradients exist already and are scaled in place.
  r.record(
      [](BackwardCall& call) {
        std::size_t next = 0;
        for (std::size_t i : {0u, 1u}) {
          if (call.wants(i)) call.results[i] = std::move(call.saved[next++]);
        }
      },
      {}, {&x, &weight}, {&loss});
  return loss;
}

Tensor squared_loss(Tensor given) {
  Tensor difference = add_constant(cast(std::move(given), kSingle));
  Recorder& r = difference.recorder();
  r.keep({&difference});
  Tensor loss = r.make(1, kSingle);
  r.record(whole_size_own_width, sizes_of(difference), {&difference}, {&loss});
  return loss;
}

}  // namespace rightsize::memory::tape
