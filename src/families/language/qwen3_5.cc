// Qwen3.5: Qwen3-Next with an image tower, as a mixture or with a dense MLP.
#include "families/delta_decoder.h"
#include "families/vision_tower.h"

namespace rightsize::model {
namespace {

// The classes that generate from images and text have both configurations; text alone has its fields at the top.
void read_with_images(const Config& config, const DeltaDefaults& defaults, ModelShape& shape) {
  if (is_text_only(config)) return read_delta_decoder(config, shape, defaults);
  const Config text = config.section("text_config"), vision = config.section("vision_config");
  if (has_tower(config)) add_vision_tower(shape, read_qwen3_vision(vision));
  read_delta_decoder(text, shape, defaults);
  text.json().refuse_misspelt();
}

void read_qwen3_5_moe(const Config& config, ModelShape& shape) {
  read_with_images(config, {.vocabulary = 248'320, .experts = 256, .per_token = 8}, shape);
}

void read_qwen3_5(const Config& config, ModelShape& shape) {
  read_with_images(config, {.vocabulary = 248'320, .kv_heads = 4, .experts = 0, .per_token = 0}, shape);
}

}  // namespace

Families qwen3_5() {
  return {
      {"qwen3_5_moe", "Qwen3.5 mixtures: Qwen3-Next with an image tower", read_qwen3_5_moe, {"qwen3_5_moe_text"}},
      {"qwen3_5", "Qwen3.5 dense, with an image tower", read_qwen3_5, {"qwen3_5_text"}},
  };
}

}  // namespace rightsize::model
