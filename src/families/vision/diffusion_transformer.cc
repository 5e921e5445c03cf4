// Transformers that remove noise from latents: DiT, and FLUX. The first layers of FLUX keep the prompt's tokens
// separate from the image's and attend to both.
#include <utility>

#include "families/latent_transformer.h"

namespace rightsize::model {
namespace {

class Denoiser : LatentTransformer {
 public:
  Denoiser(const Config& config, ModelShape& shape) : LatentTransformer(config, shape, frame_patches(shape)) {}

  void write_dit(std::int64_t classes, std::int64_t outputs) {
    const std::int64_t patch = std::int64_t{shape_.patch_size} * shape_.patch_size;
    Value x = patches("pos_embed.proj", shape_.channels * patch);
    inventory_.begin_block(shape_.layers);
    // Every block embeds time and class separately.
    const WeightRef first = matrix("norm1.emb.timestep_embedder.linear_1", h_, kTimeFeatures);
    const WeightRef second = matrix("norm1.emb.timestep_embedder.linear_2", h_, h_);
    inventory_.embedding("norm1.emb.class_embedder", WeightRole::kOther, classes + 1, h_);
    const WeightRef six = matrix("norm1.linear", 6 * h_, h_);
    LayerWeights w = declare_attention("attn");
    declare_mlp(w, "ff", shape_.intermediate);
    inventory_.end_block();
    const std::int32_t program = f_.program({rows_.times(h_)}, [&](std::span<Value> in) {
      Value time =
          f_.activate(f_.linear(first, f_.make(kSamples.times(kTimeFeatures), Width::kStored)), Activation::kSilu);
      Value shifts = f_.linear(six, f_.activate(f_.linear(second, std::move(time)), Activation::kSilu));
      Value y = in[0];
      const HeadValues p = heads(w, modulate(y, rows_), tokens_, false);
      Value attended = joint(p.q, p.k, p.v, tokens_);
      y = f_.add(std::move(y), gate(f_.linear(w.o, std::move(attended))));
      return f_.add(y, gate(feed(w, modulate(y, rows_))));
    });
    const std::int32_t stack = f_.add_stack();
    f_.add_layers(stack, first, shape_.layers, program);
    x = f_.layers(stack, std::move(x));
    x = modulate(std::move(x), rows_);
    Value shift = f_.linear(matrix("proj_out_1", 2 * h_, h_), f_.make(kSamples.times(h_), Width::kStored));
    finish(f_.linear(matrix("proj_out_2", outputs * patch, h_), std::move(x)));
  }

  void write_flux(int singles, std::int64_t prompt) {
    const std::int64_t inputs = config_.size("in_channels", 64), text = config_.size("joint_attention_dim", 4'096);
    f_.input(rows_.times(inputs), Width::kSingle);
    embed_time(config_.size("pooled_projection_dim", 768), config_.flag("guidance_embeds", false));
    Value context =
        f_.linear(matrix("context_embedder", h_, text), f_.input(kSamples.times(prompt * text), Width::kStored));
    Value x = f_.linear(matrix("x_embedder", h_, inputs), f_.input(rows_.times(inputs), Width::kStored));
    const std::int32_t stack = f_.add_stack();
    add_joint_layers(stack, shape_.layers - singles,
                     {.prompt = prompt, .norms = {NormKind::kRms, shape_.head_dim, false}});
    add_single_layers(stack, singles, tokens_ + prompt);
    x = f_.layers(stack, f_.cat(std::move(x), std::move(context)));
    x = f_.slice(std::move(x), rows_.times(h_));
    shifts(matrix("norm_out.linear", 2 * h_, h_), h_);
    finish(f_.linear(matrix("proj_out", inputs, h_), modulate(std::move(x), rows_)));
  }
};

void read_dit(const Config& config, ModelShape& shape) {
  if (config.json().get_string("norm_type").value_or("ada_norm_zero") != "ada_norm_zero")
    config.json().fail_at("norm_type",
                          "only DiT is supported among Transformer2DModel configurations ('norm_type': ada_norm_zero)");
  read_latent_heads(config, shape, 16, 72);
  shape.layers = config.count("num_layers", 28);
  shape.channels = config.count("in_channels", 4, 1, kWidest);
  shape.patch_size = config.count("patch_size", 2, 1, 64);
  shape.positions = Positions::kSinusoidal;
  read_latent_size(config, shape, 32, 8);
  shape.pipeline = ImagePipeline{.steps = 50, .guidance = true, .decoder = "sd-vae"};
  Denoiser(config, shape)
      .write_dit(config.size("num_embeds_ada_norm", 1'000, kLargestVocabulary), config.size("out_channels", 8));
}

// in_channels holds 2 x 2 latents side by side. FLUX.1 schnell is distilled to a few steps, dev to need no second pass.
void read_flux(const Config& config, ModelShape& shape) {
  constexpr std::int64_t kPromptTokens = 512;
  read_latent_heads(config, shape, 24, 128);
  shape.positions = Positions::kRotary;
  const int singles = config.count("num_single_layers", 38);
  shape.layers = config.count("num_layers", 19) + singles;
  shape.patch_size = 2;
  shape.channels = config.count("in_channels", 64, 1, kWidest) / 4;
  shape.positions = Positions::kRotary;
  shape.rotary_dim = shape.head_dim;
  read_latent_size(config, shape, 128, 8);
  const bool distilled = !config.flag("guidance_embeds", false);
  shape.pipeline = ImagePipeline{.steps = distilled ? 4 : 28,
                                 .guidance = false,
                                 .encoders = {"clip-l-text", "t5-v1.1-xxl-encoder"},
                                 .decoder = "flux-vae"};
  Denoiser(config, shape).write_flux(singles, kPromptTokens);
}

}  // namespace

Families diffusion_transformer() {
  return {
      {"dit",
       "DiT: class-conditional latents (diffusers DiTTransformer2DModel)",
       read_dit,
       {"Transformer2DModel"},
       "DiTTransformer2DModel"},
      {"flux", "FLUX.1 (diffusers FluxTransformer2DModel)", read_flux, {}, "FluxTransformer2DModel"},
  };
}

}  // namespace rightsize::model
