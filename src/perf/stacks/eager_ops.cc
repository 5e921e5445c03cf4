#include "perf/stacks/eager_ops.h"

#include <algorithm>
#include <cmath>

namespace rightsize::perf {

void EagerOps::pass(double n, double forward_bytes, double backward_bytes, double forward_kernels,
                    double backward_kernels) {
  cost_.forward.traffic += bytes(n * forward_bytes);
  cost_.forward.kernels += forward_kernels;
  if (!mode_.gradients) return;
  cost_.backward.traffic += bytes(n * backward_bytes);
  cost_.backward.kernels += backward_kernels;
}

void EagerOps::cast(double n, double from, double to) {
  if (from != to) pass(n, from + to, from + to);
}

void EagerOps::backward_bytes(double n, double kernels) {
  if (!mode_.gradients) return;
  cost_.backward.traffic += bytes(n);
  cost_.backward.kernels += kernels;
}

void EagerOps::accumulate(double n, double e) { backward_bytes(3 * e * n, 1); }

// x.float(), pow, mean, add and rsqrt, x * rsqrt, then the weight: before the cast back in gemma, after it elsewhere.
void EagerOps::rms_norm(double n, double e, bool gemma) {
  const double w = mode_.weights ? 1 : 0;
  cast(n, e, 4);
  pass(n, 8, 20, 1, 2);
  pass(n, 4, 0, 1, 1);
  pass(0, 0, 0, 2, 3);
  pass(n, 8, 24, 1, 3);
  accumulate(n, 4);
  if (gemma) {
    pass(n, 8, 8 + 12 * w, 2, 2 + 2 * w);
    cast(n, 4, e);
  } else {
    cast(n, 4, e);
    pass(n, 2 * e, 2 * e + 4 * e * w, 1, 1 + 2 * w);
  }
}

// One fused kernel; autocast runs it in fp32.
void EagerOps::layer_norm(double n, double e) {
  const double wide = mode_.amp ? 4 : e;
  cast(n, e, wide);
  pass(n, 2 * wide, 3 * wide + (mode_.weights ? 2 * wide : 0), 1, 2);
}

// Outputs that are not a multiple of eight (GPT-2's 50,257 logits) miss the aligned kernels unless torch.compile pads
// them.
double EagerOps::rate_for(double outputs) const {
  const auto n = static_cast<long long>(outputs);
  if (n % 8 == 0 || mode_.compiled) return linear_rate();
  return linear_rate() * (n % 2 != 0 ? c_.odd_width : c_.even_width);
}

OpTime EagerOps::product(double m, double n, double k, double rate) const {
  if (mode_.full32) return matmul_time(gpu_, {m, n, k}, WeightFormat::kFp32, c_.fp32_rate);
  return matmul_time(gpu_, {m, n, k}, WeightFormat::kHalf, rate);
}

void EagerOps::linear(double rows, double inputs, double outputs, bool bias, double e, double rank) {
  if (mode_.amp && rank == 0) {
    if (e == 4 && !mode_.compiled) {
      cost_.forward.traffic += bytes(6 * rows * inputs);
      cost_.forward.casts += 1;
      if (mode_.gradients) cost_.backward.traffic += bytes(6 * rows * inputs), cost_.backward.casts += 1;
    }
    cost_.forward.traffic += bytes(6 * inputs * outputs);
    cost_.forward.casts += 1;
    if (mode_.weights) cost_.backward.traffic += bytes(6 * inputs * outputs), cost_.backward.casts += 1;
  }
  const double rate = rate_for(outputs);
  // nf4 blocks are expanded to 16 bits before each product, in both directions (bitsandbytes keeps no copy).
  if (mode_.quantized) pass(inputs * outputs, 2.53, 2.53, 2, 2);
  if (mode_.compiled && static_cast<long long>(outputs) % 8 != 0) {
    // torch.compile copies what it pads: the weight before each product with it, the gradient of the result.
    pass(inputs * outputs, 4, 4);
    backward_bytes(4 * rows * outputs, 1);
  }
  cost_.forward.matmul += product(rows, outputs, inputs, rate).time;
  cost_.forward.kernels += 1;
  cost_.views += 2;
  if (mode_.gradients) {
    cost_.backward.matmul += product(rows, inputs, outputs, rate).time;
    cost_.backward.kernels += 1;
  }
  if (mode_.weights && mode_.gradients) {
    cost_.backward.matmul += product(inputs, outputs, rows, rate).time;
    cost_.backward.kernels += 2;
    if (bias) backward_bytes(2 * rows * outputs, 1);
  }
  if (rank > 0) adapter(rows, inputs, outputs);
}

// PEFT keeps its factors in fp32: the input is cast up, two thin products, scaled, added, cast back. Thin products are
// bound by reading x and writing y, whatever the rank.
void EagerOps::adapter(double rows, double inputs, double outputs) {
  cost_.adapters += 1;
  const BytesPerSecond speed = gpu_.bandwidth * c_.lora_bandwidth;
  cast(rows * inputs, 2, 4);
  cost_.forward.lora += bytes(4 * rows * (inputs + outputs)) / speed;
  cost_.forward.kernels += 2;
  pass(rows * outputs, 8, 8);
  pass(rows * outputs, 10, 6);
  cast(rows * outputs, 4, 2);
  cost_.backward.lora += bytes(12 * rows * (inputs + outputs)) / speed;
  cost_.backward.kernels += 7;
  accumulate(rows * inputs, 2);
  cost_.views += 4;
}

// x * cos + rotate_half(x) * sin in pieces; `cos_bytes` is 4 under autocast, which lifts the result to fp32.
void EagerOps::rotary(double n, double cos_bytes) {
  const double e = 2, out = std::max(e, cos_bytes);
  pass(n, e + out, 2 * out);
  pass(n / 2, 2 * e, 2 * out);
  pass(n, 2 * e, 2 * out);
  pass(n, e + out, 2 * out);
  pass(n, 3 * out, 0, 1, 0);
  backward_bytes(n * 10 * out, 5);
  cost_.views += 6;
  if (out != e) {
    backward_bytes(n * (e + out), 2);
    cast(n, out, e);
  }
}

// F = 4 b a s^2 d, half when causal without a mask; the backward computes 2.5 times as much.
void EagerOps::flash_attention(const EagerAttention& a) {
  constexpr double kBlock = 128.0;
  const double rows = a.batch * a.sequence;
  const Flops work = flop(2.0 * a.scores() * (a.head_dim + a.value_dim) * (a.causal && !a.masked ? 0.5 : 1.0));
  double rate =
      c_.attention_rate * gpu_.attention_scale * std::pow(std::min(a.head_dim, 128.0) / 128.0, c_.attention_head_gamma);
  if (a.masked) rate *= c_.attention_mask;
  if (mode_.compiled) rate *= c_.compiled_attention;
  if (a.head_dim > 128) rate *= c_.attention_wide_head;
  const double waves =
      1.0 + c_.attention_occupancy * gpu_.sms / (a.batch * a.heads * std::max(1.0, a.sequence / kBlock));
  const FlopsPerSecond reached = mode_.full32 ? gpu_.fp32 * c_.fp32_attention : gpu_.half * rate;
  cost_.forward.attention += work / reached * waves + microseconds(4);
  cost_.forward.kernels += 1;
  cost_.views += 8;
  if (mode_.gradients) {
    cost_.backward.attention += work * 2.5 / (reached * c_.attention_backward) * waves + microseconds(8);
    backward_bytes(rows * a.heads * a.head_dim * 12, 3);
  }
  if (a.masked && a.kv_heads != a.heads) pass(2 * rows * a.heads * a.head_dim, 4, 4, 2, 2);
}

void EagerOps::batched_product(double multiplies) {
  const Seconds time = flop(2.0 * multiplies) / (gpu_.half * c_.batched_rate);
  cost_.forward.attention += time;
  cost_.forward.kernels += 1;
  if (!mode_.gradients) return;
  cost_.backward.attention += time * 2.0;
  cost_.backward.kernels += 2;
}

void EagerOps::eager_attention(const EagerAttention& a) {
  const double rows = a.batch * a.sequence;
  batched_product(a.scores() * a.head_dim);
  batched_product(a.scores() * a.value_dim);
  // With sinks, rows are one longer than the keys and not aligned.
  const double slow = a.sinks ? c_.sink_scores : 1;
  pass(a.scores(), slow * c_.eager_scores_forward, slow * c_.eager_scores_backward, a.sinks ? 10 : 6, a.sinks ? 12 : 6);
  pass(rows * a.heads * a.head_dim * 3, 4, 4, 3, 3);
  cost_.views += 10;
}

void EagerOps::math_attention(const EagerAttention& a) {
  const double rows = a.batch * a.sequence;
  const Flops work = flop(4.0 * a.scores() * a.head_dim);
  cost_.forward.attention += work / (gpu_.fp32 * c_.fp32_batched);
  if (mode_.gradients) cost_.backward.attention += work * 2.0 / (gpu_.fp32 * c_.fp32_batched);
  pass(rows * a.heads * a.head_dim * 3, 6, 6, 3, 3);
  pass(rows * a.heads * a.head_dim * 2, 8, 8, 4, 4);
  pass(a.scores(), c_.math_scores_forward, c_.math_scores_backward, 8, 8);
  cost_.views += 10;
}

// Five kernels (chunk sums, states, their recurrence, scores, outputs); the backward pass recomputes the states.
void EagerOps::scan(const model::ScanOp& how, double tokens) {
  const Seconds once = scan_time(gpu_, how, 1, tokens).time;
  cost_.forward.attention += once;
  cost_.forward.kernels += 5;
  if (!mode_.gradients) return;
  cost_.backward.attention += once * 3.0;
  cost_.backward.kernels += 12;
}

// transformers 5 sorts tokens by expert and runs one grouped product. Under autocast the grouped product stays fp32;
// PEFT adapts stacked experts by merging whole expert tensors.
void EagerOps::expert_mlp(double tokens, const model::ExpertsOp& how) {
  const double experts = static_cast<double>(how.count), f = static_cast<double>(how.intermediate);
  const double h = static_cast<double>(how.hidden), routed = tokens * static_cast<double>(how.per_token);
  const Matmul up{std::max(1.0, routed / experts), 2 * f, h}, down{up.m, h, f};
  const double rate = linear_rate() * c_.expert_rate;
  const bool lora = mode_.lora_experts > 0;
  Seconds once = grouped_matmul_time(gpu_, experts, up, WeightFormat::kHalf, rate).time +
                 grouped_matmul_time(gpu_, experts, down, WeightFormat::kHalf, rate).time;
  if ((mode_.amp && !lora) || mode_.full32) {
    once = flop(6.0 * routed * f * h) / (gpu_.fp32 * c_.fp32_expert_rate);
    cost_.forward.kernels += experts * 3;
    if (mode_.gradients) cost_.backward.kernels += experts * 4;
  }
  cost_.forward.matmul += once;
  if (mode_.gradients) cost_.backward.matmul += once * 2.0;
  if (lora) pass(experts * 3 * f * h, c_.merged_expert_bytes, c_.merged_expert_bytes, 8, 8);
  pass(routed * h, 4, 8, 12, 10);
  pass(routed * 2 * f, 5, 5);
  if (how.clamped) {
    pass(routed * f, 32, 80, 7, 16);                                // seven elementwise kernels over strided halves
    pass(routed * (2 * f + h), 8, 2 + c_.expert_bias_bytes, 4, 8);  // biases per token, summed by expert
  } else {
    pass(routed * f, 10, 18, 2, 4);
  }
  pass(routed * h, 5, 5);
  pass(routed * h, 6, 10, 2, 3);
  pass(routed * h, 4, 4);
  pass(routed * h, 3, 4);
  cost_.views += 20;
  cost_.routes += 1;
  accumulate(tokens * h, 2);
}

}  // namespace rightsize::perf
