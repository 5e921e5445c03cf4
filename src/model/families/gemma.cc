// Gemma: wide heads, tied embeddings; from Gemma 2 on four norms a layer and windows in most layers; Gemma 3 adds norms
// on queries and keys and, from 4B on, a SigLIP image tower.
#include <algorithm>

#include "model/decoder.h"
#include "model/families.h"

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
  shape.attention_softcap = config.number("attn_logit_softcapping", 50.0, 0.0, 1e6);
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
  shape.attention_softcap = config.number("attn_logit_softcapping", 0.0, 0.0, 1e6);
  shape.logit_softcap = config.number("final_logit_softcapping", 0.0, 0.0, 1e6);
  return style;
}

void read_gemma3_text(const Config& config, ModelShape& shape) {
  Decoder(config, read_gemma3_sizes(config, shape), shape).write();
}

struct Siglip {
  int layers;
  std::int64_t hidden, intermediate;
  int image, patch, channels;
};

Siglip read_siglip(const Config& config) {
  Siglip vision{};
  vision.hidden = config.size("hidden_size", 768);
  vision.intermediate = config.size("intermediate_size", 3'072, kWidestMlp);
  vision.layers = config.count("num_hidden_layers", 12);
  vision.channels = config.count("num_channels", 3, 1, kWidest);
  vision.image = config.count("image_size", 224, 1, kLargestImage);
  vision.patch = config.count("patch_size", 16, 1, 1'024);
  int heads = config.count("num_attention_heads", 12, 1, kMostHeads);
  config.divide(vision.hidden, "hidden_size", heads, "num_attention_heads");
  return vision;
}

void add_siglip(Inventory& inventory, const Siglip& vision) {
  const std::int64_t side = vision.image / vision.patch;
  ConvOptions patches;
  patches.stride = vision.patch;
  patches.bias = true;
  inventory.grid(vision.patch);
  inventory.conv("vision_tower.patch_embedding", vision.hidden, vision.channels, vision.patch, patches);
  inventory.grid(0);
  inventory.embedding("vision_tower.position_embedding", WeightRole::kPositionEmbedding, side * side, vision.hidden);
  inventory.begin_block(vision.layers);
  inventory.norm("vision_tower.layer_norm1", vision.hidden, true);
  for (const char* name : {"k_proj", "v_proj", "q_proj", "out_proj"}) {
    inventory.linear(std::string("vision_tower.self_attn.") + name, WeightRole::kAttention, vision.hidden,
                     vision.hidden, true);
  }
  inventory.norm("vision_tower.layer_norm2", vision.hidden, true);
  inventory.linear("vision_tower.mlp.fc1", WeightRole::kMlp, vision.intermediate, vision.hidden, true);
  inventory.output("vision_tower.mlp.fc2", WeightRole::kMlp, vision.hidden, vision.intermediate, true);
  inventory.end_block();
  inventory.norm("vision_tower.post_layernorm", vision.hidden, true);
}

void read_gemma3(const Config& config, ModelShape& shape) {
  // Gemma 3 1B and text-only exports have the text fields at the top.
  if (!config.json().has("text_config")) return read_gemma3_text(config, shape);
  Config text = config.section("text_config");
  const DecoderStyle style = read_gemma3_sizes(text, shape);
  if (config.head(Head::kConditionalGeneration) != Head::kCausalLm) {
    const Siglip vision = read_siglip(config.section("vision_config"));
    shape.image_size = vision.image;
    shape.patch_size = vision.patch;
    shape.channels = vision.channels;
    Inventory inventory(shape.weights);
    add_siglip(inventory, vision);
    inventory.embedding("multi_modal_projector.mm_input_projection_weight", WeightRole::kOther, vision.hidden,
                        shape.hidden);
    inventory.norm("multi_modal_projector.mm_soft_emb_norm", vision.hidden, false);
    for (Weight& weight : shape.weights) weight.images_only = true;
  }
  Decoder(text, style, shape).write();
  text.json().refuse_misspelt();
}

}  // namespace

Families gemma() {
  return {
      {"gemma", "Gemma: wide heads, tied embeddings, GeGLU", read_gemma},
      {"gemma2", "Gemma 2: four norms a layer, every other layer windowed, soft caps", read_gemma2},
      {"gemma3", "Gemma 3 with its SigLIP image tower, or text alone", read_gemma3},
      {"gemma3_text", "Gemma 3, text alone", read_gemma3_text},
  };
}

}  // namespace rightsize::model
