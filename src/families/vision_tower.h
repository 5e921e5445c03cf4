// The image tower of a model that reads text and images: patches of an image pass through a transformer and are then
// projected to the width of the text. A shape keeps the tower's description, from which any resolution can be traced.
#pragma once

#include <cstdint>
#include <string>

#include "families/config.h"
#include "model/model_shape.h"

namespace rightsize::model {

struct VisionTower {
  enum class Projector : std::uint8_t {
    kMatrix,   // a norm and a matrix (Gemma 3)
    kTwo,      // two matrices with biases (LLaVA)
    kMerger,   // a norm, patches side by side, two matrices (Qwen, Kimi)
    kShuffle,  // patches side by side, two matrices, then a third (Llama 4)
  };

  int layers = 0, heads = 1;
  std::int64_t hidden = 0, intermediate = 0;
  std::int64_t inputs = 0;     // of a patch: channels x side^2 x frames
  std::int64_t positions = 0;  // rows of a learned table; 0: none
  std::int64_t text_width = 0;
  bool patch_bias = true, class_token = false, first_norm = false, last_norm = false;
  bool gated = false, rms = false, fused_qkv = false;
  Projector projector = Projector::kTwo;
  std::int64_t projector_width = 0;  // kShuffle: of the matrices in between
  bool newline = false;              // one learned vector that ends rows of tokens (LLaVA-NeXT)

  int patch = 14;
  int merge = 1;   // patches along a side of one token
  int side = 0;    // images are resized to this square; 0: patches as the image has them
  int tiles = 1;   // an image is cut into up to this many squares; more than one come with one of the whole image
  int tokens = 0;  // per image or tile; 0: they follow from the patches
  int window = 0;  // patches that a token attends to, except in every full_every-th layer; 0: the whole image
  int full_every = 1;
};

// The default image size.
inline constexpr ImageSize kUsualImage{1'024, 1'024};

// The prompt tokens of an image of this size, and the patches that the tower processes.
std::int64_t image_tokens(const VisionTower& tower, ImageSize image);
std::int64_t image_patches(const VisionTower& tower, ImageSize image);

// The tower with its projector as a separate model, for images of this size.
ModelShape trace_tower(const VisionTower& tower, ImageSize image);

// Adds the tower's weights, which text does not use. Call it before the text model is written.
void add_vision_tower(ModelShape& shape, VisionTower tower);

// Whether the configuration is that of a text model with its fields at the top level, and whether the class of a
// configuration with sections has the image tower.
inline bool is_text_only(const Config& config) { return !config.json().has("text_config"); }
inline bool has_tower(const Config& config) { return config.head(Head::kConditionalGeneration) != Head::kCausalLm; }

// The fields that every tower has, by the names and defaults of its configuration class.
struct TowerFields {
  FieldDefault<int> layers = {"num_hidden_layers", 12};
  FieldDefault<std::int64_t> hidden = {"hidden_size", 768}, intermediate = {"intermediate_size", 3'072};
  FieldDefault<int> heads = {"num_attention_heads", 12}, patch = {"patch_size", 14};
  FieldNames channels = "num_channels";
};
VisionTower read_tower_sizes(const Config& config, const TowerFields& fields);

// vision_config of the families that share one.
VisionTower read_qwen3_vision(const Config& config);
// CLIP or SigLIP, according to `model_type`. The caller chooses the projector.
VisionTower read_clip_vision(const Config& config);

}  // namespace rightsize::model
