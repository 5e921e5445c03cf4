// The operations of one forward pass with their work, for pictures and for reading.
#include <algorithm>

#include "memory/weight_bytes.h"
#include "perf/stacks/estimate_parts.h"

namespace rightsize::perf {
namespace {

using model::Job;

class OpCollector {
 public:
  OpCollector(const ModelWork& work, const Job& job, const GpuSpeed& gpu, double rows)
      : work_(work), gpu_(gpu), rows_(rows), tensor_(job.parallel.tensor) {
    format_ = job.kind == model::JobKind::kServe ? weight_format(job.precision, gpu) : WeightFormat::kHalf;
    if (job.precision == model::Precision::kFp8) format_ = weight_format(job.precision, gpu);
  }

  void product(const char* name, double n, double k, double count, WeightFormat format) {
    ops_.push_back({name, matmul_time(gpu_, {rows_, n, k}, format), count});
  }
  void layers() {
    const double t = tensor_, h = work_.hidden, q = work_.heads * work_.head_dim;
    const double kv = std::max(1.0, work_.kv_heads / t) * work_.head_dim;
    const double layers = work_.layers + work_.encoder_layers, sparse = work_.expert_layers();
    product("q, k, v", q / t + 2 * kv, h, layers, format_);
    product("attention output", h, q / t, layers, format_);
    const double up = work_.gated ? 2 : 1;
    if (layers > sparse) {
      product(work_.gated ? "gate and up" : "up", up * work_.intermediate / t, h, layers - sparse, format_);
      product("down", h, work_.intermediate / t, layers - sparse, format_);
    }
    if (sparse > 0) experts(sparse);
    ops_.push_back({"norms and activations", elementwise(), layers});
  }
  void logits() { product("logits", work_.vocabulary / tensor_, work_.hidden, 1, WeightFormat::kHalf); }
  void attention(const OpTime& time) { ops_.push_back({"attention", time, work_.layers + work_.encoder_layers}); }

  std::vector<RooflineOp> take() { return std::move(ops_); }

 private:
  void experts(double layers) {
    const double each = std::max(1.0, rows_ * work_.experts_per_token / work_.experts);
    const double f = work_.expert_intermediate / tensor_;
    OpTime sum = grouped_matmul_time(gpu_, work_.experts, {each, 2 * f, work_.hidden}, format_);
    sum += grouped_matmul_time(gpu_, work_.experts, {each, work_.hidden, f}, format_);
    ops_.push_back({"experts", sum, layers});
  }
  OpTime elementwise() const {
    OpTime op;
    op.traffic = bytes(rows_ * (24 * work_.hidden + 6 * work_.intermediate / tensor_));
    op.flops = flop(rows_ * (10 * work_.hidden + 6 * work_.intermediate / tensor_));
    op.memory = op.time = traffic_time(gpu_, op.traffic, 0.7);
    return op;
  }

  const ModelWork& work_;
  const GpuSpeed& gpu_;
  double rows_, tensor_;
  WeightFormat format_ = WeightFormat::kHalf;
  std::vector<RooflineOp> ops_;
};

}  // namespace

std::vector<RooflineOp> roofline_ops(const ModelWork& work, const Job& job, const GpuSpeed& gpu, double batch,
                                     double new_tokens, double context) {
  if (work.image) return {};
  OpCollector ops(work, job, gpu, batch * new_tokens);
  ops.layers();
  const double heads = work.heads / job.parallel.tensor;
  const double kv_heads = std::max(1.0, work.kv_heads / job.parallel.tensor);
  if (new_tokens > 1) {
    ops.attention(prefill_attention_time(gpu, {batch, new_tokens, heads, kv_heads, work.head_dim, work.decoder}));
  } else {
    DecodeAttention attention{batch, context, heads, kv_heads, work.head_dim, 2, 0, work.latent_width()};
    attention.kv_bytes = memory::bytes_per_element(kv_format(job));
    ops.attention(decode_attention_time(gpu, attention));
  }
  if (work.head == OutputHead::kLanguageModel || work.head == OutputHead::kMaskedModel) ops.logits();
  return ops.take();
}

}  // namespace rightsize::perf
