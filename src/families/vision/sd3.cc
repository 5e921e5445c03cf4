// Stable Diffusion 3: layers with separate weights for prompt and image that attend to both. In 3.5 medium the image of
// the first layers also attends to itself alone; the last layer drops the prompt.
#include <algorithm>
#include <utility>

#include "families/latent_transformer.h"

namespace rightsize::model {
namespace {

class StableDiffusion3 : LatentTransformer {
  // 77 of the CLIP encoders and 256 of T5, as the pipeline of diffusers joins them.
  static constexpr std::int64_t kPromptTokens = 333;

 public:
  StableDiffusion3(const Config& config, ModelShape& shape) : LatentTransformer(config, shape, frame_patches(shape)) {}

  void write(int duals, bool norms) {
    const std::int64_t patch = std::int64_t{shape_.patch_size} * shape_.patch_size;
    const std::int64_t text = config_.size("joint_attention_dim", 4'096);
    const Size words = kSamples.times(kPromptTokens);
    JointLayers how = {.prompt = kPromptTokens, .norms = {.width = norms ? shape_.head_dim : 0}, .rotated = false};
    Value x = patches("pos_embed.proj", shape_.channels * patch);
    embed_time(config_.size("pooled_projection_dim", 2'048), false);
    Value prompt = f_.linear(matrix("context_embedder", h_, text), f_.input(words.times(text), Width::kStored));
    const std::int32_t stack = f_.add_stack();
    how.dual = true;
    add_joint_layers(stack, duals, how);
    how.dual = false;
    add_joint_layers(stack, shape_.layers - 1 - duals, how);
    how.last = true;
    add_joint_layers(stack, 1, how);
    x = f_.layers(stack, f_.cat(std::move(x), std::move(prompt)));
    x = f_.slice(std::move(x), rows_.times(h_));
    shifts(matrix("norm_out.linear", 2 * h_, h_), h_);
    finish(f_.linear(matrix("proj_out", config_.size("out_channels", 16) * patch, h_), modulate(std::move(x), rows_)));
  }
};

void read_sd3(const Config& config, ModelShape& shape) {
  read_latent_heads(config, shape, 18, 64);
  shape.layers = config.count("num_layers", 18);
  shape.channels = config.count("in_channels", 16, 1, kWidest);
  shape.patch_size = config.count("patch_size", 2, 1, 64);
  shape.positions = Positions::kSinusoidal;
  read_latent_size(config, shape, 128, 8);
  shape.pipeline = ImagePipeline{.steps = 28,
                                 .guidance = true,
                                 .encoders = {"clip-l-text", "openclip-bigg-text", "t5-v1.1-xxl-encoder"},
                                 .decoder = "flux-vae"};
  const auto duals = config.json().get_ints("dual_attention_layers", 0, kMostLayers);
  StableDiffusion3(config, shape)
      .write(std::min(shape.layers - 1, static_cast<int>(duals ? duals->size() : 0)),
             config.json().get_string("qk_norm").has_value());
}

}  // namespace

Families sd3() {
  return {
      {"sd3", "Stable Diffusion 3 and 3.5 (diffusers SD3Transformer2DModel)", read_sd3, {}, "SD3Transformer2DModel"}};
}

}  // namespace rightsize::model
