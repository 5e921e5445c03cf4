// Gemma: wide heads, tied embeddings; from Gemma 2 on four norms per layer and windows in most layers; Gemma 3 adds
// norms on queries and keys and, from 4B on, a SigLIP image tower.
#include <algorithm>

#include "families/decoder.h"
#include "families/families.h"
#include "families/vision_tower.h"

namespace rightsize::model {
namespace {

// Gemma was published with "hidden_act": "gelu" but runs its tanh form; hidden_activation says so where it is given.
DecoderStyle gemma_style() {
  DecoderStyle style;
  style.vocabulary = 256'000;
  style.intermediate = 24'576;
  style.heads = 16;
  style.kv_heads = 16;
  style.head_dim = 256;
  style.context = 8'192;
  style.activation = "gelu_pytorch_tanh";
  style.activation_names = {"hidden_activation"};
  style.tied = true;
  style.norm = NormKind::kRmsPlusOne;
  style.scaled_embedding = true;
  return style;
}

// How many layers pass from one full-attention layer to the next: from the pattern, or from the list of layer types.
int full_attention_period(const Config& config, int fallback) {
  int period = config.count({"sliding_window_pattern", "_sliding_window_pattern"}, fallback);
  std::optional<std::vector<std::string>> types = config.json().get_strings("layer_types");
  if (!types) return period;
  auto full = std::find(types->begin(), types->end(), "full_attention");
  return full == types->end() ? 0 : static_cast<int>(full - types->begin()) + 1;
}

const std::vector<std::string> kFourNorms = {"input_layernorm", "post_attention_layernorm", "pre_feedforward_layernorm",
                                             "post_feedforward_layernorm"};

void read_gemma(const Config& config, ModelShape& shape) {
  DecoderStyle style = gemma_style();
  style.qkv_bias = style.output_bias = config.flag("attention_bias", false);
  read_decoder_sizes(config, style, shape);
  Decoder(config, style, shape).write();
}

void read_gemma2(const Config& config, ModelShape& shape) {
  DecoderStyle style = gemma_style();
  style.intermediate = 9'216;
  style.heads = 8;
  style.kv_heads = 4;
  style.layer_norms = kFourNorms;
  style.qkv_bias = style.output_bias = config.flag("attention_bias", false);
  read_decoder_sizes(config, style, shape);
  shape.sliding_window = config.size("sliding_window", 4'096, kLongestContext);
  shape.full_attention_every = full_attention_period(config, 2);
  shape.logit_softcap = config.number("final_logit_softcapping", 30.0, 0.0, 1e6);
  Decoder(config, style, shape).write();
}

DecoderStyle read_gemma3_sizes(const Config& config, ModelShape& shape) {
  DecoderStyle style = gemma_style();
  style.vocabulary = 262'208;
  style.intermediate = 9'216;
  style.heads = 8;
  style.kv_heads = 4;
  style.context = 131'072;
  style.layer_norms = kFourNorms;
  style.qk_norm = QkNorm::kPerHeadAfter;
  style.qkv_bias = style.output_bias = config.flag("attention_bias", false);
  read_decoder_sizes(config, style, shape);
  shape.sliding_window = config.size("sliding_window", 4'096, kLongestContext);
  shape.full_attention_every = full_attention_period(config, 6);
  shape.logit_softcap = config.number("final_logit_softcapping", 0.0, 0.0, 1e6);
  return style;
}

void read_gemma3_text(const Config& config, ModelShape& shape) {
  Decoder(config, read_gemma3_sizes(config, shape), shape).write();
}

void read_gemma3(const Config& config, ModelShape& shape) {
  // Gemma 3 1B and text-only exports have the text fields at the top.
  if (!config.json().has("text_config")) return read_gemma3_text(config, shape);
  Config text = config.section("text_config");
  const DecoderStyle style = read_gemma3_sizes(text, shape);
  if (config.head(Head::kConditionalGeneration) != Head::kCausalLm) {
    const Config vision = config.section("vision_config");
    VisionTower tower = read_clip_vision(vision);
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
