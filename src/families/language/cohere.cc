// Command R and R7B: attention and MLP in parallel, tied embeddings.
#include "families/decoder.h"
#include "families/families.h"

namespace rightsize::model {
namespace {

DecoderStyle cohere_style(const Config& config) {
  DecoderStyle style;
  style.vocabulary = 256'000;
  style.intermediate = 22'528;
  style.heads = 64;
  style.context = 8'192;
  style.tied = true;
  style.qkv_bias = style.output_bias = config.flag("attention_bias", false);
  style.norm = NormKind::kLayerSpelled;
  style.layer_norms = {"input_layernorm"};
  style.order = BlockOrder::kParallel;
  style.residual_first = style.wide_rotation = style.scaled_logits = true;
  return style;
}

void read_cohere(const Config& config, ModelShape& shape) {
  DecoderStyle style = cohere_style(config);
  if (config.flag("use_qk_norm", false)) style.qk_norm = QkNorm::kEachHead;
  shape.parallel_block = true;
  read_decoder_sizes(config, style, shape);
  Decoder(config, style, shape).write();
}

void read_cohere2(const Config& config, ModelShape& shape) {
  DecoderStyle style = cohere_style(config);
  style.exact = false;
  shape.parallel_block = true;
  read_decoder_sizes(config, style, shape);
  shape.sliding_window = config.size("sliding_window", 4'096, kLongestContext);
  shape.full_attention_every = config.count({"sliding_window_pattern", "_sliding_window_pattern"}, 4);
  Decoder(config, style, shape).write();
}

}  // namespace

Families cohere() {
  return {
      {"cohere", "Command R: parallel block, tied embeddings", read_cohere},
      {"cohere2", "Command R7B: full attention in every fourth layer", read_cohere2},
  };
}

}  // namespace rightsize::model
