// Vision transformers of transformers (separate q, k, v) and torchvision (one matrix); DeiT.
#include <algorithm>
#include <utility>

#include "families/decoder.h"
#include "families/families.h"
#include "families/family_writer.h"
#include "families/image_config.h"

namespace rightsize::model {
namespace {

struct Layer {
  WeightRef qkv, q, k, v, o, up, down, norm1, norm2;
};

class Vit : protected FamilyWriter {
 public:
  Vit(const Config& config, ModelShape& shape) : FamilyWriter(config, shape), rows_(kSamples.times(shape.context)) {}

  void write(bool qkv_bias, bool distilled) {
    const std::int64_t width = shape_.hidden;
    const WeightRef class_token = inventory_.vector("embeddings.cls_token", WeightRole::kPositionEmbedding, width);
    if (distilled) inventory_.vector("embeddings.distillation_token", WeightRole::kPositionEmbedding, width);
    const WeightRef places =
        inventory_.embedding("embeddings.position_embeddings", WeightRole::kPositionEmbedding, shape_.context, width);
    const WeightRef patches = declare_patches(inventory_, shape_, width);
    const Layer layer = declare_layer(qkv_bias);
    const WeightRef last_norm = inventory_.norm("layernorm", width, true);
    WeightRef classifier = declare_image_classifier(config_, inventory_, shape_, width);
    if (!classifier) {
      classifier =
          inventory_.linear("pooler.dense", WeightRole::kOther, config_.size("pooler_output_size", width), width, true);
    }

    Value x = embed(patches, class_token, places);
    const std::int32_t stack = f_.add_stack();
    const std::int32_t program =
        f_.program({rows_.times(width)}, [&](std::span<Value> in) { return block(in[0], layer); });
    f_.add_layers(stack, layer.qkv ? layer.qkv : layer.q, shape_.layers, program);
    x = f_.layers(stack, std::move(x));
    x = norm(last_norm, std::move(x));
    f_.head();
    Value first = f_.slice(x, kSamples.times(width));
    Value logits = f_.linear(classifier, std::move(first), false);
    Value loss = f_.class_loss(std::move(logits), kSamples);
    x.reset();
    finish(std::move(loss));
  }

 private:
  Layer declare_layer(bool qkv_bias) {
    const std::int64_t width = shape_.hidden;
    const WeightRole role = WeightRole::kAttention;
    Layer w;
    inventory_.begin_block(shape_.layers);
    if (shape_.fused_qkv) {
      w.qkv = inventory_.linear("attention.in_proj", role, 3 * width, width, qkv_bias);
    } else {
      w.q = inventory_.linear("attention.query", role, width, width, qkv_bias);
      w.k = inventory_.linear("attention.key", role, width, width, qkv_bias);
      w.v = inventory_.linear("attention.value", role, width, width, qkv_bias);
    }
    w.o = inventory_.output("attention.output.dense", role, width, width, true);
    w.up = inventory_.linear("intermediate.dense", WeightRole::kMlp, shape_.intermediate, width, true);
    w.down = inventory_.output("output.dense", WeightRole::kMlp, width, shape_.intermediate, true);
    w.norm1 = inventory_.norm("layernorm_before", width, true);
    w.norm2 = inventory_.norm("layernorm_after", width, true);
    inventory_.end_block();
    return w;
  }

  Value norm(WeightRef weight, Value x) { return f_.norm(NormKind::kLayer, weight, std::move(x), rows_); }

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

  Value block(Value given, const Layer& w) {
    Value x = std::move(given);
    Value residual = x;
    x = norm(w.norm1, std::move(x));
    x = attention(std::move(x), w);
    x = f_.dropout(std::move(x), shape_.dropout);
    x = f_.add(std::move(x), residual);
    residual = x;
    x = norm(w.norm2, std::move(x));
    x = f_.linear(w.up, std::move(x));
    x = f_.activate(std::move(x), shape_.activation);
    x = f_.linear(w.down, std::move(x));
    x = f_.dropout(std::move(x), shape_.dropout);
    return f_.add(std::move(x), residual);
  }

  Value attention(Value given, const Layer& w) {
    Value x = std::move(given);
    AttentionOp how = attention_of(shape_);
    how.causal = how.cached = false;
    how.query_tokens = how.key_tokens = shape_.context;
    Value q, k, v;
    if (w.qkv) {
      // torch.nn.MultiheadAttention puts q, k and v behind one another by a copy.
      Value packed = f_.copy(f_.linear(w.qkv, x), CopyKind::kBothWays);
      const Size each = rows_.times(shape_.hidden);
      q = f_.select(packed, each);
      k = f_.select(packed, each);
      v = f_.select(packed, each);
      q = f_.as_heads(std::move(q));
      k = f_.as_heads(std::move(k));
      v = f_.as_heads(std::move(v));
      packed.reset();
      return f_.linear(w.o, f_.attention(q, k, v, how));
    }
    q = f_.split_heads(f_.linear(w.q, x));
    k = f_.split_heads(f_.linear(w.k, x));
    v = f_.split_heads(f_.linear(w.v, x));
    return f_.linear(w.o, f_.attention(q, k, v, how));
  }

  Size rows_;
};

void read_vit(const Config& config, ModelShape& shape) {
  shape.kind = ModelKind::kVisionTransformer;
  shape.layers = config.layers("num_hidden_layers");
  shape.hidden = config.hidden("hidden_size");
  shape.heads = shape.kv_heads = config.count("num_attention_heads", 12, 1, kMostHeads);
  shape.head_dim = config.divide(shape.hidden, "hidden_size", shape.heads, "num_attention_heads");
  shape.intermediate = config.size("intermediate_size", 3'072, kWidestMlp);
  shape.activation = config.activation("hidden_act", "gelu");
  shape.dropout = config.dropout("hidden_dropout_prob", 0.0);
  shape.attention_dropout = config.dropout("attention_probs_dropout_prob", 0.0);
  shape.positions = Positions::kLearned;
  read_patches(config, shape, 16);
  // torchvision's ViT keeps q, k and v in one matrix; otherwise it is the same model.
  shape.fused_qkv = config.json().get_string("library").value_or("transformers") == "torchvision";
  const bool distilled = shape.family == "deit";  // a second token beside the class token
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
