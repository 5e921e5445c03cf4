// HunyuanDiT: an image transformer with cross-attention to the prompts of two encoders; the second half of its layers
// also reads the outputs of the first half.
#include <utility>

#include "families/latent_transformer.h"

namespace rightsize::model {
namespace {

class HunyuanDit : LatentTransformer {
 public:
  HunyuanDit(const Config& config, ModelShape& shape, std::int64_t prompt)
      : LatentTransformer(config, shape, frame_patches(shape)), prompt_(prompt) {}

  void write(std::int64_t text, std::int64_t t5, std::int64_t pooled, std::int64_t outputs) {
    const std::int64_t patch = std::int64_t{shape_.patch_size} * shape_.patch_size;
    const Size words = kSamples.times(prompt_);
    const QkNorms norms{NormKind::kLayer, shape_.head_dim, true};
    Value x = patches("pos_embed.proj", shape_.channels * patch);
    // The prompt of the larger encoder is projected to the width of the other; then both are read as they are.
    const WeightRef wide = matrix("text_embedder.linear_1", 4 * t5, t5),
                    narrow = matrix("text_embedder.linear_2", text, 4 * t5);
    Value prompt = f_.linear(wide, f_.make(words.times(t5), Width::kStored));
    prompt = f_.linear(narrow, f_.activate(std::move(prompt), Activation::kSilu));
    two_layers("time_extra_emb.timestep_embedder", h_, kTimeFeatures, kSamples);
    shifts(matrix("time_extra_emb.extra_embedder.linear_1", 4 * h_, pooled), pooled);
    shifts(matrix("time_extra_emb.extra_embedder.linear_2", h_, 4 * h_), 4 * h_);
    const int later = shape_.layers / 2 - 1, before = shape_.layers - later;
    const auto layers = [&](int count, bool skips, std::int32_t stack) {
      inventory_.begin_block(count);
      const WeightRef norm1 = inventory_.norm("norm1.norm", h_, true);
      const WeightRef shift = matrix("norm1.linear", h_, h_);
      LayerWeights self = declare_attention("attn1", norms);
      const WeightRef norm2 = inventory_.norm("norm2", h_, true);
      const LayerWeights cross = declare_attention("attn2", norms, text);
      const WeightRef norm3 = inventory_.norm("norm3", h_, true);
      declare_mlp(self, "ff", shape_.intermediate);
      WeightRef skip_norm, skip;
      if (skips) skip_norm = inventory_.norm("skip_norm", 2 * h_, true), skip = matrix("skip_linear", h_, 2 * h_);
      inventory_.end_block();
      const std::int32_t program = f_.program({rows_.times(h_), words.times(text)}, [&](std::span<Value> in) {
        Value y = in[0];
        if (skips) y = f_.linear(skip, layer_norm(skip_norm, f_.cat(y, y), rows_));
        shifts(shift, h_);
        Value normed = f_.add_constant(layer_norm(norm1, y, rows_));
        y = f_.add(std::move(y), attend(self, normed, normed, tokens_, tokens_, norms, true));
        y = f_.add(y, attend(cross, layer_norm(norm2, y, rows_), in[1], tokens_, prompt_, norms, true));
        return f_.add(y, feed(self, layer_norm(norm3, y, rows_)));
      });
      f_.add_layers(stack, norm1, count, program);
    };
    const std::int32_t stack = f_.add_stack();
    layers(before, false, stack);
    layers(later, true, stack);
    x = f_.layers(stack, std::move(x), std::move(prompt));
    shifts(matrix("norm_out.linear", 2 * h_, h_), h_);
    finish(f_.linear(matrix("proj_out", outputs * patch, h_), modulate(std::move(x), rows_)));
  }

 private:
  std::int64_t prompt_;
};

// Its second encoder, mT5-XL, is not counted.
void read_hunyuan_dit(const Config& config, ModelShape& shape) {
  read_latent_heads(config, shape, 16, 88);
  shape.layers = config.count("num_layers", 40, 4);
  shape.channels = config.count("in_channels", 4, 1, kWidest);
  shape.patch_size = config.count("patch_size", 2, 1, 64);
  shape.intermediate =
      static_cast<std::int64_t>(config.number("mlp_ratio", 4.3637, 0.1, 100.0) * static_cast<double>(shape.hidden));
  read_latent_size(config, shape, 128, 8);
  shape.pipeline =
      ImagePipeline{.steps = 50, .guidance = true, .encoders = {"bert-large", "mt5-xl-encoder"}, .decoder = "sd-vae"};
  const std::int64_t outputs = (config.flag("learn_sigma", true) ? 2 : 1) * std::int64_t{shape.channels};
  HunyuanDit(config, shape, config.size("text_len", 77) + config.size("text_len_t5", 256))
      .write(config.size("cross_attention_dim", 1'024), config.size("cross_attention_dim_t5", 2'048),
             config.size("pooled_projection_dim", 1'024), outputs);
}

}  // namespace

Families hunyuan_dit() {
  return {{"hunyuan_dit", "HunyuanDiT (diffusers HunyuanDiT2DModel)", read_hunyuan_dit, {}, "HunyuanDiT2DModel"}};
}

}  // namespace rightsize::model
