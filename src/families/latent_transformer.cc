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

Value LatentTransformer::two_layers(const std::string& one, const std::string& two, std::int64_t outputs,
                                    std::int64_t inputs, const Size& rows) {
  const WeightRef first = matrix(one, outputs, inputs), second = matrix(two, outputs, outputs);
  Value x = f_.linear(first, f_.make(rows.times(inputs), Width::kStored));
  return f_.linear(second, f_.activate(std::move(x), Activation::kSilu));
}

}  // namespace rightsize::model
