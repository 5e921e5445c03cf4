// The image tower of a model that reads text and images: patches of an image through a transformer, then projected to
// the width of the text. Any resolution can be traced, which is why a shape keeps the tower's description and not one
// trace.
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
  int tiles = 1;   // of that square an image is cut into at most, besides one of the whole where there are more
  int tokens = 0;  // of one image or tile where not by patches
  int window = 0;  // patches a token sees, in all layers but every full_every-th; 0: all of its image
  int full_every = 1;
};

// Images whose size nobody gave.
inline constexpr ImageSize kUsualImage{1'024, 1'024};

// Tokens of the prompt one image of this size takes, and patches the tower works on.
std::int64_t image_tokens(const VisionTower& tower, ImageSize image);
std::int64_t image_patches(const VisionTower& tower, ImageSize image);

// The tower with its projector as a model of its own, for images of this size.
ModelShape trace_tower(const VisionTower& tower, ImageSize image);

// Puts the tower's weights, idle on text, in front of the model's own. Call before the text model is written.
void add_vision_tower(ModelShape& shape, VisionTower tower);

// vision_config of the families that share one.
VisionTower read_qwen3_vision(const Config& config);
// CLIP and SigLIP, as `model_type` says; the projector is the caller's.
VisionTower read_clip_vision(const Config& config);

}  // namespace rightsize::model
