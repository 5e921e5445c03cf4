#include "perf/stacks/engine_step.h"

#include <algorithm>
#include <cmath>

namespace rightsize::perf {
namespace {

constexpr double kElementwiseShare = 0.7;  // of the bandwidth, in norms, rotations and activations

double key_heads(const ModelWork& work, const EngineLayout& layout) {
  return std::max(1.0, work.kv_heads / layout.tensor);
}

OpTime attention_matmuls(const ModelWork& work, const GpuSpeed& gpu, const EngineLayout& layout, double rows) {
  const double t = layout.tensor, h = work.hidden;
  auto product = [&](double n, double k) { return matmul_time(gpu, {rows, n, k}, layout.format); };
  if (work.kv_rank > 0) {
    const double per_head = work.nope_dim + work.rope_dim;
    OpTime sum = product(work.kv_rank + work.rope_dim, h);
    if (work.q_rank > 0) sum += product(work.q_rank, h);
    sum += product(work.heads * per_head / t, work.q_rank > 0 ? work.q_rank : h);
    sum += product(work.heads * (work.nope_dim + work.value_dim) / t, work.kv_rank);
    sum += product(h, work.heads * work.value_dim / t);
    return sum;
  }
  OpTime sum = product((work.heads / t + 2 * key_heads(work, layout)) * work.head_dim, h);
  sum += product(h, work.heads * work.head_dim / t);
  return sum;
}

OpTime mlp_matmuls(const ModelWork& work, const GpuSpeed& gpu, const EngineLayout& layout, double rows, double f) {
  const double t = layout.tensor;
  OpTime sum = matmul_time(gpu, {rows, (work.gated ? 2.0 : 1.0) * f / t, work.hidden}, layout.format);
  sum += matmul_time(gpu, {rows, work.hidden, f / t}, layout.format);
  return sum;
}

// Tokens choose experts as if at random: of E, E (1 - (1 - k/E)^rows) are read.
OpTime expert_matmuls(const ModelWork& work, const GpuSpeed& gpu, const EngineLayout& layout, double rows) {
  const double chance = work.experts_per_token / work.experts;
  const double read = std::max(1.0, work.experts * (1.0 - std::pow(1.0 - chance, rows)));
  const double each = std::max(1.0, rows * work.experts_per_token / read);
  const double f = work.expert_intermediate / layout.tensor;
  OpTime sum = grouped_matmul_time(gpu, read, {each, 2 * f, work.hidden}, layout.format);
  sum += grouped_matmul_time(gpu, read, {each, work.hidden, f}, layout.format);
  if (work.shared_intermediate > 0) sum += mlp_matmuls(work, gpu, layout, rows, work.shared_intermediate);
  return sum;
}

OpTime all_matmuls(const ModelWork& work, const GpuSpeed& gpu, const EngineLayout& layout, double rows,
                   double logit_rows) {
  const double sparse = work.expert_layers();
  OpTime sum;
  if (work.layers > sparse) sum += layer_matmuls(work, gpu, layout, rows, false) * (work.layers - sparse);
  if (sparse > 0) sum += layer_matmuls(work, gpu, layout, rows, true) * sparse;
  // The head stays 16-bit under quantized weights.
  sum += matmul_time(gpu, {logit_rows, work.vocabulary / layout.tensor, work.hidden}, WeightFormat::kHalf);
  return sum;
}

double mlp_width(const ModelWork& work) {
  if (work.experts == 0) return work.intermediate;
  return work.expert_intermediate * work.experts_per_token + work.shared_intermediate;
}

Seconds elementwise_time(const ModelWork& work, const GpuSpeed& gpu, const EngineLayout& layout, double rows,
                         double hidden_bytes, double mlp_bytes) {
  return traffic_time(
      gpu, bytes(work.layers * rows * (hidden_bytes * work.hidden + mlp_bytes * mlp_width(work) / layout.tensor)),
      kElementwiseShare);
}

Seconds all_reduces(const ModelWork& work, const GpuSpeed& gpu, const Cluster& cluster, const EngineLayout& layout,
                    double rows) {
  return engine_all_reduce_time(gpu, cluster, layout.tensor, bytes(2 * rows * work.hidden)) * (2 * work.layers);
}

// Layers with a window read no more than it.
double mean_context(const ModelWork& work, double context) {
  if (work.window <= 0 || context <= work.window) return context;
  const double full = work.full_every > 0 ? 1.0 / work.full_every : 0.0;
  return full * context + (1.0 - full) * work.window;
}

}  // namespace

OpTime layer_matmuls(const ModelWork& work, const GpuSpeed& gpu, const EngineLayout& layout, double rows,
                     bool experts) {
  OpTime sum = attention_matmuls(work, gpu, layout, rows);
  sum += experts ? expert_matmuls(work, gpu, layout, rows) : mlp_matmuls(work, gpu, layout, rows, work.intermediate);
  return sum;
}

EngineWork decode_work(const ModelWork& work, const GpuSpeed& gpu, const Cluster& cluster, const EngineLayout& layout,
                       double batch, double context) {
  EngineWork step;
  step.matmul = all_matmuls(work, gpu, layout, batch, batch);
  DecodeAttention attention;
  attention.batch = batch;
  attention.context = mean_context(work, context);
  attention.heads = work.heads / layout.tensor;
  attention.kv_heads = key_heads(work, layout);
  attention.head_dim = work.head_dim;
  attention.kv_bytes = layout.kv_bytes;
  attention.fp8_factor = layout.fp8_factor;
  attention.latent_width = work.latent_width();
  step.attention = decode_attention_time(gpu, attention) * work.layers;
  step.all_reduce = all_reduces(work, gpu, cluster, layout, batch);
  step.elementwise = elementwise_time(work, gpu, layout, batch, 24, 6);
  return step;
}

EngineWork prefill_work(const ModelWork& work, const GpuSpeed& gpu, const Cluster& cluster, const EngineLayout& layout,
                        double tokens) {
  EngineWork step;
  step.matmul = all_matmuls(work, gpu, layout, tokens, 1);
  PrefillAttention attention;
  attention.sequence = tokens;
  attention.heads = work.heads / layout.tensor;
  attention.kv_heads = work.kv_rank > 0 ? attention.heads : key_heads(work, layout);
  attention.head_dim = work.kv_rank > 0 ? work.nope_dim + work.rope_dim : work.head_dim;
  step.attention = prefill_attention_time(gpu, attention) * work.layers;
  step.all_reduce = all_reduces(work, gpu, cluster, layout, tokens);
  step.elementwise = elementwise_time(work, gpu, layout, tokens, 32, 8);
  return step;
}

}  // namespace rightsize::perf
