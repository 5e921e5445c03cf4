// CLIP's text encoder, which reads prompts for Stable Diffusion and FLUX: causal, pre-norm, learned positions.
#include "families/family_writer.h"

namespace rightsize::model {
namespace {

class ClipText : protected FamilyWriter {
 public:
  using FamilyWriter::FamilyWriter;

  void write() {
    const std::int64_t h = shape_.hidden;
    const WeightRef words = tokens("embeddings.token_embedding");
    const WeightRef places = positions("embeddings.position_embedding", shape_.context);
    using L = LayerWeights;
    const LayerWeights layer = declare_layers(shape_.layers, {{&L::norm1, "layer_norm1"},
                                                              {&L::q, "self_attn.q_proj"},
                                                              {&L::k, "self_attn.k_proj"},
                                                              {&L::v, "self_attn.v_proj"},
                                                              {&L::o, "self_attn.out_proj"},
                                                              {&L::norm2, "layer_norm2"},
                                                              {&L::up, "mlp.fc1"},
                                                              {&L::down, "mlp.fc2"}});
    const WeightRef last = inventory_.norm("final_layer_norm", h, true);
    WeightRef projection;
    if (shape_.architecture == "CLIPTextModelWithProjection")
      projection =
          inventory_.linear("text_projection", WeightRole::kOther, config_.size("projection_dim", 512), h, false);
    Value x = f_.first_stage([&] {
      Value e = f_.add(f_.embedding(kTokens, words, h), f_.embedding(kPositions, places, h));
      f_.want_gradient(e);
      return e;
    });
    x = run_layers(std::move(x), layer.first, [&](const Value& in) { return block(in, layer); });
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
  Value block(Value x, const LayerWeights& w) {
    Value normed = layer_norm(w.norm1, x);
    Value q = f_.split_heads(f_.linear(w.q, normed));
    Value k = f_.split_heads(f_.linear(w.k, normed));
    Value v = f_.split_heads(f_.linear(w.v, std::move(normed)));
    AttentionOp how = attention_op();
    how.cached = false;
    x = f_.add(std::move(x), f_.linear(w.o, f_.attention(q, k, v, how)));
    Value inner = f_.activate(f_.linear(w.up, layer_norm(w.norm2, x)), shape_.activation);
    return f_.add(std::move(x), f_.linear(w.down, std::move(inner)));
  }
};

void read_clip_text(const Config& config, ModelShape& shape) {
  shape.kind = ModelKind::kEncoder;
  read_sizes(config,
             {.heads = {"num_attention_heads", 8},
              .intermediate = {"intermediate_size", 2'048},
              .vocabulary = 49'408,
              .context = {"max_position_embeddings", 77},
              .activation = {"hidden_act", "quick_gelu"},
              .dropout = {{}, 0.0},
              .attention_dropout = {{}, 0.0}},
             shape);
  ClipText(config, shape).write();
}

}  // namespace

Families clip_text() { return {{"clip_text_model", "CLIP's text encoder", read_clip_text}}; }

}  // namespace rightsize::model
