// Wan: a video transformer with full attention over all patches of all frames, and cross-attention to the prompt.
#include <utility>

#include "families/latent_transformer.h"

namespace rightsize::model {
namespace {

class Wan : LatentTransformer {
  static constexpr std::int64_t kPromptTokens = 512;

 public:
  Wan(const Config& config, ModelShape& shape)
      : LatentTransformer(config, shape, latent_frames(shape) * frame_patches(shape)) {}

  void write(std::int64_t outputs, std::int64_t text, std::int64_t time, bool cross_norm) {
    const std::int64_t patch = std::int64_t{shape_.patch_size} * shape_.patch_size;
    const Size words = kSamples.times(kPromptTokens);
    const QkNorms norms{NormKind::kRms, h_, false};
    Value x = patches("patch_embedding", shape_.channels * patch);
    two_layers("condition_embedder.time_embedder", h_, time, kSamples);
    shifts(matrix("condition_embedder.time_proj", 6 * h_, h_), h_);
    Value prompt = two_layers("condition_embedder.text_embedder", h_, text, words);
    inventory_.begin_block(shape_.layers);
    LayerWeights self = declare_attention("attn1", norms);
    const LayerWeights cross = declare_attention("attn2", norms);
    const WeightRef norm2 = cross_norm ? inventory_.norm("norm2", h_, true) : WeightRef{};
    declare_mlp(self, "ffn", shape_.intermediate);
    inventory_.vector("scale_shift_table", WeightRole::kOther, 6 * h_);
    inventory_.end_block();
    const std::int32_t program = f_.program({rows_.times(h_), words.times(h_)}, [&](std::span<Value> in) {
      Value y = in[0];
      Value normed = modulate(y, rows_);
      y = f_.add(std::move(y), gate(attend(self, normed, normed, tokens_, tokens_, norms, true)));
      normed = norm2 ? layer_norm(norm2, y, rows_) : y;
      y = f_.add(std::move(y), attend(cross, normed, in[1], tokens_, kPromptTokens, norms));
      return f_.add(y, gate(feed(self, modulate(y, rows_))));
    });
    const std::int32_t stack = f_.add_stack();
    f_.add_layers(stack, self.first, shape_.layers, program);
    x = modulate(f_.layers(stack, std::move(x), std::move(prompt)), rows_);
    x = f_.linear(matrix("proj_out", outputs * patch, h_), std::move(x));
    inventory_.vector("scale_shift_table", WeightRole::kOther, 2 * h_);
    finish(std::move(x));
  }
};

// Defaults of the pipelines: 480p for the small model, 720p for the large one.
void read_wan(const Config& config, ModelShape& shape) {
  read_latent_heads(config, shape, 40, 128);
  shape.layers = config.count("num_layers", 40);
  shape.intermediate = config.size("ffn_dim", 13'824, kWidestMlp);
  shape.channels = config.count("in_channels", 16, 1, kWidest);
  shape.patch_size = 2;
  shape.pipeline =
      ImagePipeline{.steps = 50, .guidance = true, .encoders = {"umt5-xxl-encoder"}, .decoder = "flux-vae"};
  const bool large = shape.hidden > 4'096;
  read_video_size(config, shape, {large ? ImageSize{1280, 720} : ImageSize{832, 480}, 81});
  Wan(config, shape)
      .write(config.size("out_channels", 16), config.size("text_dim", 4'096), config.size("freq_dim", 256),
             config.flag("cross_attn_norm", true));
}

}  // namespace

Families wan() {
  return {{"wan", "Wan 2.1, videos (diffusers WanTransformer3DModel)", read_wan, {}, "WanTransformer3DModel"}};
}

}  // namespace rightsize::model
