// Kimi K2: DeepSeek V3 with more experts. K2.5 adds an image tower.
#include "families/latent_decoder.h"
#include "families/vision_tower.h"

namespace rightsize::model {
namespace {

void read_kimi_k2(const Config& config, ModelShape& shape) { read_latent_decoder(config, shape, {}); }

// Kimi K2.5: K2 with MoonViT, which has a table of positions for 64 x 64 patches.
void read_kimi_k25(const Config& config, ModelShape& shape) {
  const Config text = config.section("text_config").with_sizes(61, 7'168), vision = config.section("vision_config");
  VisionTower tower = read_tower_sizes(vision, {.layers = {{"vt_num_hidden_layers", "num_hidden_layers"}, 27},
                                                .hidden = {{"vt_hidden_size", "hidden_size"}, 1'152},
                                                .intermediate = {{"vt_intermediate_size", "intermediate_size"}, 4'304},
                                                .heads = {{"vt_num_attention_heads", "num_attention_heads"}, 16}});
  tower.merge = 2;
  tower.positions = vision.size("init_pos_emb_height", 64) * vision.size("init_pos_emb_width", 64);
  tower.text_width = text.size("hidden_size", 7'168);
  tower.fused_qkv = tower.last_norm = true;
  tower.projector = VisionTower::Projector::kMerger;
  add_vision_tower(shape, tower);
  read_latent_decoder(text, shape, {});
  text.json().refuse_misspelt();
}

}  // namespace

Families kimi() {
  return {
      {"kimi_k2", "Kimi K2: DeepSeek V3 with 384 experts", read_kimi_k2},
      {"kimi_k25", "Kimi K2.5: K2 with an image tower", read_kimi_k25},
  };
}

}  // namespace rightsize::model
