#include "perf/stacks/engine_step.h"

#include <algorithm>
#include <cmath>

#include "base/coverage.h"
#include "perf/kernels/scan.h"

namespace rightsize::perf {
namespace {

// The expected maximum of n standard normal numbers, n = 1, 2, 4 ... 256 (Harter 1961, Biometrika 48).
double largest_of(double n) {
  constexpr double kLargest[] = {0, 0.564, 1.029, 1.424, 1.766, 2.070, 2.344, 2.594, 2.823};
  const double at = std::clamp(std::log2(n), 0.0, 8.0);
  const auto below = static_cast<std::size_t>(std::min(at, 7.0));
  return kLargest[below] + (kLargest[below + 1] - kLargest[below]) * (at - static_cast<double>(below));
}

// Tokens of the busiest expert group relative to the mean. The popularity of groups varies with that of their experts,
// and `visits` draws add sampling noise.
double busiest_group(const EngineLayout& layout, double count, double visits) {
  const double groups = layout.expert;
  if (groups <= 1) return 1;
  const double uneven = layout.evenness > 0 ? groups / (layout.evenness * count) : 0;
  return std::min(groups, 1 + largest_of(groups) * std::sqrt(uneven + groups / std::max(visits, 1.0)));
}

OpTime expert_products(const GpuSpeed& gpu, const EngineLayout& layout, const model::ExpertsOp& how, double rows) {
  const double count = static_cast<double>(how.count), per_token = static_cast<double>(how.per_token);
  const double hidden = static_cast<double>(how.hidden), visits = rows * per_token;
  const double here = std::ceil(count / layout.expert);
  const double busiest = busiest_group(layout, count, visits);
  const double read = std::max(1.0, here * share_reached(per_token / count, rows * busiest, layout.evenness));
  const double each = std::max(1.0, visits / layout.expert * busiest / read);
  const double inner = static_cast<double>(how.intermediate) * layout.expert / layout.tensor;
  const double sides = how.gated ? 2.0 : 1.0;
  OpTime sum = grouped_matmul_time(gpu, read, {each, sides * inner, hidden}, layout.experts);
  sum += grouped_matmul_time(gpu, read, {each, hidden, inner}, layout.experts);
  return sum;
}

OpTime dense_products(const LayerWork& layer, const GpuSpeed& gpu, const EngineLayout& layout, double rows) {
  OpTime sum;
  const double t = layout.attention_tensor();
  for (const Product& product : layer.products)
    sum += matmul_time(gpu, {rows, product.outputs_on(t), product.inputs_on(t)}, layout.format);
  return sum;
}

// Elements of the MLP's inner width that are active per token.
double inner_width(const ModelWork& work, const LayerWork& layer) {
  const double width = layer.dense_width();
  if (layer.experts < 0) return width;
  const model::ExpertsOp& how = work.mixtures[static_cast<std::size_t>(layer.experts)];
  return width + static_cast<double>(how.intermediate * how.per_token);
}

Seconds elementwise_time(const ModelWork& work, const GpuSpeed& gpu, const EngineLayout& layout, double rows,
                         const ElementwiseBytes& each) {
  double sum = 0;
  for (const LayerWork& layer : work.kinds) {
    sum += layer.count *
           (each.hidden * work.hidden / layout.attention + each.inner * inner_width(work, layer) / layout.tensor);
  }
  return traffic_time(gpu, bytes(rows * sum), kElementwiseShare);
}

// Communication between the GPUs of a copy. Tensor parallel: all-reduces after attention and after the MLP of every
// layer, by the engines' own kernels. Split attention: all-reduces within a group, and around experts either all-gather
// and reduce-scatter, or all-to-all to the GPUs of each token's experts and back; engines choose the faster. Neither
// half of an all-reduce takes longer than the engine's own all-reduce kernel. Norms over all heads sum the squares of q
// and of k, two numbers per row.
Seconds exchanges(const ModelWork& work, const GpuSpeed& gpu, const Cluster& cluster, const EngineLayout& layout,
                  double rows) {
  const Bytes all = bytes(2 * rows * work.hidden);
  const Seconds norms =
      work.norm_reductions > 0
          ? engine_all_reduce_time(gpu, cluster, layout.attention_tensor(), bytes(8 * rows)) * work.norm_reductions
          : Seconds{};
  if (layout.attention == 1) return norms + engine_all_reduce_time(gpu, cluster, layout.tensor, all) * work.reductions;
  const Bytes own = all / layout.attention;
  const double dense = work.layers - work.expert_layers;
  Seconds sum = norms + engine_all_reduce_time(gpu, cluster, layout.attention_tensor(), own) * (work.layers + dense);
  const Seconds reduced = engine_all_reduce_time(gpu, cluster, layout.tensor, all);
  const Seconds gathered =
      std::min(reduced, collective_time(gpu, cluster, Collective::kAllGather, layout.tensor, all)) +
      std::min(reduced, collective_time(gpu, cluster, Collective::kReduceScatter, layout.tensor, all));
  const double copies = std::min(work.experts_per_token, static_cast<double>(layout.expert));
  const Seconds sent = collective_time(gpu, cluster, Collective::kAllToAll, layout.tensor, own * copies) * 2.0;
  sum += (layout.expert > 1 ? std::min(gathered, sent) : gathered) * work.expert_layers;
  return sum;
}

double key_heads(const model::AttentionOp& a, const EngineLayout& layout) {
  return std::max(1.0, static_cast<double>(a.kv_heads) / layout.attention_tensor());
}

// All products of a pass. Each attention group has `own` rows, all groups together `rows`.
void add_products(const ModelWork& work, const GpuSpeed& gpu, const EngineLayout& layout, double own, double rows,
                  double logit_rows, EngineWork& step) {
  const LayerWork* before = nullptr;
  OpTime dense, routed;
  for (const LayerWork& layer : work.kinds) {
    // Kinds that differ only in attention (windows) have the same products.
    if (before == nullptr || before->experts != layer.experts || before->products != layer.products) {
      dense = dense_products(layer, gpu, layout, own);
      const bool mixture = layer.experts >= 0;
      routed = mixture ? expert_products(gpu, layout, work.mixtures[static_cast<std::size_t>(layer.experts)], rows)
                       : OpTime{};
    }
    before = &layer;
    step.matmul += dense * layer.count;
    step.experts += routed * layer.count;
  }
  // The head stays 16-bit under quantized weights.
  const double columns = work.vocabulary / layout.attention_tensor();
  step.matmul += matmul_time(gpu, {logit_rows, columns, work.hidden}, WeightFormat::kHalf);
}

// The share of attention scores that `tokens` new tokens compute after `cached` ones, relative to a causal prompt of
// all tokens.
double new_scores(double tokens, double cached) {
  const double old = cached / (cached + tokens);
  return 1 - old * old;
}

// The share of those scores that a window keeps.
double windowed_scores(double tokens, double window) {
  if (!(window > 0) || window >= tokens) return 1;
  return window * (2 * tokens - window) / (tokens * tokens);
}

// The images of a prompt, each through all layers of the tower, in 16 bits.
void add_tower(const ModelWork& work, const GpuSpeed& gpu, const EngineLayout& layout, double prompts,
               EngineWork& step) {
  EngineLayout half = layout;
  half.format = WeightFormat::kHalf;
  for (const LayerWork& layer : work.tower->kinds) {
    for (int number : layer.attentions) {
      const model::AttentionOp& how = work.tower->attentions[static_cast<std::size_t>(number)];
      const double patches = static_cast<double>(how.query_tokens), seen = static_cast<double>(how.key_tokens);
      const double times = layer.count * work.tower_images * prompts;
      step.matmul += layer_products(*work.tower, layer, gpu, half, patches) * times;
      step.attention += prefill_attention(gpu, half, how, patches / seen, seen) * times;
    }
  }
}

}  // namespace

OpTime layer_products(const ModelWork& work, const LayerWork& layer, const GpuSpeed& gpu, const EngineLayout& layout,
                      double rows) {
  OpTime sum = dense_products(layer, gpu, layout, rows);
  if (layer.experts >= 0)
    sum += expert_products(gpu, layout, work.mixtures[static_cast<std::size_t>(layer.experts)], rows);
  return sum;
}

OpTime decode_attention(const GpuSpeed& gpu, const EngineLayout& layout, const model::AttentionOp& how, double batch,
                        double context) {
  DecodeAttention attention;
  attention.batch = batch;
  // Layers with a window read at most the window.
  attention.context = how.window > 0 ? std::min(context, static_cast<double>(how.window)) : context;
  attention.heads = static_cast<double>(how.heads) / layout.attention_tensor();
  attention.kv_heads = key_heads(how, layout);
  attention.head_dim = static_cast<double>(how.head_dim);
  attention.kv_bytes = layout.kv_bytes;
  attention.fp8_factor = layout.fp8_factor;
  attention.latent_width = static_cast<double>(how.latent_width);
  return decode_attention_time(gpu, attention);
}

OpTime prefill_attention(const GpuSpeed& gpu, const EngineLayout& layout, const model::AttentionOp& how, double batch,
                         double tokens) {
  PrefillAttention attention;
  attention.batch = batch;
  attention.sequence = tokens;
  attention.heads = static_cast<double>(how.heads) / layout.attention_tensor();
  attention.kv_heads = key_heads(how, layout);
  // Scores take the width of keys, sums that of values; latent attention has narrower values.
  attention.head_dim = static_cast<double>(how.head_dim + how.value_dim) / 2;
  attention.causal = how.causal;
  return prefill_attention_time(gpu, attention);
}

EngineWork decode_work(const ModelWork& work, const GpuSpeed& gpu, const Cluster& cluster, const EngineLayout& layout,
                       double batch, double context, double queries) {
  EngineWork step;
  const double own = std::max(1.0, batch / layout.attention), rows = batch * queries;
  add_products(work, gpu, layout, own * queries, rows, own * queries, step);
  for (const LayerWork& layer : work.kinds) {
    for (int number : layer.attentions) {
      const model::AttentionOp& how = work.attentions[static_cast<std::size_t>(number)];
      // All queries of a sequence share one read of its cache.
      step.attention += decode_attention(gpu, layout, how, own, context) * layer.count;
    }
    for (int number : layer.scans) {
      step.attention +=
          scan_step_time(gpu, work.scans[static_cast<std::size_t>(number)], layout.attention_tensor(), own) *
          layer.count;
    }
  }
  step.all_reduce = exchanges(work, gpu, cluster, layout, rows);
  step.elementwise = elementwise_time(work, gpu, layout, rows, kDecodeElementwise);
  return step;
}

EngineWork prefill_work(const ModelWork& work, const GpuSpeed& gpu, const Cluster& cluster, const EngineLayout& layout,
                        double prompts, double tokens, double cached) {
  EngineWork step;
  const double own = std::max(1.0, prompts / layout.attention), all = tokens + cached;
  add_products(work, gpu, layout, own * tokens, prompts * tokens, own, step);
  for (const LayerWork& layer : work.kinds) {
    for (int number : layer.attentions) {
      const model::AttentionOp& how = work.attentions[static_cast<std::size_t>(number)];
      const double share = new_scores(tokens, cached) * windowed_scores(all, static_cast<double>(how.window));
      step.attention += prefill_attention(gpu, layout, how, own, all) * (share * layer.count);
    }
    for (int number : layer.scans) {
      step.attention +=
          scan_time(gpu, work.scans[static_cast<std::size_t>(number)], layout.attention_tensor(), own * tokens) *
          layer.count;
    }
  }
  if (work.tower) add_tower(work, gpu, layout, prompts, step);
  step.all_reduce = exchanges(work, gpu, cluster, layout, prompts * tokens);
  step.elementwise = elementwise_time(work, gpu, layout, prompts * tokens, kPrefillElementwise);
  return step;
}

}  // namespace rightsize::perf
