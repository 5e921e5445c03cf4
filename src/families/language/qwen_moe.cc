// Qwen mixtures of experts: 1.5 and 2 with a shared expert, 3 with 128 small experts.
#include <algorithm>
#include <vector>

#include "families/decoder.h"
#include "families/families.h"

namespace rightsize::model {
namespace {

// Which layers have experts, in Qwen's terms: every decoder_sparse_step-th, except those listed.
std::vector<bool> sparse_layers(const Config& config, const ModelShape& shape) {
  int step = config.count("decoder_sparse_step", 1, 1, kMostLayers);
  std::vector<bool> sparse(static_cast<std::size_t>(shape.layers));
  for (std::size_t i = 0; i < sparse.size(); ++i) sparse[i] = (i + 1) % static_cast<std::size_t>(step) == 0;
  for (std::int64_t listed :
       config.json().get_ints("mlp_only_layers", 0, kMostLayers).value_or(std::vector<std::int64_t>{})) {
    if (listed < shape.layers) sparse[static_cast<std::size_t>(listed)] = false;
  }
  return sparse;
}

// Layers in order, each run of like layers as one block.
void write_qwen_moe(const Config& config, const DecoderStyle& style, ModelShape& shape) {
  const std::vector<bool> sparse = sparse_layers(config, shape);
  shape.experts->dense_layers = static_cast<int>(std::count(sparse.begin(), sparse.end(), false));
  if (config.flag("use_sliding_window", false))
    shape.sliding_window = config.size("sliding_window", 4'096, kLongestContext);
  std::vector<Decoder::Run> layers;
  for (bool experts : sparse) layers.push_back({1, experts});
  Decoder(config, style, shape).write(Decoder::runs_of(layers));
}

void read_qwen2_moe(const Config& config, ModelShape& shape) {
  DecoderStyle style;
  style.vocabulary = 151'936;
  style.intermediate = 5'632;
  style.heads = 16;
  style.kv_heads = 16;
  style.context = 32'768;
  style.qkv_bias = config.flag("qkv_bias", true);
  style.shared_switch = true;
  style.adapted_experts = false;
  style.exact = false;
  read_decoder_sizes(config, style, shape);
  shape.experts = read_experts(config, {"num_experts", "num_local_experts"}, 60, 4);
  shape.experts->intermediate = config.size("moe_intermediate_size", 1'408, kWidestMlp);
  shape.experts->shared = 1;
  shape.experts->shared_intermediate = config.size("shared_expert_intermediate_size", 5'632, kWidestMlp);
  write_qwen_moe(config, style, shape);
}

void read_qwen3_moe(const Config& config, ModelShape& shape) {
  DecoderStyle style;
  style.vocabulary = 151'936;
  style.intermediate = 6'144;
  style.kv_heads = 4;
  style.context = 32'768;
  style.qkv_bias = style.output_bias = config.flag("attention_bias", false);
  style.qk_norm = QkNorm::kPerHead;
  read_decoder_sizes(config, style, shape);
  shape.experts = read_experts(config, {"num_experts", "num_local_experts"}, 128, 8);
  shape.experts->intermediate = config.size("moe_intermediate_size", 768, kWidestMlp);
  write_qwen_moe(config, style, shape);
}

}  // namespace

Families qwen_moe() {
  return {
      {"qwen2_moe", "Qwen 1.5 and 2 mixtures, with a shared expert", read_qwen2_moe},
      {"qwen3_moe", "Qwen 3 mixtures: 128 small experts, 8 per token", read_qwen3_moe},
  };
}

}  // namespace rightsize::model
