// Losses over a vocabulary: where most of the memory beside the layers goes.
#include <algorithm>
#include <bit>
#include <utility>

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
  OpState state;
  state.n[0] = logits.elements;
  state.width[0] = logits.width;
  Backward whole = [](BackwardCall& call) {
    call.results[0] = call.recorder.make(call.state.n[0], call.state.width[0]);
  };
  Tensor probabilities = r.make(logits.elements, logits.width);
  if (logits.needs_grad) r.keep({&probabilities});
  r.record(whole, state, {&logits}, {&probabilities});
  Tensor input = probabilities;
  if (r.autocast && logits.width == kHalf) input = cast(probabilities, kSingle);  // nll_loss runs in 32 bits
  Tensor loss = r.make(1, input.width), total_weight = r.make(1, input.width);
  r.keep({&input, &labels, &total_weight});
  state.width[0] = input.width;
  r.record(whole, state, {&input}, {&loss});
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

// n: 0 logits, 1 those of one chunk.
Tensor chunked_cross_entropy(Tensor given, Count rows, int chunks) {
  Tensor logits = std::move(given);
  Recorder& r = logits.recorder();
  Tensor labels = r.make(rows, kLong);
  const Count chunk = (logits.elements + chunks - 1) / chunks;
  { Tensor wide = r.make(chunk, kSingle), probabilities = r.make(chunk, kSingle); }
  r.keep({&logits, &labels});
  Tensor loss = r.make(1, kSingle);
  OpState state;
  state.n = {logits.elements, chunk, 0, 0};
  state.width[0] = logits.width;
  r.record([](BackwardCall& call) {
    Recorder& recorder = call.recorder;
    call.results[0] = recorder.make(call.state.n[0], call.state.width[0]);
    Tensor wide = recorder.make(call.state.n[1], kSingle), probabilities = recorder.make(call.state.n[1], kSingle);
    Tensor gradient = recorder.make(call.state.n[1], kSingle);
  }, state, {&logits}, {&loss});
  return loss;
}

// Rows at a time so that their logits take about as much as the input: the next power of two of rows / (V / h).
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
  OpState state;
  state.n = {x.elements, weight.elements, 0, 0};
  state.width = {x.width, weight.width, 0, 0};
  // Both gradients are there already and are scaled in place.
  r.record([](BackwardCall& call) {
    std::size_t next = 0;
    for (std::size_t i : {0, 1}) {
      if (call.wants(i)) call.results[i] = std::move(call.saved[next++]);
    }
  }, state, {&x, &weight}, {&loss});
  return loss;
}

}  // namespace rightsize::memory::tape
