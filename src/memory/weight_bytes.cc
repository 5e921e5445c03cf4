#include "memory/weight_bytes.h"

#include <cmath>

#include "model/serve_settings.h"

namespace rightsize::memory {
namespace {

using model::Precision;
using model::Weight;
using model::WeightRole;

double blocks(double elements, double size) { return std::ceil(elements / size); }

// A quantized matrix with its scales. Layouts: fp8 and int8 one fp32 scale per output channel (compressed-tensors);
// int4 groups of 128 inputs with an fp16 scale and a 4-bit zero (AWQ, GPTQ); nf4 blocks of 64 with 8-bit absmax, one
// fp32 per 256 blocks, and the two code books (bitsandbytes, double quantization); fp4 blocks of 16 with an fp8 scale
// and one fp32 per tensor (NVFP4).
double matrix_bytes(double rows, double cols, Precision format) {
  const double n = rows * cols;
  switch (format) {
    case Precision::kFp32:
    case Precision::kAmpBf16:
    case Precision::kAmpFp16:
      return 4 * n;
    case Precision::kFp8:
    case Precision::kInt8:
      return n + 4 * rows;
    case Precision::kInt4:
      return n / 2 + rows * blocks(cols, 128) * 2.5;
    case Precision::kNf4:
      return std::ceil(n / 2) + blocks(n, 64) + 4 * blocks(blocks(n, 64), 256) + 16 * 4 + 256 * 4 + 4;
    case Precision::kFp4:
      return std::ceil(n / 2) + rows * blocks(cols, 16) + 4;
    case Precision::kBf16:
    case Precision::kFp16:
    case Precision::kMixedBf16:
      return 2 * n;
  }
  return 2 * n;
}

double plain_bytes(Precision format) {
  return format == Precision::kFp32 || format == Precision::kAmpBf16 || format == Precision::kAmpFp16 ? 4 : 2;
}

bool is_quantized(const Weight& weight, bool embeddings) {
  if (weight.role == WeightRole::kTokenEmbedding || weight.role == WeightRole::kHead) return embeddings;
  return weight.linear || weight.role == WeightRole::kExpert;
}

// Embeddings, head, attention, MLP and experts are cut by tensor parallelism; norms, routers and positions are not.
bool is_split(WeightRole role) {
  return role == WeightRole::kTokenEmbedding || role == WeightRole::kHead || role == WeightRole::kAttention ||
         role == WeightRole::kMlp || role == WeightRole::kExpert;
}

// The fullest stage has its share of layers, rounded up, and one end of the model (the larger, with the head).
Bytes on_fullest_stage(const model::ModelShape& model, const model::Parallelism& parallel, Bytes layers, Bytes ends) {
  const double stage =
      model.layers > 0 ? std::ceil(static_cast<double>(model.layers) / parallel.pipeline) / model.layers : 1;
  return layers * stage + (parallel.pipeline > 1 ? ends / 2 : ends);
}

}  // namespace

Bytes weight_bytes(const Weight& weight, Precision format, int tensor, bool embeddings) {
  const double share = is_split(weight.role) ? tensor : 1;
  const double rows = static_cast<double>(weight.rows), cols = static_cast<double>(weight.cols);
  const double plain = plain_bytes(format);
  // Row- and column-parallel halves hold the same bytes; dividing the rows keeps the arithmetic exact for both.
  const double matrix = is_quantized(weight, embeddings) ? matrix_bytes(std::ceil(rows / share), cols, format)
                                                         : plain * std::ceil(rows / share) * cols;
  const double bias = weight.has_bias ? plain * std::ceil(rows / share) : 0;
  return bytes((matrix + bias) * static_cast<double>(weight.copies));
}

Bytes model_weight_bytes(const model::ModelShape& model, Precision format, const model::Parallelism& parallel,
                         bool embeddings) {
  Bytes layers, ends;
  for (const Weight& weight : model.weights) {
    Bytes held = weight_bytes(weight, format, parallel.tensor, embeddings);
    if (weight.role == WeightRole::kExpert) held = held / parallel.expert;
    (weight.block != 0 ? layers : ends) += held;
  }
  return on_fullest_stage(model, parallel, layers, ends);
}

Bytes served_weight_bytes(const model::ModelShape& model, const model::Job& job) {
  const model::ServedFormats formats =
      model::served_formats(model.experts.has_value(), model::checkpoint_precision(model), job.precision);
  const model::Parallelism& p = job.parallel;
  const double experts = model.experts ? static_cast<double>(model.experts->count) : 1;
  const double slots =
      model.experts ? static_cast<double>(model::expert_slots(model.experts->count, p.expert)) / experts : 1;
  Bytes layers, ends;
  for (const Weight& weight : model.weights) {
    const bool expert = weight.role == WeightRole::kExpert;
    // Whole experts on some GPUs or slices of all on each: the bytes are the same.
    const Bytes held = weight_bytes(weight, expert ? formats.experts : formats.dense,
                                    expert ? p.tensor : p.attention_tensor(), job.serve.quantize_embeddings) *
                       (expert ? slots : 1);
    (weight.block != 0 ? layers : ends) += held;
  }
  return on_fullest_stage(model, p, layers, ends);
}

double bytes_per_element(Precision format) {
  switch (format) {
    case Precision::kFp8:
    case Precision::kInt8:
      return 1;
    case Precision::kFp4:
      return 0.5625;
    case Precision::kFp32:
      return 4;
    default:
      return 2;
  }
}

}  // namespace rightsize::memory
