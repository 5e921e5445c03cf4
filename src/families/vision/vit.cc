// Vision transformers of transformers (separate q, k, v) and torchvision (one matrix); DeiT.
#include <algorithm>

#include "families/family_writer.h"
#include "families/image_config.h"

namespace rightsize::model {
namespace {

class Vit : protected FamilyWriter {
 public:
  Vit(const Config& config, ModelShape& shape) : FamilyWriter(config, shape), rows_(kSamples.times(shape.context)) {}

  void write(bool qkv_bias, bool distilled) {
    const std::int64_t width = shape_.hidden;
    const WeightRef class_token = inventory_.vector("embeddings.cls_token", WeightRole::kPositionEmbedding, width);
    if (distilled) inventory_.vector("embeddings.distillation_token", WeightRole::kPositionEmbedding, width);
    const WeightRef places = positions("embeddings.position_embeddings", shape_.context);
    const WeightRef patches = declare_patches(inventory_, shape_, width);
    using L = LayerWeights;
    const bool fused = shape_.fused_qkv;
    const LayerWeights layer = declare_layers(shape_.layers, {{&L::qkv, fused ? "attention.in_proj" : "", qkv_bias},
                                                              {&L::q, fused ? "" : "attention.query", qkv_bias},
                                                              {&L::k, fused ? "" : "attention.key", qkv_bias},
                                                              {&L::v, fused ? "" : "attention.value", qkv_bias},
                                                              {&L::o, "attention.output.dense"},
                                                              {&L::up, "intermediate.dense"},
                                                              {&L::down, "output.dense"},
                                                              {&L::norm1, "layernorm_before"},
                                                              {&L::norm2, "layernorm_after"}});
    const WeightRef last_norm = inventory_.norm("layernorm", width, true);
    WeightRef classifier = declare_image_classifier(config_, inventory_, shape_, width);
    if (!classifier)
      classifier =
          inventory_.linear("pooler.dense", WeightRole::kOther, config_.size("pooler_output_size", width), width, true);

    Value x = embed(patches, class_token, places);
    x = run_layers(
        std::move(x), layer.first, [&](const Value& in) { return block(in, layer); }, rows_);
    x = layer_norm(last_norm, std::move(x), rows_);
    f_.head();
    Value first = f_.slice(x, kSamples.times(width));
    Value logits = f_.linear(classifier, std::move(first), false);
    Value loss = f_.class_loss(std::move(logits), kSamples);
    x.reset();
    finish(std::move(loss));
  }

 private:
  Value embed(WeightRef patches, WeightRef class_token, WeightRef places) {
    const std::int64_t side = shape_.image_size / std::max(1, shape_.patch_size), count = side * side;
    Value x = f_.convolution(patches, images_of(f_, shape_), kSamples.times(count));
    x = f_.view_copied_back(std::move(x));
    Value extra = f_.parameter_as(class_token, kSamples.times((shape_.context - count) * shape_.hidden));
    x = f_.cat(std::move(extra), std::move(x));
    x = f_.add(std::move(x), f_.parameter(places));
    f_.want_gradient(x);
    return x;
  }

  Value block(Value given, const LayerWeights& w) {
    Value x = std::move(given);
    Value residual = x;
    x = layer_norm(w.norm1, std::move(x), rows_);
    x = attention(std::move(x), w);
    x = f_.dropout(std::move(x), shape_.dropout);
    x = f_.add(std::move(x), residual);
    residual = x;
    x = layer_norm(w.norm2, std::move(x), rows_);
    x = f_.linear(w.up, std::move(x));
    x = f_.activate(std::move(x), shape_.activation);
    x = f_.linear(w.down, std::move(x));
    x = f_.dropout(std::move(x), shape_.dropout);
    return f_.add(std::move(x), residual);
  }

  Value attention(Value given, const LayerWeights& w) {
    Value x = std::move(given);
    AttentionOp how = encoder_attention();
    how.query_tokens = how.key_tokens = shape_.context;
    if (!w.qkv) return attend(w, x, how);
    // torch.nn.MultiheadAttention copies q, k and v into one tensor.
    Value packed = f_.copy(f_.linear(w.qkv, x), CopyKind::kBothWays);
    const Size each = rows_.times(shape_.hidden);
    Value q = f_.select(packed, each), k = f_.select(packed, each), v = f_.select(packed, each);
    q = f_.as_heads(std::move(q));
    k = f_.as_heads(std::move(k));
    v = f_.as_heads(std::move(v));
    packed.reset();
    return f_.linear(w.o, f_.attention(q, k, v, how));
  }

  Size rows_;
};

void read_vit(const Config& config, ModelShape& shape) {
  shape.kind = ModelKind::kVisionTransformer;
  read_sizes(config,
             {.intermediate = {"intermediate_size", 3'072},
              .context = {{}, 0},
              .dropout = {"hidden_dropout_prob", 0.0},
              .attention_dropout = {"attention_probs_dropout_prob", 0.0}},
             shape);
  read_patches(config, shape, 16);
  // torchvision's ViT keeps q, k and v in one matrix; otherwise it is the same model.
  shape.fused_qkv = config.json().get_string("library").value_or("transformers") == "torchvision";
  const bool distilled = shape.family == "deit";  // a second token in addition to the class token
  const std::int64_t side = shape.image_size / std::max(1, shape.patch_size);
  shape.context = side * side + (distilled ? 2 : 1);
  Vit(config, shape).write(config.flag("qkv_bias", true), distilled);
}

}  // namespace

Families vit() {
  return {
      {"vit", "Vision transformers, of transformers or torchvision", read_vit},
      {"deit", "DeiT: ViT with a distillation token", read_vit},
  };
}

}  // namespace rightsize::model
