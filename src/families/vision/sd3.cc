// Stable Diffusion 3: layers with separate weights for prompt and image that attend to both. In 3.5 medium the image of
// the first layers also attends to itself alone; the last layer drops the prompt.
#include <algorithm>
#include <utility>

#include "families/latent_transformer.h"

namespace rightsize::model {
namespace {

class StableDiffusion3 : LatentTransformer {
  // 77 of the CLIP encoders and 256 of T5, as the pipeline of diffusers joins them.
  static constexpr std::int64_t kPromptTokens = 333, kTimeFeatures = 256;

 public:
  StableDiffusion3(const Config& config, ModelShape& shape)
      : LatentTransformer(config, shape, frame_patches(shape)), words_(kSamples.times(kPromptTokens)) {}

  void write(int duals, bool norms) {
    norms_.width = norms ? shape_.head_dim : 0;
    const std::int64_t patch = std::int64_t{shape_.patch_size} * shape_.patch_size;
    const std::int64_t text = config_.size("joint_attention_dim", 4'096);
    Value x = patches("pos_embed.proj", shape_.channels * patch);
    two_layers("time_text_embed.timestep_embedder.linear_1", "time_text_embed.timestep_embedder.linear_2", h_,
               kTimeFeatures, kSamples);
    two_layers("time_text_embed.text_embedder.linear_1", "time_text_embed.text_embedder.linear_2", h_,
               config_.size("pooled_projection_dim", 2'048), kSamples);
    Value prompt = f_.linear(matrix("context_embedder", h_, text), f_.input(words_.times(text), Width::kStored));
    const std::int32_t stack = f_.add_stack();
    add_layers(stack, duals, true, false);
    add_layers(stack, shape_.layers - 1 - duals, false, false);
    add_layers(stack, 1, false, true);
    x = f_.layers(stack, f_.cat(std::move(x), std::move(prompt)));
    x = f_.slice(std::move(x), rows_.times(h_));
    shifts(matrix("norm_out.linear", 2 * h_, h_), h_);
    finish(f_.linear(matrix("proj_out", config_.size("out_channels", 16) * patch, h_), modulate(std::move(x), rows_)));
  }

 private:
  // `count` layers; `dual` ones have a second attention, the `last` one no output for the prompt.
  void add_layers(std::int32_t stack, int count, bool dual, bool last) {
    if (count <= 0) return;
    inventory_.begin_block(count);
    const WeightRef shift = matrix("norm1.linear", (dual ? 9 : 6) * h_, h_),
                    shift_context = matrix("norm1_context.linear", (last ? 2 : 6) * h_, h_);
    LayerWeights image = declare_attention("attn", norms_), spoken = declare_prompt(last), alone;
    if (dual) alone = declare_attention("attn2", norms_);
    declare_mlp(image, "ff", 4 * h_);
    if (!last) declare_mlp(spoken, "ff_context", 4 * h_);
    inventory_.end_block();
    const Size all = kSamples.times(tokens_ + kPromptTokens);
    const std::int32_t program = f_.program({all.times(h_)}, [&](std::span<Value> in) {
      Value y = f_.slice(in[0], rows_.times(h_)), c = f_.slice(in[0], words_.times(h_));
      shifts(shift, h_), shifts(shift_context, h_);
      Value normed = modulate(y, rows_);
      const HeadValues a = heads(image, normed, tokens_, false),
                       b = heads(spoken, modulate(c, words_), kPromptTokens, false);
      Value attended = joint(f_.cat(a.q, b.q), f_.cat(a.k, b.k), f_.cat(a.v, b.v), tokens_ + kPromptTokens);
      Value of_image = f_.slice(attended, rows_.times(h_)), of_words = f_.slice(std::move(attended), words_.times(h_));
      y = f_.add(std::move(y), gate(f_.linear(image.o, std::move(of_image))));
      if (dual) {
        const HeadValues d = heads(alone, normed, tokens_, false);
        y = f_.add(std::move(y), gate(f_.linear(alone.o, joint(d.q, d.k, d.v, tokens_))));
      }
      y = f_.add(y, gate(feed(image, modulate(y, rows_))));
      if (last) return f_.cat(std::move(y), std::move(c));
      c = f_.add(std::move(c), gate(f_.linear(spoken.o, std::move(of_words))));
      c = f_.add(c, gate(feed(spoken, modulate(c, words_))));
      return f_.cat(std::move(y), std::move(c));
    });
    f_.add_layers(stack, shift, count, program);
  }

  // The prompt's side of an attention, without an output matrix in the last layer.
  LayerWeights declare_prompt(bool last) {
    if (!last) return declare_attention("attn.added", norms_);
    LayerWeights w;
    w.q = w.first = inventory_.linear("attn.add_q_proj", WeightRole::kAttention, h_, h_, true);
    w.k = inventory_.linear("attn.add_k_proj", WeightRole::kAttention, h_, h_, true);
    w.v = inventory_.linear("attn.add_v_proj", WeightRole::kAttention, h_, h_, true);
    if (norms_.width > 0) {
      w.q_norm = inventory_.norm("attn.norm_added_q", norms_.width, norms_.bias);
      w.k_norm = inventory_.norm("attn.norm_added_k", norms_.width, norms_.bias);
    }
    return w;
  }

  Size words_;
  QkNorms norms_ = {};
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
