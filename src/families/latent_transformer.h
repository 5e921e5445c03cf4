// Common parts of transformers that denoise the latents of images and videos: the size of the latents, attention over
// them and over the prompt, and modulation by the time step.
#pragma once

#include <string>

#include "families/family_writer.h"
#include "families/image_config.h"

namespace rightsize::model {

// The usual output of a video model, if the user names no resolution and no frames.
struct UsualVideo {
  ImageSize size = {};  // pixels
  int frames = 0;
};

// Heads and width, for classes that name them as diffusers does.
void read_latent_heads(const Config& config, ModelShape& shape, int heads, int head_dim);
// The side of the latents of a video (8 pixels each), and its frames in shape.pipeline.
void read_video_size(const Config& config, ModelShape& shape, const UsualVideo& usual);
// Latent frames: the first frame alone, then `ratio` frames in one.
inline std::int64_t latent_frames(const ModelShape& shape, int ratio = 4) {
  return (shape.pipeline->frames - 1) / ratio + 1;
}
// Patches of one latent frame.
std::int64_t frame_patches(const ModelShape& shape);

// A norm of q and of k.
struct QkNorms {
  NormKind kind = NormKind::kRms;
  std::int64_t width = 0;  // 0: none
  bool bias = false;
};

class LatentTransformer : protected FamilyWriter {
 protected:
  LatentTransformer(const Config& config, ModelShape& shape, std::int64_t tokens)
      : FamilyWriter(config, shape), h_(shape.hidden), tokens_(tokens), rows_(kSamples.times(tokens)) {}

  WeightRef matrix(const std::string& name, std::int64_t outputs, std::int64_t inputs, bool bias = true) {
    return inventory_.linear(name, WeightRole::kOther, outputs, inputs, bias);
  }

  // q, k, v, norms and the output matrix; keys and values read `inputs` elements, 0: the model's width.
  LayerWeights declare_attention(const std::string& prefix, const QkNorms& norms = {}, std::int64_t inputs = 0,
                                 bool bias = true);
  void declare_mlp(LayerWeights& w, const std::string& prefix, std::int64_t inner, bool bias = true);
  // Attention of `queries` tokens of x over `keys` tokens of y, with its output matrix.
  Value attend(const LayerWeights& w, const Value& x, const Value& y, std::int64_t queries, std::int64_t keys,
               const QkNorms& norms = {}, bool rotated = false);
  // q, k and v of `tokens` of x, with norms per head and, if `rotated`, rotary positions, which take one more pass.
  HeadValues heads(const LayerWeights& w, const Value& x, std::int64_t tokens, bool rotated = true) {
    const Size parts = kSamples.times(tokens * shape_.heads);
    const auto one = [&](WeightRef weight, WeightRef norm) {
      Value y = f_.linear(weight, x);
      if (norm) y = f_.norm(NormKind::kRms, norm, std::move(y), parts);
      return rotated && norm ? f_.scale(std::move(y)) : y;
    };
    return {one(w.q, w.q_norm), one(w.k, w.k_norm), f_.linear(w.v, x)};
  }
  // Attention of all tokens over all of them, without an output matrix.
  Value joint(Value q, Value k, Value v, std::int64_t tokens) {
    AttentionOp how = encoder_attention();
    how.query_tokens = how.key_tokens = tokens;
    return f_.attention(std::move(q), std::move(k), std::move(v), how);
  }
  Value feed(const LayerWeights& w, Value x) {
    return f_.linear(w.down, f_.activate(f_.linear(w.up, std::move(x)), Activation::kGeluTanh));
  }
  // Two matrices with an activation between them, over `rows`.
  Value two_layers(const std::string& prefix, std::int64_t outputs, std::int64_t inputs, const Size& rows);
  // Embeds time, the pooled prompt and, if it is distilled into the model, the strength of guidance.
  void embed_time(std::int64_t pooled, bool guidance);

  // Layers with separate weights for the prompt and the image (or video), which attend to both.
  struct JointLayers {
    std::int64_t prompt = 0;  // its tokens
    QkNorms norms = {};
    bool rotated = true;
    bool dual = false;  // the image also attends to itself alone
    bool last = false;  // nothing reads the prompt afterwards
  };
  void add_joint_layers(std::int32_t stack, int count, const JointLayers& how);
  // Layers over the `tokens` of image and prompt together; attention and an MLP share one output matrix.
  void add_single_layers(std::int32_t stack, int count, std::int64_t tokens);
  // A norm without weights, scaled and shifted by time.
  Value modulate(Value x, const Size& rows) {
    return f_.add_constant(f_.scale(f_.norm(NormKind::kLayer, {}, std::move(x), rows)));
  }
  Value gate(Value x) { return f_.scale(std::move(x)); }
  // The modulation of norms and gates by time: one row per sample.
  void shifts(WeightRef weight, std::int64_t inputs) {
    f_.linear(weight, f_.make(kSamples.times(inputs), Width::kStored), false);
  }
  // The latents cut into patches of `elements`, projected to the model's width.
  Value patches(const std::string& name, std::int64_t elements) {
    f_.input(rows_.times(elements), Width::kSingle);  // the noise to find
    return f_.linear(matrix(name, h_, elements), f_.input(rows_.times(elements), Width::kStored));
  }
  void finish(Value x) {
    f_.forward().exact = false;  // not checked against recorded allocations
    FamilyWriter::finish(f_.squared_loss(std::move(x)));
  }

  static constexpr std::int64_t kTimeFeatures = 256;

  std::int64_t h_, tokens_;
  Size rows_;

 private:
  LayerWeights declare_last_prompt(const QkNorms& norms);
};

}  // namespace rightsize::model
