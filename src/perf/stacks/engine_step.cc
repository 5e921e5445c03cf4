#include "perf/stacks/engine_step.h"

#include <algorithm>
#include <cmath>

#include "perf/kernels/scan.h"

namespace rightsize::perf {
namespace {

constexpr double kElementwiseShare = 0.7;  // of the bandwidth, in norms, rotations and activations

// Bytes of the fused elementwise kernels, for each element of a row of hidden states and of an MLP's inner width.
// Decode: two norms that add the residual (8 each), rotation and quantization around attention (8); the gate (6).
// Prefill writes the cache and gathers rows besides.
struct ElementwiseBytes {
  double hidden, inner;
};
constexpr ElementwiseBytes kDecodeBytes{24, 6}, kPrefillBytes{32, 8};

OpTime product_time(const GpuSpeed& gpu, const EngineLayout& layout, const Product& product, double rows) {
  const double t = layout.tensor;
  return matmul_time(gpu, {rows, product.outputs_on(t), product.inputs_on(t)}, layout.format);
}

// Tokens choose experts as if at random: of E, E (1 - (1 - k/E)^rows) are read.
OpTime expert_products(const GpuSpeed& gpu, const EngineLayout& layout, const model::ExpertsOp& how, double rows) {
  const double count = static_cast<double>(how.count), per_token = static_cast<double>(how.per_token);
  const double hidden = static_cast<double>(how.hidden);
  const double read = std::max(1.0, count * (1.0 - std::pow(1.0 - per_token / count, rows)));
  const double each = std::max(1.0, rows * per_token / read);
  const double inner = static_cast<double>(how.intermediate) / layout.tensor, sides = how.gated ? 2.0 : 1.0;
  OpTime sum = grouped_matmul_time(gpu, read, {each, sides * inner, hidden}, layout.format);
  sum += grouped_matmul_time(gpu, read, {each, hidden, inner}, layout.format);
  return sum;
}

OpTime all_products(const ModelWork& work, const GpuSpeed& gpu, const EngineLayout& layout, double rows,
                    double logit_rows) {
  OpTime sum;
  for (const LayerWork& layer : work.kinds) sum += layer_products(work, layer, gpu, layout, rows) * layer.count;
  // The head stays 16-bit under quantized weights.
  sum += matmul_time(gpu, {logit_rows, work.vocabulary / layout.tensor, work.hidden}, WeightFormat::kHalf);
  return sum;
}

// Elements of the MLP's inner width that work on a token.
double inner_width(const ModelWork& work, const LayerWork& layer) {
  double width = 0;
  for (const Product& product : layer.products) {
    if (product.part == Product::Part::kDown) width += product.inputs;
  }
  if (layer.experts < 0) return width;
  const model::ExpertsOp& how = work.mixtures[static_cast<std::size_t>(layer.experts)];
  return width + static_cast<double>(how.intermediate * how.per_token);
}

Seconds elementwise_time(const ModelWork& work, const GpuSpeed& gpu, const EngineLayout& layout, double rows,
                         const ElementwiseBytes& each) {
  double sum = 0;
  for (const LayerWork& layer : work.kinds) {
    sum += layer.count * (each.hidden * work.hidden + each.inner * inner_width(work, layer) / layout.tensor);
  }
  return traffic_time(gpu, bytes(rows * sum), kElementwiseShare);
}

// After attention and after the MLP of every layer that has them.
Seconds all_reduces(const ModelWork& work, const GpuSpeed& gpu, const Cluster& cluster, const EngineLayout& layout,
                    double rows) {
  return engine_all_reduce_time(gpu, cluster, layout.tensor, bytes(2 * rows * work.hidden)) * work.reductions;
}

double key_heads(const model::AttentionOp& a, const EngineLayout& layout) {
  return std::max(1.0, static_cast<double>(a.kv_heads) / layout.tensor);
}

}  // namespace

OpTime layer_products(const ModelWork& work, const LayerWork& layer, const GpuSpeed& gpu, const EngineLayout& layout,
                      double rows) {
  OpTime sum;
  for (const Product& product : layer.products) sum += product_time(gpu, layout, product, rows);
  if (layer.experts >= 0)
    sum += expert_products(gpu, layout, work.mixtures[static_cast<std::size_t>(layer.experts)], rows);
  return sum;
}

OpTime decode_attention(const GpuSpeed& gpu, const EngineLayout& layout, const model::AttentionOp& how, double batch,
                        double context) {
  DecodeAttention attention;
  attention.batch = batch;
  // Layers with a window read no more than it.
  attention.context = how.window > 0 ? std::min(context, static_cast<double>(how.window)) : context;
  attention.heads = static_cast<double>(how.heads) / layout.tensor;
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
  attention.heads = static_cast<double>(how.heads) / layout.tensor;
  attention.kv_heads = key_heads(how, layout);
  attention.head_dim = static_cast<double>(how.head_dim);
  attention.causal = how.causal;
  return prefill_attention_time(gpu, attention);
}

EngineWork decode_work(const ModelWork& work, const GpuSpeed& gpu, const Cluster& cluster, const EngineLayout& layout,
                       double batch, double context) {
  EngineWork step;
  step.matmul = all_products(work, gpu, layout, batch, batch);
  for (const LayerWork& layer : work.kinds) {
    for (int number : layer.attentions) {
      const model::AttentionOp& how = work.attentions[static_cast<std::size_t>(number)];
      step.attention += decode_attention(gpu, layout, how, batch, context) * layer.count;
    }
    for (int number : layer.scans) {
      step.attention +=
          scan_step_time(gpu, work.scans[static_cast<std::size_t>(number)], layout.tensor, batch) * layer.count;
    }
  }
  step.all_reduce = all_reduces(work, gpu, cluster, layout, batch);
  step.elementwise = elementwise_time(work, gpu, layout, batch, kDecodeBytes);
  return step;
}

namespace {

// The images of a prompt, each through all layers of the tower, in 16 bits.
void add_tower(const ModelWork& work, const GpuSpeed& gpu, const EngineLayout& layout, EngineWork& step) {
  EngineLayout half = layout;
  half.format = WeightFormat::kHalf;
  for (const LayerWork& layer : work.tower->kinds) {
    for (int number : layer.attentions) {
      const model::AttentionOp& how = work.tower->attentions[static_cast<std::size_t>(number)];
      const double patches = static_cast<double>(how.query_tokens), seen = static_cast<double>(how.key_tokens);
      const double times = layer.count * work.tower_images;
      step.matmul += layer_products(*work.tower, layer, gpu, half, patches) * times;
      step.attention += prefill_attention(gpu, half, how, patches / seen, seen) * times;
    }
  }
}

}  // namespace

EngineWork prefill_work(const ModelWork& work, const GpuSpeed& gpu, const Cluster& cluster, const EngineLayout& layout,
                        double tokens) {
  EngineWork step;
  step.matmul = all_products(work, gpu, layout, tokens, 1);
  for (const LayerWork& layer : work.kinds) {
    for (int number : layer.attentions) {
      const model::AttentionOp& how = work.attentions[static_cast<std::size_t>(number)];
      step.attention += prefill_attention(gpu, layout, how, 1, tokens) * layer.count;
    }
    for (int number : layer.scans) {
      step.attention +=
          scan_time(gpu, work.scans[static_cast<std::size_t>(number)], layout.tensor, tokens) * layer.count;
    }
  }
  if (work.tower) add_tower(work, gpu, layout, step);
  step.all_reduce = all_reduces(work, gpu, cluster, layout, tokens);
  step.elementwise = elementwise_time(work, gpu, layout, tokens, kPrefillBytes);
  return step;
}

}  // namespace rightsize::perf
