// CLIP's text encoder, which Stable Diffusion and FLUX read prompts with: causal, pre-norm, learned positions.
#include <utility>

#include "families/decoder.h"
#include "families/families.h"
#include "families/family_writer.h"

namespace rightsize::model {
namespace {

struct Layer {
  WeightRef norm1, q, k, v, o, norm2, up, down;
};

class ClipText : protected FamilyWriter {
 public:
  ClipText(const Config& config, ModelShape& shape) : FamilyWriter(config, shape) {}

  void write() {
    const std::int64_t h = shape_.hidden;
    const WeightRef words =
        inventory_.embedding("embeddings.token_embedding", WeightRole::kTokenEmbedding, shape_.vocabulary, h);
    const WeightRef places =
        inventory_.embedding("embeddings.position_embedding", WeightRole::kPositionEmbedding, shape_.context, h);
    const Layer layer = declare_layer();
    const WeightRef last = inventory_.norm("final_layer_norm", h, true);
    WeightRef projection;
    if (shape_.architecture == "CLIPTextModelWithProjection") {
      projection =
          inventory_.linear("text_projection", WeightRole::kOther, config_.size("projection_dim", 512), h, false);
    }
    Value x = f_.first_stage([&] {
      Value e = f_.add(f_.embedding(kTokens, words, h), f_.embedding(kPositions, places, h));
      f_.want_gradient(e);
      return e;
    });
    const std::int32_t stack = f_.add_stack();
    const std::int32_t program =
        f_.program({kTokens.times(h)}, [&](std::span<Value> in) { return block(in[0], layer); });
    f_.add_layers(stack, layer.norm1, shape_.layers, program);
    x = f_.layers(stack, std::move(x));
    x = f_.last_stage(std::move(x), [&](Value y) {
      y = layer_norm(last, std::move(y));
      f_.head();
      y = f_.slice(std::move(y), kSamples.times(h));
      if (projection) y = f_.linear(projection, std::move(y), false);
      return f_.class_loss(std::move(y), kSamples);
    });
    f_.forward().exact = false;
    finish(std::move(x));
  }

 private:
  Layer declare_layer() {
    const std::int64_t h = shape_.hidden;
    Layer w;
    inventory_.begin_block(shape_.layers);
    w.norm1 = inventory_.norm("layer_norm1", h, true);
    w.q = inventory_.linear("self_attn.q_proj", WeightRole::kAttention, h, h, true);
    w.k = inventory_.linear("self_attn.k_proj", WeightRole::kAttention, h, h, true);
    w.v = inventory_.linear("self_attn.v_proj", WeightRole::kAttention, h, h, true);
    w.o = inventory_.output("self_attn.out_proj", WeightRole::kAttention, h, h, true);
    w.norm2 = inventory_.norm("layer_norm2", h, true);
    w.up = inventory_.linear("mlp.fc1", WeightRole::kMlp, shape_.intermediate, h, true);
    w.down = inventory_.output("mlp.fc2", WeightRole::kMlp, h, shape_.intermediate, true);
    inventory_.end_block();
    return w;
  }

  Value block(Value x, const Layer& w) {
    Value normed = layer_norm(w.norm1, x);
    Value q = f_.split_heads(f_.linear(w.q, normed));
    Value k = f_.split_heads(f_.linear(w.k, normed));
    Value v = f_.split_heads(f_.linear(w.v, std::move(normed)));
    AttentionOp how = attention_of(shape_);
    how.cached = false;
    x = f_.add(std::move(x), f_.linear(w.o, f_.attention(q, k, v, how)));
    Value inner = f_.activate(f_.linear(w.up, layer_norm(w.norm2, x)), shape_.activation);
    return f_.add(std::move(x), f_.linear(w.down, std::move(inner)));
  }
};

void read_clip_text(const Config& config, ModelShape& shape) {
  shape.kind = ModelKind::kEncoder;
  shape.layers = config.layers("num_hidden_layers");
  shape.hidden = config.hidden("hidden_size");
  shape.heads = shape.kv_heads = config.count("num_attention_heads", 8, 1, kMostHeads);
  shape.head_dim = config.divide(shape.hidden, "hidden_size", shape.heads, "num_attention_heads");
  shape.intermediate = config.size("intermediate_size", 2'048, kWidestMlp);
  shape.vocabulary = config.size("vocab_size", 49'408, kLargestVocabulary);
  shape.context = config.size("max_position_embeddings", 77, kLongestContext);
  shape.activation = config.activation("hidden_act", "quick_gelu");
  shape.positions = Positions::kLearned;
  ClipText(config, shape).write();
}

}  // namespace

Families clip_text() {
  return {
      {"clip_text_model", "CLIP's text encoder", read_clip_text},
  };
}

}  // namespace rightsize::model
