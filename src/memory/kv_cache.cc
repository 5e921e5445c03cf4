#include "memory/kv_cache.h"

#include <algorithm>
#include <cmath>

#include "memory/weight_bytes.h"
#include "model/serve_settings.h"

namespace rightsize::memory {
namespace {

// Elements cached per token and layer on one GPU.
double elements_per_token_and_layer(const model::ModelShape& model, int tensor) {
  if (model.latent)
    return static_cast<double>(model.latent->kv_rank + model.latent->rope_dim + model.latent->index_dim);
  const int heads = std::max(1, (model.kv_heads + tensor - 1) / tensor);
  return 2.0 * heads * model.head_dim;
}

// Layers with full attention on the fullest pipeline stage.
struct LayerKinds {
  double full = 0, windowed = 0;
};

LayerKinds layers_on_a_stage(const model::ModelShape& model, int pipeline) {
  const double stage = std::ceil(static_cast<double>(model.layers - model.uncached_layers) / pipeline);
  if (model.sliding_window <= 0) return {stage, 0};
  const double full = model.full_attention_every > 0 ? std::ceil(stage / model.full_attention_every) : 0;
  return {full, stage - full};
}

double in_pages(double tokens, std::int64_t page) {
  const auto size = static_cast<double>(page);
  return std::ceil(tokens / size) * size;
}

}  // namespace

Checkpoint checkpoint_of(const model::ModelShape& model) {
  return {model::checkpoint_precision(model), model.cache_scales};
}

model::Precision kv_format(const model::Job& job, const Checkpoint& checkpoint, bool four_bits) {
  using model::Precision, model::Stack;
  if (job.serve.kv_precision) return *job.serve.kv_precision;
  const auto narrow = [](Precision format) { return format == Precision::kFp8 || format == Precision::kFp4; };
  if (!narrow(job.precision) || job.stack == Stack::kHf) return Precision::kBf16;
  // Weights published in 4 bits are not converted to 8: model::served_formats.
  const bool published =
      narrow(checkpoint.format) && (job.precision == checkpoint.format || checkpoint.format == Precision::kFp4);
  const bool scales = published && checkpoint.cache_scales;
  const bool usual = job.stack == Stack::kTrtLlm ? checkpoint.format != Precision::kFp4 || four_bits
                                                 : job.stack == Stack::kVllm && !published;
  return scales || usual ? Precision::kFp8 : Precision::kBf16;
}

Bytes kv_sequence_bytes(const model::ModelShape& model, std::int64_t tokens, const KvLayout& layout) {
  const LayerKinds layers = layers_on_a_stage(model, layout.pipeline);
  const auto all = static_cast<double>(tokens);
  const double window = layout.whole_windows ? all : std::min(all, static_cast<double>(model.sliding_window));
  const double held = layers.full * in_pages(all, layout.page) + layers.windowed * in_pages(window, layout.page);
  // Recurrent layers keep a state of constant size, split like the heads.
  const double state = static_cast<double>(model.state_bytes) / (layout.tensor * layout.pipeline);
  return bytes(held * elements_per_token_and_layer(model, layout.tensor) * bytes_per_element(layout.format) + state);
}

Bytes kv_token_bytes(const model::ModelShape& model, const KvLayout& layout) {
  const LayerKinds layers = layers_on_a_stage(model, layout.pipeline);
  return bytes((layers.full + layers.windowed) * elements_per_token_and_layer(model, layout.tensor) *
               bytes_per_element(layout.format));
}

}  // namespace rightsize::memory
