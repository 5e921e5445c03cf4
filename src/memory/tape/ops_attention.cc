// The variants of attention, and rotary positions.
#include <utility>

#include "memory/tape/op_parts.h"
#include "memory/tape/ops.h"

namespace rightsize::memory::tape {
namespace {

// n: 0 queries, 1 keys, 2 workspace bytes, 3 values. layout: of q, k, v. width[0]: of the inputs.
void fused_attention_backward(BackwardCall& call) {
  Recorder& r = call.recorder;
  const OpState& state = call.state;
  Tensor g = call.grads[0];
  if (g.layout != state.layout[0])
    g = r.make(g.elements, g.width, state.layout[0]);  // converted to the result's layout
  call.results[0] = r.make(state.n[0], state.width[0], state.layout[0]);
  call.results[1] = r.make(state.n[1], state.width[0], state.layout[1]);
  call.results[2] = r.make(state.n[3], state.width[0], state.layout[2]);
  Tensor workspace = r.make(state.n[2], kByte);
}

// 32-bit sums of dq, one number per row, and with grouped heads dk and dv for every head before they are summed.
Count backward_workspace(const AttentionShape& shape, std::uint8_t width) {
  const Count rows = shape.batch * shape.heads * shape.tokens;
  const Count kv_tokens = shape.kv_tokens ? shape.kv_tokens : shape.tokens;
  Count bytes = rows * shape.head_dim * 4 + rows * 4 + 256;
  if (shape.kv_heads != 0 && shape.kv_heads != shape.heads)
    bytes += 2 * shape.batch * shape.heads * kv_tokens * shape.head_dim * width;
  return bytes;
}

// scores += bias. The gradient of the bias is a cast and a sum over the batch.
Tensor add_bias(Tensor given_scores, Tensor given_bias) {
  Tensor scores = std::move(given_scores), bias = std::move(given_bias);
  Recorder& r = scores.recorder();
  Tensor y = r.alias(scores);
  r.record(
      [](BackwardCall& call) {
        const Tensor& g = call.grads[0];
        Tensor bias_gradient;
        if (call.wants(1)) {
          bias_gradient = g.width != call.state.width[0] ? call.recorder.make(g.elements, call.state.width[0]) : g;
          if (g.elements != call.state.n[0]) bias_gradient = call.recorder.make(call.state.n[0], call.state.width[0]);
        }
        call.results[0] = g;
        call.results[1] = std::move(bias_gradient);
      },
      sizes_of(bias), {&scores, &bias}, {&y});
  return y;
}

// Scaled and masked scores of the eager attention of transformers. Repeats the heads of k and v.
Tensor eager_scores(const Tensor& q, Tensor& k, Tensor& v, const AttentionShape& shape) {
  const Count kv_tokens = shape.kv_tokens ? shape.kv_tokens : shape.tokens;
  const Count expanded = shape.batch * shape.heads * kv_tokens * shape.head_dim;
  k = repeat_heads(std::move(k), expanded);
  v = repeat_heads(std::move(v), expanded);
  Tensor scores = batched_product(copy_both_ways(q), copy_both_ways(k), shape.scores());
  scores = multiply_constant(std::move(scores));
  return add_constant(std::move(scores));  // the causal mask
}

}  // namespace

Tensor fused_attention(Tensor given_q, Tensor given_k, Tensor given_v, const AttentionShape& shape) {
  Tensor q = std::move(given_q), k = std::move(given_k), v = std::move(given_v);
  Recorder& r = q.recorder();
  v = r.cast_for_product(std::move(v));
  k = r.cast_for_product(std::move(k));
  q = r.cast_for_product(std::move(q));
  Tensor seed = r.make(1, kLong), offset = r.make(1, kLong);
  Tensor mask;
  if (shape.mask > 0) mask = r.make(shape.mask, q.width);
  Tensor out = r.make_product(shape.outputs(), q.width, q.layout);
  Tensor row_sums = r.make(shape.batch * shape.heads * shape.tokens, kSingle);
  { Tensor small = r.make(64, kSingle); }
  if (q.needs_grad || k.needs_grad || v.needs_grad) r.keep({&q, &k, &v, &out, &row_sums, &seed, &offset, &mask});
  OpState state = sizes_of(q, k);
  state.n = {q.elements, k.elements, backward_workspace(shape, q.width), v.elements};
  state.layout = {q.layout, k.layout, v.layout};
  r.record(fused_attention_backward, state, {&q, &k, &v}, {&out});
  return out;
}

Tensor math_attention(Tensor given_q, Tensor given_k, Tensor given_v, const AttentionShape& shape, double dropout_p,
                      Tensor given_bias) {
  Tensor q = std::move(given_q), k = std::move(given_k), v = std::move(given_v), bias = std::move(given_bias);
  Recorder& r = q.recorder();
  v = r.cast_for_product(std::move(v));
  k = r.cast_for_product(std::move(k));
  q = r.cast_for_product(std::move(q));
  const std::uint8_t width = q.width;
  const Count scores_count = shape.scores(), outputs = shape.outputs();
  Tensor wide_q = cast(q, kSingle), wide_k = cast(k, kSingle), wide_v = cast(v, kSingle);
  Tensor scaled_q = multiply_constant(wide_q), scaled_k = multiply_constant(wide_k);
  Tensor heads_q = scaled_q.layout != Layout::kPlain ? expand_copy(scaled_q, scaled_q.elements) : scaled_q;
  Tensor heads_k = expand_copy(scaled_k, outputs);
  Tensor scores = batched_product(heads_q, heads_k, scores_count, false);
  scaled_k.reset();
  heads_q.reset();
  heads_k.reset();
  if (bias) {
    bias = r.cast_for_product(std::move(bias));
    scores = add_bias(scores, bias);
  }
  Tensor probabilities = softmax(scores, kSingle);
  { Tensor rows_without_keys = r.make(scores_count, kByte); }
  scores.reset();
  if (dropout_p > 0) probabilities = dropout(probabilities, dropout_p);
  Tensor narrow = r.make(scores_count, width);
  Tensor heads_v = expand_copy(wide_v, outputs);
  Tensor out = batched_product_raw(probabilities, heads_v, outputs);
  heads_v.reset();
  Tensor y = cast(out, width);
  out.reset();
  return y;
}

Tensor eager_attention(Tensor given_q, Tensor given_k, Tensor given_v, const AttentionShape& shape, double dropout_p) {
  Tensor q = std::move(given_q), k = std::move(given_k), v = std::move(given_v);
  Tensor weights = eager_scores(q, k, v, shape);
  const std::uint8_t width = q.recorder().autocast ? kHalf : q.width;
  weights = softmax(std::move(weights), kSingle);
  weights = cast(std::move(weights), width);
  weights = dropout(std::move(weights), dropout_p);
  Tensor out = batched_product(weights, copy_both_ways(v), shape.outputs());
  return copy_both_ways(std::move(out));
}

Tensor sink_attention(Tensor given_q, Tensor given_k, Tensor given_v, const AttentionShape& shape) {
  Tensor q = std::move(given_q), k = std::move(given_k), v = std::move(given_v);
  Recorder& r = q.recorder();
  Tensor weights = eager_scores(q, k, v, shape);
  Tensor sinks = r.make(shape.batch * shape.heads * shape.tokens, weights.width);
  weights = cat(std::move(weights), std::move(sinks));
  weights = add_constant(std::move(weights));  // minus the maximum of each row
  const std::uint8_t width = r.autocast ? kSingle : weights.width;
  Tensor probabilities = softmax(std::move(weights), width);
  probabilities = slice(std::move(probabilities), shape.scores());
  Tensor out = batched_product(std::move(probabilities), copy_both_ways(v), shape.outputs());
  return copy_both_ways(std::move(out));
}

Tensor recomputed_attention(Tensor given_q, Tensor given_k, Tensor given_v, const AttentionShape& shape) {
  Tensor q = std::move(given_q), k = std::move(given_k), v = std::move(given_v);
  Recorder& r = q.recorder();
  { Tensor scores = r.make(shape.scores(), q.width), probabilities = r.make(shape.scores(), q.width); }
  if (q.needs_grad || k.needs_grad || v.needs_grad) r.keep({&q, &k, &v});
  Tensor out = r.make(shape.outputs(), q.width, q.layout);
  OpState state = sizes_of(q, k);
  state.n[2] = shape.scores();
  state.layout = {q.layout, k.layout, v.layout};
  r.record(
      [](BackwardCall& call) {
        Recorder& recorder = call.recorder;
        const OpState& s = call.state;
        Tensor scores = recorder.make(s.n[2], s.width[0]), probabilities = recorder.make(s.n[2], s.width[0]);
        Tensor gradient = recorder.make(s.n[2], s.width[0]);
        for (std::size_t i = 0; i < 3; ++i)
          call.results[i] = recorder.make(s.n[i == 0 ? 0 : 1], s.width[0], s.layout[i]);
      },
      state, {&q, &k, &v}, {&out});
  return out;
}

Tensor rotate(Tensor given, const Tensor& cosine, const Tensor& sine) {
  Tensor x = std::move(given);
  Tensor straight = multiply(x, cosine);
  Tensor turned;
  {
    Tensor first = slice(x, x.elements / 2), second = slice(x, x.elements / 2);
    Tensor negative = multiply_constant(second);
    turned = cat(std::move(negative), first);
  }
  turned = multiply(std::move(turned), sine);
  return add(std::move(straight), std::move(turned));
}

Rotary rotary_tables(Recorder& r, Count rows, Count dim, std::uint8_t width) {
  Tensor positions = r.make(rows, kSingle);
  Tensor frequencies = r.make(rows * dim / 2, kSingle), angles = r.make(rows * dim, kSingle);
  Tensor cosine = r.make(rows * dim, kSingle);
  cosine = r.make(rows * dim, kSingle);  // times the attention scaling
  Tensor sine = r.make(rows * dim, kSingle);
  sine = r.make(rows * dim, kSingle);
  if (width == kSingle) return {std::move(cosine), std::move(sine)};
  Rotary narrow;
  narrow.cosine = r.make(rows * dim, width);
  narrow.sine = r.make(rows * dim, width);
  return narrow;
}

void probe_mask(Recorder& r, Count tokens) {
  Tensor a = r.make(tokens, kLong), b = r.make(tokens, kLong), c = r.make(tokens, kLong);
}

Tensor relative_bias(Tensor given, Count n, Count tokens) {
  Tensor table = std::move(given);
  Recorder& r = table.recorder();
  Tensor buckets;
  {
    Tensor a = r.make(tokens * tokens, kLong), b = r.make(tokens * tokens, kLong), c = r.make(tokens * tokens, kLong);
    buckets = r.make(tokens * tokens, kLong);
  }
  Tensor y = r.make(n, table.width);
  if (table.needs_grad) r.keep({&buckets});
  OpState state = sizes_of(table);
  state.n[1] = n;
  r.record(
      [](BackwardCall& call) {
        Tensor permuted = call.recorder.make(call.state.n[1], call.grads[0].width);
        call.results[0] = call.recorder.make(call.state.n[0], call.grads[0].width);
      },
      state, {&table}, {&y});
  return y;
}

}  // namespace rightsize::memory::tape
