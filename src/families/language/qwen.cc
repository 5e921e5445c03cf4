// Qwen 1.5 to 3. Dense: biases on q, k and v, from Qwen 3 norms on q and k instead. Mixtures: 1.5 and 2 with a shared
// expert, 3 with 128 small experts.
#include <algorithm>

#include "families/decoder.h"

namespace rightsize::model {
namespace {

constexpr std::int64_t kVocabulary = 151'936, kContext = 32'768;
const FieldNames kExpertCount = {"num_experts", "num_local_experts"};

// Qwen names a window even if it is off. The first max_window_layers layers stay full, which is every layer of every
// published model.
std::optional<std::int64_t> window_default(const Config& config) {
  return config.flag("use_sliding_window", false) ? std::optional<std::int64_t>(4'096) : std::nullopt;
}

void read_qwen2(const Config& config, ModelShape& shape) {
  read_decoder(config, shape,
               {.vocabulary = kVocabulary,
                .intermediate = 22'016,
                .context = kContext,
                .window = window_default(config),
                .qkv_bias = true});
}

void read_qwen3(const Config& config, ModelShape& shape) {
  read_decoder(config, shape,
               {.vocabulary = kVocabulary,
                .intermediate = 22'016,
                .head_dim = 128,
                .context = kContext,
                .window = window_default(config),
                .attention_bias = false,
                .qk_norm = QkNorm::kPerHead});
}

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
  shape.experts->dense_layers = static_cast<int>(
      std::count_if(layers.begin(), layers.end(), [](const Decoder::Run& layer) { return !layer.experts; }));
  Decoder(config, style, shape).write(Decoder::runs_of(layers));
}

void read_qwen2_moe(const Config& config, ModelShape& shape) {
  read_mixture(config, shape,
               {.vocabulary = kVocabulary,
                .intermediate = 5'632,
                .heads = 16,
                .kv_heads = 16,
                .context = kContext,
                .window = window_default(config),
                .experts = {60, 4, kExpertCount, 1'408, 5'632},
                .qkv_bias = config.flag("qkv_bias", true),
                .adapted_experts = false,
                .shared_switch = true,
                .exact = false});
}

void read_qwen3_moe(const Config& config, ModelShape& shape) {
  read_mixture(config, shape,
               {.vocabulary = kVocabulary,
                .intermediate = 6'144,
                .kv_heads = 4,
                .context = kContext,
                .window = window_default(config),
                .attention_bias = false,
                .experts = {128, 8, kExpertCount, 768},
                .qk_norm = QkNorm::kPerHead});
}

}  // namespace

Families qwen() {
  return {
      {"qwen2", "Qwen 1.5, 2 and 2.5: Llama with biases on q, k and v", read_qwen2},
      {"qwen3", "Qwen 3 dense: norms on q and k instead of biases", read_qwen3},
      {"qwen2_moe", "Qwen 1.5 and 2 mixtures, with a shared expert", read_qwen2_moe},
      {"qwen3_moe", "Qwen 3 mixtures: 128 small experts, 8 per token", read_qwen3_moe},
  };
}

}  // namespace rightsize::model
