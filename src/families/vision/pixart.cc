// PixArt: an image transformer that reads the prompt by cross-attention, with one modulation for all layers.
#include <utility>

#include "families/latent_transformer.h"

namespace rightsize::model {
namespace {

class PixArt : LatentTransformer {
  static constexpr std::int64_t kPromptTokens = 300;

 public:
  PixArt(const Config& config, ModelShape& shape) : LatentTransformer(config, shape, frame_patches(shape)) {}

  void write(std::int64_t outputs, std::int64_t caption) {
    const std::int64_t patch = std::int64_t{shape_.patch_size} * shape_.patch_size;
    const Size words = kSamples.times(kPromptTokens);
    Value x = patches("pos_embed.proj", shape_.channels * patch);
    inventory_.begin_block(shape_.layers);
    const WeightRef first = inventory_.vector("scale_shift_table", WeightRole::kOther, 6 * h_);
    LayerWeights self = declare_attention("attn1");
    const LayerWeights cross = declare_attention("attn2");
    declare_mlp(self, "ff", 4 * h_);
    inventory_.end_block();
    const std::int32_t program = f_.program({rows_.times(h_), words.times(h_)}, [&](std::span<Value> in) {
      Value y = in[0];
      Value normed = modulate(y, rows_);
      y = f_.add(std::move(y), gate(attend(self, normed, normed, tokens_, tokens_)));
      y = f_.add(y, attend(cross, y, in[1], tokens_, kPromptTokens));
      return f_.add(y, gate(feed(self, modulate(y, rows_))));
    });
    two_layers("adaln_single.emb.timestep_embedder", h_, kTimeFeatures, kSamples);
    shifts(matrix("adaln_single.linear", 6 * h_, h_), h_);
    Value prompt = two_layers("caption_projection", h_, caption, words);
    const std::int32_t stack = f_.add_stack();
    f_.add_layers(stack, first, shape_.layers, program);
    x = modulate(f_.layers(stack, std::move(x), std::move(prompt)), rows_);
    inventory_.vector("scale_shift_table", WeightRole::kOther, 2 * h_);
    finish(f_.linear(matrix("proj_out", outputs * patch, h_), std::move(x)));
  }
};

void read_pixart(const Config& config, ModelShape& shape) {
  read_latent_heads(config, shape, 16, 72);
  shape.layers = config.count("num_layers", 28);
  shape.channels = config.count("in_channels", 4, 1, kWidest);
  shape.patch_size = config.count("patch_size", 2, 1, 64);
  read_latent_size(config, shape, 128, 8);
  shape.pipeline =
      ImagePipeline{.steps = 20, .guidance = true, .encoders = {"t5-v1.1-xxl-encoder"}, .decoder = "sd-vae"};
  PixArt(config, shape).write(config.size("out_channels", 8), config.size("caption_channels", 4'096));
}

}  // namespace

Families pixart() {
  return {{"pixart", "PixArt (diffusers PixArtTransformer2DModel)", read_pixart, {}, "PixArtTransformer2DModel"}};
}

}  // namespace rightsize::model
