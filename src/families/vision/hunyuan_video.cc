// HunyuanVideo: like FLUX, it begins with layers that have separate weights for prompt and video, followed by layers
// over both. All patches of all frames attend to each other. The prompt first passes through a few separate layers.
#include <utility>

#include "families/latent_transformer.h"

namespace rightsize::model {
namespace {

class HunyuanVideo : LatentTransformer {
  static constexpr std::int64_t kPromptTokens = 256;

 public:
  HunyuanVideo(const Config& config, ModelShape& shape)
      : LatentTransformer(config, shape, latent_frames(shape) * frame_patches(shape)) {}

  void write(int singles, int refiners) {
    const std::int64_t patch = std::int64_t{shape_.patch_size} * shape_.patch_size;
    const Size words = kSamples.times(kPromptTokens);
    Value x = patches("x_embedder.proj", shape_.channels * patch);
    Value prompt = refine(config_.size("text_embed_dim", 4'096), refiners, words);
    embed_time(config_.size("pooled_projection_dim", 768), config_.flag("guidance_embeds", true));
    const std::int32_t stack = f_.add_stack();
    add_joint_layers(stack, shape_.layers - singles,
                     {.prompt = kPromptTokens, .norms = {NormKind::kRms, shape_.head_dim, false}});
    add_single_layers(stack, singles, tokens_ + kPromptTokens);
    x = f_.layers(stack, f_.cat(std::move(x), std::move(prompt)));
    x = f_.slice(std::move(x), rows_.times(h_));
    shifts(matrix("norm_out.linear", 2 * h_, h_), h_);
    finish(f_.linear(matrix("proj_out", config_.size("out_channels", 16) * patch, h_), modulate(std::move(x), rows_)));
  }

 private:
  // The prompt's own layers, with its time and pooled embedding.
  Value refine(std::int64_t text, int layers, const Size& words) {
    two_layers("context_embedder.time_text_embed.timestep_embedder", h_, kTimeFeatures, kSamples);
    two_layers("context_embedder.time_text_embed.text_embedder", h_, text, kSamples);
    Value y = f_.linear(matrix("context_embedder.proj_in", h_, text), f_.input(words.times(text), Width::kStored));
    for (int i = 0; i < layers; ++i) {
      const WeightRef norm1 = inventory_.norm("refiner.norm1", h_, true);
      LayerWeights w = declare_attention("refiner.attn");
      const WeightRef norm2 = inventory_.norm("refiner.norm2", h_, true);
      declare_mlp(w, "refiner.ff", 4 * h_);
      shifts(matrix("refiner.norm_out.linear", 2 * h_, h_), h_);
      Value normed = layer_norm(norm1, y, words);
      y = f_.add(std::move(y), gate(attend(w, normed, normed, kPromptTokens, kPromptTokens)));
      y = f_.add(y, gate(feed(w, layer_norm(norm2, y, words))));
    }
    return y;
  }
};

// A Llama 3 8B reads its prompts; the pipeline here counts the closest encoder instead.
void read_hunyuan_video(const Config& config, ModelShape& shape) {
  read_latent_heads(config, shape, 24, 128);
  const int singles = config.count("num_single_layers", 40);
  shape.layers = config.count("num_layers", 20) + singles;
  shape.intermediate =
      static_cast<std::int64_t>(config.number("mlp_ratio", 4.0, 0.1, 100.0) * static_cast<double>(shape.hidden));
  shape.channels = config.count("in_channels", 16, 1, kWidest);
  shape.patch_size = config.count("patch_size", 2, 1, 64);
  shape.pipeline = ImagePipeline{
      .steps = 50, .guidance = false, .encoders = {"clip-l-text", "llama-3-8b-encoder"}, .decoder = "flux-vae"};
  read_video_size(config, shape, {{1280, 720}, 129});
  HunyuanVideo(config, shape).write(singles, config.count("num_refiner_layers", 2));
}

}  // namespace

Families hunyuan_video() {
  return {{"hunyuan_video",
           "HunyuanVideo (diffusers HunyuanVideoTransformer3DModel)",
           read_hunyuan_video,
           {},
           "HunyuanVideoTransformer3DModel"}};
}

}  // namespace rightsize::model
