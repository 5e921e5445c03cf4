// Language models with an image tower: LLaVA (any text model with CLIP), Qwen2-VL and Qwen2.5-VL.
#include <algorithm>
#include <string>

#include <fmt/format.h>

#include "families/families.h"
#include "families/vision_tower.h"

namespace rightsize::model {
namespace {

// Uses the reader of the text model's family.
void read_text(const Config& config, const std::string& model_type, ModelShape& shape) {
  const Family* family = find_family(model_type);
  if (family == nullptr) {
    config.json().fail_at("model_type", fmt::format("unknown text model '{}'", model_type.substr(0, 64)));
    return;
  }
  family->read(config, shape);
}

void read_llava(const Config& config, ModelShape& shape) {
  // LLaVA 1.5 7B relies on the defaults of LlamaConfig for its text model; its tower has no defaults.
  const Config text = config.section("text_config").with_sizes(32, 4'096), vision = config.section("vision_config");
  VisionTower tower = read_clip_vision(vision);
  tower.text_width = text.size("hidden_size", 4'096);
  tower.newline = shape.family == "llava_next";
  tower.tiles = tower.newline ? 4 : 1;
  add_vision_tower(shape, tower);
  read_text(text, text.json().get_string("model_type").value_or("llama"), shape);
  text.json().refuse_misspelt();
}

// Qwen2-VL has plain MLPs and layer norms in its tower, Qwen2.5-VL gated ones and RMS norms.
VisionTower read_qwen2_vision(const Config& config, bool newer) {
  VisionTower tower = read_tower_sizes(config, {.layers = {"depth", 32},
                                                .hidden = {newer ? "hidden_size" : "embed_dim", 1'280},
                                                .intermediate = {"intermediate_size", 3'420},
                                                .heads = {"num_heads", 16},
                                                .patch = {{"patch_size", "spatial_patch_size"}, 14},
                                                .channels = {"in_channels", "in_chans"}});
  if (!newer) tower.intermediate = tower.hidden * config.count("mlp_ratio", 4, 1, 64);
  tower.merge = config.count("spatial_merge_size", 2, 1, 64);
  tower.inputs *= config.count("temporal_patch_size", 2, 1, 64);
  tower.patch_bias = false;
  tower.fused_qkv = true;
  tower.gated = tower.rms = newer;
  if (newer) {  // windows of 112 pixels, except in fullatt_block_indexes, which are evenly spaced
    const int across = config.count("window_size", 112, 1, kLargestImage) / tower.patch;
    tower.window = across * across;
    const auto full = config.json().get_ints("fullatt_block_indexes", 0, kMostLayers);
    tower.full_every = full && !full->empty() ? std::max(1, tower.layers / static_cast<int>(full->size())) : 8;
  }
  tower.projector = VisionTower::Projector::kMerger;
  return tower;
}

// Older files have the text model's fields at the top level.
void read_qwen2_vl(const Config& config, ModelShape& shape) {
  const Config text = config.json().has("text_config") ? config.section("text_config") : config;
  VisionTower tower = read_qwen2_vision(config.section("vision_config"), shape.family == "qwen2_5_vl");
  tower.text_width = text.size("hidden_size", 8'192);
  add_vision_tower(shape, tower);
  read_text(text, "qwen2", shape);
  text.json().refuse_misspelt();
}

}  // namespace

Families vision_language() {
  return {
      {"llava", "LLaVA 1.5: a text model behind CLIP", read_llava},
      {"llava_next", "LLaVA-NeXT (1.6): the same over up to four tiles of an image", read_llava},
      {"qwen2_vl", "Qwen2-VL: Qwen 2 behind an image tower", read_qwen2_vl},
      {"qwen2_5_vl", "Qwen2.5-VL: Qwen 2.5 behind an image tower", read_qwen2_vl},
  };
}

}  // namespace rightsize::model
