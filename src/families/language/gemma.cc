// Gemma: wide heads, tied embeddings; from Gemma 2 on four norms per layer and windows in most layers; Gemma 3 adds
// norms on queries and keys and, from 4B on, a SigLIP image tower.
#include <algorithm>

#include "families/decoder.h"
#include "families/vision_tower.h"

namespace rightsize::model {
namespace {

const std::vector<std::string> kFourNorms = {"input_layernorm", "post_attention_layernorm", "pre_feedforward_layernorm",
                                             "post_feedforward_layernorm"};

// Gemma was published with "hidden_act": "gelu" but uses the tanh form; hidden_activation, if present, names the right
// one.
const DecoderStyle kGemma = {
    .vocabulary = 256'000,
    .intermediate = 24'576,
    .heads = 16,
    .kv_heads = 16,
    .head_dim = 256,
    .context = 8'192,
    .activation = "gelu_pytorch_tanh",
    .activation_names = {"hidden_activation"},
    .tied = true,
    .attention_bias = false,
    .norm = NormKind::kRmsPlusOne,
    .scaled_embedding = true,
};

// The distance from one full-attention layer to the next: from the pattern, or from the list of layer types.
int full_attention_period(const Config& config, int fallback) {
  int period = config.count({"sliding_window_pattern", "_sliding_window_pattern"}, fallback);
  std::optional<std::vector<std::string>> types = config.json().get_strings("layer_types");
  if (!types) return period;
  auto full = std::find(types->begin(), types->end(), "full_attention");
  return full == types->end() ? 0 : static_cast<int>(full - types->begin()) + 1;
}

void read_gemma(const Config& config, ModelShape& shape) { read_decoder(config, shape, kGemma); }

DecoderStyle read_later_sizes(const Config& config, ModelShape& shape, DecoderStyle style, int period, double softcap) {
  style.intermediate = 9'216;
  style.heads = 8;
  style.kv_heads = 4;
  style.layer_norms = kFourNorms;
  style.window = 4'096;
  read_decoder_sizes(config, style, shape);
  shape.full_attention_every = full_attention_period(config, period);
  shape.logit_softcap = config.number("final_logit_softcapping", softcap, 0.0, 1e6);
  return style;
}

void read_gemma2(const Config& config, ModelShape& shape) {
  Decoder(config, read_later_sizes(config, shape, kGemma, 2, 30.0), shape).write();
}

DecoderStyle read_gemma3_sizes(const Config& config, ModelShape& shape) {
  DecoderStyle style = kGemma;
  style.vocabulary = 262'208;
  style.context = 131'072;
  style.qk_norm = QkNorm::kPerHeadAfter;
  return read_later_sizes(config, shape, style, 6, 0.0);
}

void read_gemma3_text(const Config& config, ModelShape& shape) {
  Decoder(config, read_gemma3_sizes(config, shape), shape).write();
}

void read_gemma3(const Config& config, ModelShape& shape) {
  // Gemma 3 1B and text-only exports have the text fields at the top level.
  if (is_text_only(config)) return read_gemma3_text(config, shape);
  Config text = config.section("text_config");
  const DecoderStyle style = read_gemma3_sizes(text, shape);
  if (has_tower(config)) {
    VisionTower tower = read_clip_vision(config.section("vision_config"));
    tower.class_token = tower.first_norm = false;
    tower.patch_bias = true;
    const std::int64_t across = std::max(1, tower.side / std::max(1, tower.patch));
    tower.positions = across * across;
    tower.tokens = config.count("mm_tokens_per_image", 256, 1, kLongestContext);
    tower.text_width = shape.hidden;
    tower.projector = VisionTower::Projector::kMatrix;
    add_vision_tower(shape, tower);
  }
  Decoder(text, style, shape).write();
  text.json().refuse_misspelt();
}

}  // namespace

Families gemma() {
  return {
      {"gemma", "Gemma: wide heads, tied embeddings, GeGLU", read_gemma},
      {"gemma2", "Gemma 2: four norms per layer, every other layer windowed, soft caps", read_gemma2},
      {"gemma3", "Gemma 3 with its SigLIP image tower, or text alone", read_gemma3},
      {"gemma3_text", "Gemma 3, text alone", read_gemma3_text},
  };
}

}  // namespace rightsize::model
