// Sana: linear attention over the latents of a decoder that compresses each side by 32, cross-attention to the prompt,
// and an MLP with a depthwise convolution.
#include <utility>

#include "families/latent_transformer.h"

namespace rightsize::model {
namespace {

class Sana : LatentTransformer {
  static constexpr std::int64_t kPromptTokens = 300;

 public:
  Sana(const Config& config, ModelShape& shape) : LatentTransformer(config, shape, frame_patches(shape)) {}

  void write(std::int64_t outputs, std::int64_t caption, const QkNorms& norms) {
    const std::int64_t patch = std::int64_t{shape_.patch_size} * shape_.patch_size, inner = shape_.intermediate;
    const Size words = kSamples.times(kPromptTokens);
    Value x = patches("patch_embed.proj", shape_.channels * patch);
    two_layers("time_embed.emb.timestep_embedder", h_, kTimeFeatures, kSamples);
    shifts(matrix("time_embed.linear", 6 * h_, h_), h_);
    Value prompt = two_layers("caption_projection", h_, caption, words);
    inventory_.norm("caption_norm", h_, false);
    inventory_.begin_block(shape_.layers);
    const LayerWeights self = declare_attention("attn1", norms, 0, false);
    const LayerWeights cross = declare_attention("attn2", norms);
    const WeightRef up = inventory_.linear("ff.conv_inverted", WeightRole::kMlp, 2 * inner, h_, true);
    inventory_.grid(1);
    const WeightRef depth =
        inventory_.conv("ff.conv_depth", 2 * inner, 2 * inner, 3, {.groups = 2 * inner, .bias = true});
    inventory_.grid(0);
    const WeightRef down = inventory_.output("ff.conv_point", WeightRole::kMlp, h_, inner, false);
    inventory_.vector("scale_shift_table", WeightRole::kOther, 6 * h_);
    inventory_.end_block();
    const std::int32_t program = f_.program({rows_.times(h_), words.times(h_)}, [&](std::span<Value> in) {
      Value y = in[0];
      y = f_.add(y, gate(linear_attention(self, modulate(y, rows_), norms)));
      y = f_.add(y, attend(cross, y, in[1], tokens_, kPromptTokens, norms));
      Value wide = f_.activate(f_.linear(up, modulate(y, rows_)), Activation::kSilu);
      wide = f_.convolution(depth, std::move(wide), rows_);
      Value half = f_.slice(wide, rows_.times(inner));
      wide =
          f_.multiply(f_.activate(std::move(half), Activation::kSilu), f_.slice(std::move(wide), rows_.times(inner)));
      return f_.add(y, gate(f_.linear(down, std::move(wide))));
    });
    const std::int32_t stack = f_.add_stack();
    f_.add_layers(stack, self.first, shape_.layers, program);
    x = modulate(f_.layers(stack, std::move(x), std::move(prompt)), rows_);
    inventory_.vector("scale_shift_table", WeightRole::kOther, 2 * h_);
    finish(f_.linear(matrix("proj_out", outputs * patch, h_), std::move(x)));
  }

 private:
  // ReLU of q and k, then keys times values, then queries times that: two products of tokens x head_dim^2 each.
  Value linear_attention(const LayerWeights& w, Value x, const QkNorms& norms) {
    const std::int64_t d = shape_.head_dim;
    const auto project = [&](WeightRef weight, WeightRef norm) {
      Value y = f_.linear(weight, x);
      if (norm) y = f_.norm(norms.kind, norm, std::move(y), rows_);
      return f_.activate(std::move(y), Activation::kRelu);
    };
    Value q = project(w.q, w.q_norm), k = project(w.k, w.k_norm), v = f_.linear(w.v, x);
    Value state = f_.product(std::move(k), std::move(v), kSamples.times(h_ * d), rows_.times(h_ * d));
    Value y = f_.product(std::move(q), std::move(state), rows_.times(h_), rows_.times(h_ * d));
    return f_.linear(w.o, std::move(y));
  }
};

// Its prompts are read by Gemma 2 of 2B parameters, which is not counted.
void read_sana(const Config& config, ModelShape& shape) {
  read_latent_heads(config, shape, 70, 32);
  shape.layers = config.count("num_layers", 20);
  shape.channels = config.count("in_channels", 32, 1, kWidest);
  shape.patch_size = config.count("patch_size", 1, 1, 64);
  shape.intermediate =
      static_cast<std::int64_t>(config.number("mlp_ratio", 2.5, 0.1, 100.0) * static_cast<double>(shape.hidden));
  constexpr int kPixels = 32;
  read_latent_size(config, shape, 32, kPixels);
  shape.pipeline =
      ImagePipeline{.steps = 20, .guidance = true, .pixels = kPixels, .encoders = {"gemma-2-2b"}, .decoder = "sd-vae"};
  const bool normed = config.json().get_string("qk_norm").has_value();
  Sana(config, shape)
      .write(config.size("out_channels", 32), config.size("caption_channels", 2'304),
             {NormKind::kRms, normed ? shape.hidden : 0, false});
}

}  // namespace

Families sana() {
  return {{"sana", "Sana (diffusers SanaTransformer2DModel)", read_sana, {}, "SanaTransformer2DModel"}};
}

}  // namespace rightsize::model
