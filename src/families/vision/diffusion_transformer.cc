// Transformers that remove noise from latents: DiT, and FLUX. The first layers of FLUX keep the prompt's tokens
// separate from the image's and attend to both.
#include <algorithm>
#include <utility>

#include "families/family_writer.h"
#include "families/image_config.h"
#include "families/latent_transformer.h"

namespace rightsize::model {
namespace {

constexpr std::int64_t kTimeFeatures = 256;

class Denoiser : protected FamilyWriter {
 public:
  Denoiser(const Config& config, ModelShape& shape) : FamilyWriter(config, shape), h_(shape.hidden) {
    const std::int64_t across = shape.image_size / shape.patch_size, down = latent_height(shape) / shape.patch_size;
    image_ = std::max<std::int64_t>(1, across * down);
  }

  void write_dit(std::int64_t classes, std::int64_t outputs) {
    const std::int64_t patch = std::int64_t{shape_.channels} * shape_.patch_size * shape_.patch_size;
    const Size rows = kSamples.times(image_);
    f_.input(rows.times(patch), Width::kSingle);  // the noise to find
    Value x = f_.linear(matrix("pos_embed.proj", h_, patch), f_.input(rows.times(patch), Width::kStored));
    inventory_.begin_block(shape_.layers);
    // Every block embeds time and class separately.
    const WeightRef first = matrix("norm1.emb.timestep_embedder.linear_1", h_, kTimeFeatures);
    const WeightRef second = matrix("norm1.emb.timestep_embedder.linear_2", h_, h_);
    inventory_.embedding("norm1.emb.class_embedder", WeightRole::kOther, classes + 1, h_);
    const WeightRef six = matrix("norm1.linear", 6 * h_, h_);
    const LayerWeights w = declare_stream("", 4);
    inventory_.end_block();
    const std::int32_t program = f_.program({rows.times(h_)}, [&](std::span<Value> in) {
      Value time =
          f_.activate(f_.linear(first, f_.make(kSamples.times(kTimeFeatures), Width::kStored)), Activation::kSilu);
      Value shifts = f_.linear(six, f_.activate(f_.linear(second, std::move(time)), Activation::kSilu));
      Value y = in[0];
      const HeadValues p = project(w, modulate(y, rows), rows, false);
      Value attended = attend_all(p.q, p.k, p.v, image_);
      y = f_.add(std::move(y), gate(f_.linear(w.o, std::move(attended))));
      return f_.add(y, gate(feed(w, modulate(y, rows))));
    });
    const std::int32_t stack = f_.add_stack();
    f_.add_layers(stack, first, shape_.layers, program);
    x = f_.layers(stack, std::move(x));
    x = modulate(std::move(x), rows);
    Value shift = f_.linear(matrix("proj_out_1", 2 * h_, h_), f_.make(kSamples.times(h_), Width::kStored));
    x = f_.linear(matrix("proj_out_2", outputs * shape_.patch_size * shape_.patch_size, h_), std::move(x));
    finish(f_.squared_loss(std::move(x)));
  }

  void write_flux(int singles, std::int64_t prompt) {
    const std::int64_t inputs = config_.size("in_channels", 64), text = config_.size("joint_attention_dim", 4'096);
    const Size rows = kSamples.times(image_), words = kSamples.times(prompt), all = kSamples.times(image_ + prompt);
    f_.input(rows.times(inputs), Width::kSingle);
    embed_time(config_.flag("guidance_embeds", false), config_.size("pooled_projection_dim", 768));
    Value context = f_.linear(matrix("context_embedder", h_, text), f_.input(words.times(text), Width::kStored));
    Value x = f_.linear(matrix("x_embedder", h_, inputs), f_.input(rows.times(inputs), Width::kStored));

    inventory_.begin_block(shape_.layers - singles);
    const WeightRef shift = matrix("norm1.linear", 6 * h_, h_),
                    shift_context = matrix("norm1_context.linear", 6 * h_, h_);
    const LayerWeights image = declare_stream("", 4, true), spoken = declare_stream("context_", 4, true);
    inventory_.end_block();
    const std::int32_t both = f_.program({all.times(h_)}, [&](std::span<Value> in) {
      Value y = f_.slice(in[0], rows.times(h_)), c = f_.slice(in[0], words.times(h_));
      shifts(shift), shifts(shift_context);
      const HeadValues p = project(image, modulate(y, rows), rows, true),
                       s = project(spoken, modulate(c, words), words, true);
      Value attended = attend_all(f_.cat(p.q, s.q), f_.cat(p.k, s.k), f_.cat(p.v, s.v), image_ + prompt);
      Value of_image = f_.slice(attended, rows.times(h_)), of_words = f_.slice(std::move(attended), words.times(h_));
      y = f_.add(std::move(y), gate(f_.linear(image.o, std::move(of_image))));
      c = f_.add(std::move(c), gate(f_.linear(spoken.o, std::move(of_words))));
      y = f_.add(y, gate(feed(image, modulate(y, rows))));
      c = f_.add(c, gate(feed(spoken, modulate(c, words))));
      return f_.cat(std::move(y), std::move(c));
    });
    inventory_.begin_block(singles);
    const WeightRef single_shift = matrix("single.norm.linear", 3 * h_, h_);
    LayerWeights single = declare_stream("single_", 0, true);
    single.up = inventory_.linear("single.proj_mlp", WeightRole::kMlp, 4 * h_, h_, true);
    single.o = inventory_.output("single.proj_out", WeightRole::kMlp, h_, 5 * h_, true);
    inventory_.end_block();
    const std::int32_t joined = f_.program({all.times(h_)}, [&](std::span<Value> in) {
      Value y = in[0];
      shifts(single_shift);
      Value normed = modulate(y, all);
      const HeadValues p = project(single, normed, all, true);
      Value inner = f_.activate(f_.linear(single.up, std::move(normed)), Activation::kGeluTanh);
      Value wide = f_.cat(attend_all(p.q, p.k, p.v, image_ + prompt), std::move(inner));
      return f_.add(std::move(y), gate(f_.linear(single.o, std::move(wide))));
    });
    const std::int32_t stack = f_.add_stack();
    f_.add_layers(stack, shift, shape_.layers - singles, both);
    f_.add_layers(stack, single_shift, singles, joined);
    x = f_.layers(stack, f_.cat(std::move(x), std::move(context)));
    x = f_.slice(std::move(x), rows.times(h_));
    shifts(matrix("norm_out.linear", 2 * h_, h_));
    x = f_.linear(matrix("proj_out", inputs, h_), modulate(std::move(x), rows));
    finish(f_.squared_loss(std::move(x)));
  }

 private:
  WeightRef matrix(const char* name, std::int64_t outputs, std::int64_t inputs) {
    return inventory_.linear(name, WeightRole::kOther, outputs, inputs, true);
  }

  // Attention and, unless `widen` is 0, an MLP that is `widen` times as wide inside.
  LayerWeights declare_stream(const std::string& prefix, int widen, bool norms = false) {
    LayerWeights w;
    auto attention = [&](const char* name) {
      return inventory_.linear(prefix + name, WeightRole::kAttention, h_, h_, true);
    };
    w.q = attention("attn.to_q"), w.k = attention("attn.to_k"), w.v = attention("attn.to_v");
    if (norms) {
      w.q_norm = inventory_.norm(prefix + "attn.norm_q", shape_.head_dim, false);
      w.k_norm = inventory_.norm(prefix + "attn.norm_k", shape_.head_dim, false);
    }
    if (widen == 0) return w;
    w.o = inventory_.output(prefix + "attn.to_out", WeightRole::kAttention, h_, h_, true);
    w.up = inventory_.linear(prefix + "ff.net.0.proj", WeightRole::kMlp, widen * h_, h_, true);
    w.down = inventory_.output(prefix + "ff.net.2", WeightRole::kMlp, h_, widen * h_, true);
    return w;
  }

  // Time, pooled prompt and, if it is distilled into the model, the strength of guidance.
  void embed_time(bool guidance, std::int64_t pooled) {
    auto mlp = [&](const char* one, const char* two, std::int64_t inputs) {
      const WeightRef a = matrix(one, h_, inputs), b = matrix(two, h_, h_);
      Value t = f_.linear(a, f_.make(kSamples.times(inputs), Width::kStored), false);
      f_.linear(b, f_.activate(std::move(t), Activation::kSilu), false);
    };
    mlp("time_text_embed.timestep_embedder.linear_1", "time_text_embed.timestep_embedder.linear_2", kTimeFeatures);
    if (guidance)
      mlp("time_text_embed.guidance_embedder.linear_1", "time_text_embed.guidance_embedder.linear_2", kTimeFeatures);
    mlp("time_text_embed.text_embedder.linear_1", "time_text_embed.text_embedder.linear_2", pooled);
  }

  // The shifts and scales of a stream's norms and gates, computed from time.
  void shifts(WeightRef weight) { f_.linear(weight, f_.make(kSamples.times(h_), Width::kStored), false); }
  // A norm without weights, then scaled and shifted by time.
  Value modulate(Value x, const Size& rows) {
    return f_.add_constant(f_.scale(f_.norm(NormKind::kLayer, {}, std::move(x), rows)));
  }
  Value gate(Value x) { return f_.scale(std::move(x)); }

  HeadValues project(const LayerWeights& w, const Value& x, const Size& rows, bool rotated) {
    auto one = [&](WeightRef weight, WeightRef norm) {
      Value y = f_.linear(weight, x);
      if (norm) y = f_.norm(NormKind::kRms, norm, std::move(y), rows.times(shape_.heads));
      return rotated && norm ? f_.scale(std::move(y)) : y;  // rotary positions take one more pass
    };
    return {one(w.q, w.q_norm), one(w.k, w.k_norm), one(w.v, {})};
  }
  Value attend_all(Value q, Value k, Value v, std::int64_t tokens) {
    AttentionOp how = encoder_attention();
    how.query_tokens = how.key_tokens = tokens;
    return f_.attention(std::move(q), std::move(k), std::move(v), how);
  }
  Value feed(const LayerWeights& w, Value x) {
    return f_.linear(w.down, f_.activate(f_.linear(w.up, std::move(x)), Activation::kGeluTanh));
  }
  void finish(Value x) {
    f_.forward().exact = false;
    FamilyWriter::finish(std::move(x));
  }

  std::int64_t h_, image_ = 1;
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
