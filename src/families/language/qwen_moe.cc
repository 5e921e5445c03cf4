// Qwen mixtures: 1.5 and 2 with a shared expert, 3 with 128 small experts.
#include <algorithm>

#include "families/qwen_style.h"

namespace rightsize::model {
namespace {

const FieldNames kExpertCount = {"num_experts", "num_local_experts"};

// Every decoder_sparse_step-th layer has experts, except those listed.
void read_mixture(const Config& config, ModelShape& shape, const DecoderStyle& style) {
  read_decoder_sizes(config, style, shape);
  const int step = config.count("decoder_sparse_step", 1, 1, kMostLayers);
  std::vector<Decoder::Run> layers;
  for (int i = 0; i < shape.layers; ++i) layers.push_back({1, (i + 1) % step == 0});
  const auto dense = config.json().get_ints("mlp_only_layers", 0, kMostLayers);
  for (std::int64_t listed : dense.value_or(std::vector<std::int64_t>{})) {
    if (listed < shape.layers) layers[static_cast<std::size_t>(listed)].experts = false;
  }
  shape.experts->dense_layers =
      static_cast<int>(std::ranges::count_if(layers, [](const Decoder::Run& layer) { return !layer.experts; }));
  Decoder(config, style, shape).write(Decoder::runs_of(layers));
}

void read_qwen2_moe(const Config& config, ModelShape& shape) {
  DecoderStyle style = qwen_style(config);
  style.intermediate = 5'632;
  style.heads = style.kv_heads = 16;
  style.experts = {60, 4, kExpertCount, 1'408, 5'632};
  style.qkv_bias = config.flag("qkv_bias", true);
  style.adapted_experts = false;
  style.shared_switch = true;
  style.exact = false;
  read_mixture(config, shape, style);
}

void read_qwen3_moe(const Config& config, ModelShape& shape) {
  DecoderStyle style = qwen_style(config);
  style.intermediate = 6'144;
  style.kv_heads = 4;
  style.attention_bias = false;
  style.experts = {128, 8, kExpertCount, 768};
  style.qk_norm = QkNorm::kPerHead;
  read_mixture(config, shape, style);
}

}  // namespace

Families qwen_moe() {
  return {
      {"qwen2_moe", "Qwen 1.5 and 2 mixtures, with a shared expert", read_qwen2_moe},
      {"qwen3_moe", "Qwen 3 mixtures: 128 small experts, 8 per token", read_qwen3_moe},
  };
}

}  // namespace rightsize::model
