// Command R and R7B: attention and MLP in parallel, tied embeddings.
#include "families/decoder.h"

namespace rightsize::model {
namespace {

const DecoderStyle kCohere = {
    .vocabulary = 256'000,
    .intermediate = 22'528,
    .heads = 64,
    .context = 8'192,
    .tied = true,
    .attention_bias = false,
    .norm = NormKind::kLayerSpelled,
    .layer_norms = {"input_layernorm"},
    .order = BlockOrder::kParallel,
    .residual_first = true,
    .wide_rotation = true,
    .scaled_logits = true,
};

void read_cohere(const Config& config, ModelShape& shape) {
  DecoderStyle style = kCohere;
  if (config.flag("use_qk_norm", false)) style.qk_norm = QkNorm::kEachHead;
  read_decoder(config, shape, style);
}

void read_cohere2(const Config& config, ModelShape& shape) {
  DecoderStyle style = kCohere;
  style.exact = false;
  style.window = 4'096;
  shape.full_attention_every = config.count({"sliding_window_pattern", "_sliding_window_pattern"}, 4);
  read_decoder(config, shape, style);
}

}  // namespace

Families cohere() {
  return {
      {"cohere", "Command R: parallel block, tied embeddings", read_cohere},
      {"cohere2", "Command R7B: full attention in every fourth layer", read_cohere2},
  };
}

}  // namespace rightsize::model
