// HunyuanVideo: like FLUX, it begins with layers that have separate weights for prompt and video, followed by layers
// over both. All patches of all frames attend to each other. The prompt first passes through a few separate layers.
#include <utility>

#include "families/latent_transformer.h"

namespace rightsize::model {
namespace {

class HunyuanVideo : LatentTransformer {
  static constexpr std::int64_t kPromptTokens = 256, kTimeFeatures = 256;

 public:
  HunyuanVideo(const Config& config, ModelShape& shape)
      : LatentTransformer(config, shape, latent_frames(shape) * frame_patches(shape)) {}

  void write(int singles, int refiners) {
    const std::int64_t patch = std::int64_t{shape_.patch_size} * shape_.patch_size, tokens = tokens_ + kPromptTokens;
    const std::int64_t inner = shape_.intermediate, text = config_.size("text_embed_dim", 4'096);
    const Size words = kSamples.times(kPromptTokens), all = kSamples.times(tokens);
    const QkNorms norms{NormKind::kRms, shape_.head_dim, false};
    Value x = patches("x_embedder.proj", shape_.channels * patch);
    Value prompt = refine(text, refiners, words);
    two_layers("time_text_embed.timestep_embedder.linear_1", "time_text_embed.timestep_embedder.linear_2", h_,
               kTimeFeatures, kSamples);
    if (config_.flag("guidance_embeds", true))
      two_layers("time_text_embed.guidance_embedder.linear_1", "time_text_embed.guidance_embedder.linear_2", h_,
                 kTimeFeatures, kSamples);
    two_layers("time_text_embed.text_embedder.linear_1", "time_text_embed.text_embedder.linear_2", h_,
               config_.size("pooled_projection_dim", 768), kSamples);

    inventory_.begin_block(shape_.layers - singles);
    const WeightRef shift = matrix("norm1.linear", 6 * h_, h_),
                    shift_context = matrix("norm1_context.linear", 6 * h_, h_);
    LayerWeights video = declare_attention("attn", norms), spoken = declare_attention("attn.added", norms);
    declare_mlp(video, "ff", inner);
    declare_mlp(spoken, "ff_context", inner);
    inventory_.end_block();
    const std::int32_t both = f_.program({all.times(h_)}, [&](std::span<Value> in) {
      Value y = f_.slice(in[0], rows_.times(h_)), c = f_.slice(in[0], words.times(h_));
      shifts(shift, h_), shifts(shift_context, h_);
      const HeadValues a = heads(video, modulate(y, rows_), tokens_),
                       b = heads(spoken, modulate(c, words), kPromptTokens);
      Value attended = joint(f_.cat(a.q, b.q), f_.cat(a.k, b.k), f_.cat(a.v, b.v), tokens);
      Value of_video = f_.slice(attended, rows_.times(h_)), of_words = f_.slice(std::move(attended), words.times(h_));
      y = f_.add(std::move(y), gate(f_.linear(video.o, std::move(of_video))));
      c = f_.add(std::move(c), gate(f_.linear(spoken.o, std::move(of_words))));
      y = f_.add(y, gate(feed(video, modulate(y, rows_))));
      c = f_.add(c, gate(feed(spoken, modulate(c, words))));
      return f_.cat(std::move(y), std::move(c));
    });
    inventory_.begin_block(singles);
    const WeightRef single_shift = matrix("single.norm.linear", 3 * h_, h_);
    LayerWeights one;
    one.q = inventory_.linear("single.attn.to_q", WeightRole::kAttention, h_, h_, true);
    one.k = inventory_.linear("single.attn.to_k", WeightRole::kAttention, h_, h_, true);
    one.v = inventory_.linear("single.attn.to_v", WeightRole::kAttention, h_, h_, true);
    one.q_norm = inventory_.norm("single.attn.norm_q", shape_.head_dim, false);
    one.k_norm = inventory_.norm("single.attn.norm_k", shape_.head_dim, false);
    one.up = inventory_.linear("single.proj_mlp", WeightRole::kMlp, inner, h_, true);
    one.o = inventory_.output("single.proj_out", WeightRole::kMlp, h_, h_ + inner, true);
    inventory_.end_block();
    const std::int32_t joined = f_.program({all.times(h_)}, [&](std::span<Value> in) {
      Value y = in[0];
      shifts(single_shift, h_);
      Value normed = modulate(y, all);
      const HeadValues a = heads(one, normed, tokens);
      Value wide = f_.activate(f_.linear(one.up, std::move(normed)), Activation::kGeluTanh);
      wide = f_.cat(joint(a.q, a.k, a.v, tokens), std::move(wide));
      return f_.add(std::move(y), gate(f_.linear(one.o, std::move(wide))));
    });
    const std::int32_t stack = f_.add_stack();
    f_.add_layers(stack, shift, shape_.layers - singles, both);
    f_.add_layers(stack, single_shift, singles, joined);
    x = f_.layers(stack, f_.cat(std::move(x), std::move(prompt)));
    x = f_.slice(std::move(x), rows_.times(h_));
    shifts(matrix("norm_out.linear", 2 * h_, h_), h_);
    finish(f_.linear(matrix("proj_out", config_.size("out_channels", 16) * patch, h_), modulate(std::move(x), rows_)));
  }

 private:
  // The prompt's own layers, with its time and pooled embedding.
  Value refine(std::int64_t text, int layers, const Size& words) {
    two_layers("context_embedder.time_text_embed.timestep_embedder.linear_1",
               "context_embedder.time_text_embed.timestep_embedder.linear_2", h_, kTimeFeatures, kSamples);
    two_layers("context_embedder.time_text_embed.text_embedder.linear_1",
               "context_embedder.time_text_embed.text_embedder.linear_2", h_, text, kSamples);
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
      .steps = 50, .guidance = false, .encoders = {"clip-l-text", "t5-v1.1-xxl-encoder"}, .decoder = "flux-vae"};
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
