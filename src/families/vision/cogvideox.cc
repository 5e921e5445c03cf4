// CogVideoX: one stream of prompt and video patches with full attention, modulated layer by layer.
#include <utility>

#include "families/latent_transformer.h"

namespace rightsize::model {
namespace {

struct CogSizes {
  std::int64_t prompt, text, time, outputs, patch_frames;
};

class CogVideoX : LatentTransformer {
 public:
  CogVideoX(const Config& config, ModelShape& shape, const CogSizes& sizes)
      : LatentTransformer(config, shape,
                          (latent_frames(shape) + sizes.patch_frames - 1) / sizes.patch_frames * frame_patches(shape)),
        s_(sizes) {}

  void write() {
    const std::int64_t patch = std::int64_t{shape_.patch_size} * shape_.patch_size * s_.patch_frames;
    const std::int64_t tokens = tokens_ + s_.prompt;
    const Size words = kSamples.times(s_.prompt), all = kSamples.times(tokens);
    const QkNorms norms{NormKind::kLayer, shape_.head_dim, true};
    Value x = patches("patch_embed.proj", shape_.channels * patch);
    Value prompt =
        f_.linear(matrix("patch_embed.text_proj", h_, s_.text), f_.input(words.times(s_.text), Width::kStored));
    two_layers("time_embedding", s_.time, h_, kSamples);
    inventory_.begin_block(shape_.layers);
    const WeightRef shift1 = matrix("norm1.linear", 6 * h_, s_.time);
    const WeightRef norm1 = inventory_.norm("norm1.norm", h_, true);
    LayerWeights w = declare_attention("attn1", norms);
    const WeightRef shift2 = matrix("norm2.linear", 6 * h_, s_.time);
    const WeightRef norm2 = inventory_.norm("norm2.norm", h_, true);
    declare_mlp(w, "ff", 4 * h_);
    inventory_.end_block();
    const std::int32_t program = f_.program({all.times(h_)}, [&](std::span<Value> in) {
      Value y = in[0];
      shifts(shift1, s_.time);
      Value normed = f_.add_constant(f_.scale(layer_norm(norm1, y, all)));
      y = f_.add(std::move(y), gate(attend(w, normed, normed, tokens, tokens, norms, true)));
      shifts(shift2, s_.time);
      normed = f_.add_constant(f_.scale(layer_norm(norm2, y, all)));
      return f_.add(y, gate(feed(w, std::move(normed))));
    });
    const std::int32_t stack = f_.add_stack();
    f_.add_layers(stack, shift1, shape_.layers, program);
    x = f_.layers(stack, f_.cat(std::move(prompt), std::move(x)));
    x = layer_norm(inventory_.norm("norm_final", h_, true), std::move(x), all);
    x = f_.slice(std::move(x), rows_.times(h_));
    shifts(matrix("norm_out.linear", 2 * h_, s_.time), s_.time);
    x = f_.scale(layer_norm(inventory_.norm("norm_out.norm", h_, true), std::move(x), rows_));
    finish(f_.linear(matrix("proj_out", s_.outputs * patch, h_), std::move(x)));
  }

 private:
  CogSizes s_;
};

void read_cogvideox(const Config& config, ModelShape& shape) {
  read_latent_heads(config, shape, 30, 64);
  shape.layers = config.count("num_layers", 30);
  shape.channels = config.count("in_channels", 16, 1, kWidest);
  shape.patch_size = config.count("patch_size", 2, 1, 64);
  shape.pipeline =
      ImagePipeline{.steps = 50, .guidance = true, .encoders = {"t5-v1.1-xxl-encoder"}, .decoder = "flux-vae"};
  const bool newer = config.json().has("patch_size_t");  // CogVideoX 1.5
  read_video_size(config, shape, newer ? UsualVideo{{1360, 768}, 81} : UsualVideo{{720, 480}, 49});
  CogVideoX(
      config, shape,
      {config.size("max_text_seq_length", 226), config.size("text_embed_dim", 4'096),
       config.size("time_embed_dim", 512), config.size("out_channels", 16), newer ? config.size("patch_size_t", 2) : 1})
      .write();
}

}  // namespace

Families cogvideox() {
  return {{"cogvideox",
           "CogVideoX, videos (diffusers CogVideoXTransformer3DModel)",
           read_cogvideox,
           {},
           "CogVideoXTransformer3DModel"}};
}

}  // namespace rightsize::model
