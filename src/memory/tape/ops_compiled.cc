// Chains of operations as compiled by torch.compile.
#include <utility>

#include "memory/tape/op_parts.h"
#include "memory/tape/ops.h"

namespace rightsize::memory::tape {
namespace {

// One gradient like the input: n[0] elements of width[0], and of the weight: n[1] elements of width[1].
void one_kernel_backward(BackwardCall& call) {
  for (std::size_t i : {0u, 1u}) {
    if (call.wants(i)) call.results[i] = call.recorder.make(call.state.n[i], call.state.width[i]);
  }
}

std::uint8_t product_width(const Tensor& x) { return x.recorder().autocast ? kHalf : x.width; }

}  // namespace

Tensor compiled_embedding(Count rows, Tensor table, Count width) {
  const Backward backward = [](BackwardCall& call) {
    Tensor sums = call.recorder.make(call.state.n[0], kSingle);
    call.results[0] =
        call.grads[0].width == kSingle ? std::move(sums) : call.recorder.make(call.state.n[0], call.grads[0].width);
  };
  return unary(std::move(table), {Makes::kPlain, backward}, rows * width);
}

Tensor compiled_norm(Tensor given, Tensor given_weight, Count rows) {
  Tensor x = std::move(given), weight = std::move(given_weight);
  Recorder& r = x.recorder();
  Tensor y = r.make(x.elements, product_width(x));
  Tensor deviations = r.make(rows, kSingle);
  if (x.needs_grad || (weight && weight.needs_grad)) r.keep({&x, &deviations});
  OpState state = sizes_of(x, weight);
  state.width[1] = weight ? weight.width : kHalf;
  r.record(one_kernel_backward, state, {&x, &weight}, {&y});
  return y;
}

Tensor compiled_rotate(Tensor given) {
  Tensor x = std::move(given);
  Recorder& r = x.recorder();
  Tensor y = r.make(x.elements, product_width(x), x.layout);
  r.record(whole_size_own_width, sizes_of(x), {&x}, {&y});
  return y;
}

Tensor compiled_softcap(Tensor x) { return unary(std::move(x), {Makes::kPlain, whole_size_own_width, Saves::kInput}); }

Tensor compiled_cross_entropy(Tensor given, Count rows) {
  Tensor logits = std::move(given);
  Recorder& r = logits.recorder();
  Tensor labels = r.make(rows, kLong), largest = r.make(rows, kSingle), sums = r.make(rows, kSingle);
  if (logits.needs_grad) r.keep({&logits, &labels, &largest, &sums});
  Tensor loss = r.make(1, kSingle);
  r.record(
      [](BackwardCall& call) {
        Tensor scattered = call.recorder.make(call.state.n[0], call.state.width[0]);
        call.results[0] = call.recorder.make(call.state.n[0], call.state.width[0]);
      },
      sizes_of(logits), {&logits}, {&loss});
  return loss;
}

}  // namespace rightsize::memory::tape
