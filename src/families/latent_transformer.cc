#include "families/latent_transformer.h"

#include <algorithm>
#include <utility>

namespace rightsize::model {

void read_latent_heads(const Config& config, ModelShape& shape, int heads, int head_dim) {
  shape.kind = ModelKind::kDiffusionTransformer;
  shape.heads = shape.kv_heads = config.count("num_attention_heads", heads, 1, kMostHeads);
  shape.head_dim = config.count("attention_head_dim", head_dim, 1, kWidestHead);
  shape.hidden = std::int64_t{shape.heads} * shape.head_dim;
  shape.intermediate = 4 * shape.hidden;
  shape.activation = Activation::kGeluTanh;
  shape.positions = Positions::kNone;
}

void read_video_size(const Config& config, ModelShape& shape, const UsualVideo& usual) {
  constexpr int kPixels = 8;
  read_latent_size(config, shape, static_cast<int>(usual.size.width / kPixels), kPixels);
  if (!config.resolution()) shape.image_height = static_cast<int>(usual.size.height / kPixels);
  shape.pipeline->frames = config.frames().value_or(usual.frames);
}

std::int64_t frame_patches(const ModelShape& shape) {
  const std::int64_t across = shape.image_size / shape.patch_size, down = latent_height(shape) / shape.patch_size;
  return std::max<std::int64_t>(1, across * down);
}

LayerWeights LatentTransformer::declare_attention(const std::string& prefix, const QkNorms& norms, std::int64_t inputs,
                                                  bool bias) {
  const std::int64_t keys = inputs > 0 ? inputs : h_;
  LayerWeights w;
  w.q = w.first = inventory_.linear(prefix + ".to_q", WeightRole::kAttention, h_, h_, bias);
  w.k = inventory_.linear(prefix + ".to_k", WeightRole::kAttention, h_, keys, bias);
  w.v = inventory_.linear(prefix + ".to_v", WeightRole::kAttention, h_, keys, bias);
  if (norms.width > 0) {
    w.q_norm = inventory_.norm(prefix + ".norm_q", norms.width, norms.bias);
    w.k_norm = inventory_.norm(prefix + ".norm_k", norms.width, norms.bias);
  }
  w.o = inventory_.output(prefix + ".to_out.0", WeightRole::kAttention, h_, h_, true);
  return w;
}

void LatentTransformer::declare_mlp(LayerWeights& w, const std::string& prefix, std::int64_t inner, bool bias) {
  w.up = inventory_.linear(prefix + ".net.0.proj", WeightRole::kMlp, inner, h_, bias);
  w.down = inventory_.output(prefix + ".net.2", WeightRole::kMlp, h_, inner, bias);
}

Value LatentTransformer::attend(const LayerWeights& w, const Value& x, const Value& y, std::int64_t queries,
                                std::int64_t keys, const QkNorms& norms, bool rotated) {
  const auto project = [&](WeightRef weight, WeightRef norm, const Value& from, std::int64_t tokens) {
    Value out = f_.linear(weight, from);
    const std::int64_t parts = norms.width > 0 ? h_ / norms.width : 1;
    if (norm) out = f_.norm(norms.kind, norm, std::move(out), kSamples.times(tokens * parts));
    return rotated && norm ? f_.scale(std::move(out)) : out;  // rotary positions take one more pass
  };
  Value q = project(w.q, w.q_norm, x, queries), k = project(w.k, w.k_norm, y, keys);
  Value v = f_.linear(w.v, y);
  AttentionOp how = encoder_attention();
  how.query_tokens = queries, how.key_tokens = keys;
  return f_.linear(w.o, f_.attention(std::move(q), std::move(k), std::move(v), how));
}

Value LatentTransformer::two_layers(const std::string& prefix, std::int64_t outputs, std::int64_t inputs,
                                    const Size& rows) {
  const WeightRef first = matrix(prefix + ".linear_1", outputs, inputs);
  const WeightRef second = matrix(prefix + ".linear_2", outputs, outputs);
  Value x = f_.linear(first, f_.make(rows.times(inputs), Width::kStored));
  return f_.linear(second, f_.activate(std::move(x), Activation::kSilu));
}

void LatentTransformer::embed_time(std::int64_t pooled, bool guidance) {
  two_layers("time_text_embed.timestep_embedder", h_, kTimeFeatures, kSamples);
  if (guidance) two_layers("time_text_embed.guidance_embedder", h_, kTimeFeatures, kSamples);
  two_layers("time_text_embed.text_embedder", h_, pooled, kSamples);
}

// The prompt's side of an attention, without an output matrix.
LayerWeights LatentTransformer::declare_last_prompt(const QkNorms& norms) {
  LayerWeights w;
  w.q = w.first = inventory_.linear("attn.add_q_proj", WeightRole::kAttention, h_, h_, true);
  w.k = inventory_.linear("attn.add_k_proj", WeightRole::kAttention, h_, h_, true);
  w.v = inventory_.linear("attn.add_v_proj", WeightRole::kAttention, h_, h_, true);
  if (norms.width > 0) {
    w.q_norm = inventory_.norm("attn.norm_added_q", norms.width, norms.bias);
    w.k_norm = inventory_.norm("attn.norm_added_k", norms.width, norms.bias);
  }
  return w;
}

void LatentTransformer::add_joint_layers(std::int32_t stack, int count, const JointLayers& how) {
  if (count <= 0) return;
  inventory_.begin_block(count);
  const WeightRef shift = matrix("norm1.linear", (how.dual ? 9 : 6) * h_, h_),
                  shift_context = matrix("norm1_context.linear", (how.last ? 2 : 6) * h_, h_);
  LayerWeights image = declare_attention("attn", how.norms), alone;
  LayerWeights spoken = how.last ? declare_last_prompt(how.norms) : declare_attention("attn.added", how.norms);
  if (how.dual) alone = declare_attention("attn2", how.norms);
  declare_mlp(image, "ff", shape_.intermediate);
  if (!how.last) declare_mlp(spoken, "ff_context", shape_.intermediate);
  inventory_.end_block();
  const std::int64_t tokens = tokens_ + how.prompt;
  const Size words = kSamples.times(how.prompt);
  const std::int32_t program = f_.program({kSamples.times(tokens * h_)}, [&](std::span<Value> in) {
    Value y = f_.slice(in[0], rows_.times(h_)), c = f_.slice(in[0], words.times(h_));
    shifts(shift, h_), shifts(shift_context, h_);
    Value normed = modulate(y, rows_);
    const HeadValues a = heads(image, normed, tokens_, how.rotated);
    if (!how.dual) normed.reset();
    const HeadValues b = heads(spoken, modulate(c, words), how.prompt, how.rotated);
    Value attended = joint(f_.cat(a.q, b.q), f_.cat(a.k, b.k), f_.cat(a.v, b.v), tokens);
    Value of_image = f_.slice(attended, rows_.times(h_)), of_words = f_.slice(std::move(attended), words.times(h_));
    y = f_.add(std::move(y), gate(f_.linear(image.o, std::move(of_image))));
    if (how.dual) {
      const HeadValues d = heads(alone, normed, tokens_, how.rotated);
      y = f_.add(std::move(y), gate(f_.linear(alone.o, joint(d.q, d.k, d.v, tokens_))));
    }
    if (!how.last) c = f_.add(std::move(c), gate(f_.linear(spoken.o, std::move(of_words))));
    y = f_.add(y, gate(feed(image, modulate(y, rows_))));
    if (!how.last) c = f_.add(c, gate(feed(spoken, modulate(c, words))));
    return f_.cat(std::move(y), std::move(c));
  });
  f_.add_layers(stack, shift, count, program);
}

void LatentTransformer::add_single_layers(std::int32_t stack, int count, std::int64_t tokens) {
  const std::int64_t inner = shape_.intermediate;
  const Size rows = kSamples.times(tokens);
  inventory_.begin_block(count);
  const WeightRef shift = matrix("single.norm.linear", 3 * h_, h_);
  LayerWeights w;
  w.q = inventory_.linear("single.attn.to_q", WeightRole::kAttention, h_, h_, true);
  w.k = inventory_.linear("single.attn.to_k", WeightRole::kAttention, h_, h_, true);
  w.v = inventory_.linear("single.attn.to_v", WeightRole::kAttention, h_, h_, true);
  w.q_norm = inventory_.norm("single.attn.norm_q", shape_.head_dim, false);
  w.k_norm = inventory_.norm("single.attn.norm_k", shape_.head_dim, false);
  w.up = inventory_.linear("single.proj_mlp", WeightRole::kMlp, inner, h_, true);
  w.o = inventory_.output("single.proj_out", WeightRole::kMlp, h_, h_ + inner, true);
  inventory_.end_block();
  const std::int32_t program = f_.program({rows.times(h_)}, [&](std::span<Value> in) {
    Value y = in[0];
    shifts(shift, h_);
    Value normed = modulate(y, rows);
    const HeadValues a = heads(w, normed, tokens);
    Value wide = f_.activate(f_.linear(w.up, std::move(normed)), Activation::kGeluTanh);
    wide = f_.cat(joint(a.q, a.k, a.v, tokens), std::move(wide));
    return f_.add(std::move(y), gate(f_.linear(w.o, std::move(wide))));
  });
  f_.add_layers(stack, shift, count, program);
}

}  // namespace rightsize::model
