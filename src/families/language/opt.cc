// OPT: learned positions, ReLU, dropout after each part; queries are scaled before attention.
#include "families/family_writer.h"

namespace rightsize::model {
namespace {

class Opt : protected FamilyWriter {
 public:
  Opt(const Config& config, ModelShape& shape)
      : FamilyWriter(config, shape),
        narrow_(config.size("word_embed_proj_dim", shape.hidden)),
        affine_(config.flag("layer_norm_elementwise_affine", true)) {}

  void write() {
    const bool bias = config_.flag("enable_bias", true);
    const bool final_norm =
        config_.flag("do_layer_norm_before", true) && !config_.flag("_remove_final_layer_norm", false);
    const WeightRef table =
        inventory_.embedding("embed_tokens", WeightRole::kTokenEmbedding, shape_.vocabulary, narrow_);
    const WeightRef places = positions("embed_positions", shape_.context + 2);
    WeightRef project_out, project_in, last_norm;
    if (narrow_ != shape_.hidden) {  // OPT-350M embeds in 512 of its 1024
      project_out = inventory_.linear("project_out", WeightRole::kOther, narrow_, shape_.hidden, false);
      project_in = inventory_.linear("project_in", WeightRole::kOther, shape_.hidden, narrow_, false);
    }
    if (final_norm && affine_) last_norm = inventory_.norm("final_layer_norm", shape_.hidden, true);
    using L = LayerWeights;
    const LayerWeights layer = declare_layers(shape_.layers, {{&L::k, "self_attn.k_proj", bias},
                                                              {&L::v, "self_attn.v_proj", bias},
                                                              {&L::q, "self_attn.q_proj", bias},
                                                              {&L::o, "self_attn.out_proj", bias},
                                                              {&L::norm1, affine_ ? "self_attn_layer_norm" : ""},
                                                              {&L::up, "fc1", bias},
                                                              {&L::down, "fc2", bias},
                                                              {&L::norm2, affine_ ? "final_layer_norm" : ""}});
    const DecoderHead head = declare_head(narrow_);
    Value x = body(table, places, project_in, layer);
    x = f_.last_stage(std::move(x), [&](Value last) {
      if (last_norm) last = layer_norm(last_norm, std::move(last));
      last = f_.linear(project_out, std::move(last));
      return decoder_loss(head, table, std::move(last));
    });
    finish(std::move(x));
  }

 private:
  Value body(WeightRef table, WeightRef places, WeightRef project_in, const LayerWeights& layer) {
    Value words, mask, position;
    Value x = f_.first_stage([&] {
      words = f_.embedding(kTokens, table, narrow_);
      words = f_.linear(project_in, std::move(words));
      mask = f_.make(kTokens, Width::kLong);
      f_.probe_mask(kTokens);
      position = f_.embedding(kTokens, places, shape_.hidden);
      Value sum = f_.add(words, position);
      f_.want_gradient(sum);
      return sum;
    });
    x = run_layers(std::move(x), layer.first, [&](Value in) { return block(std::move(in), layer); });
    words.reset();
    position.reset();
    f_.release_shared();
    return x;
  }

  Value block(Value given, const LayerWeights& w) {
    Value x = std::move(given);
    Value residual = x;
    x = layer_norm(w.norm1, std::move(x));
    x = attention(x, w);
    x = f_.dropout(std::move(x), shape_.dropout);
    x = f_.add(residual, std::move(x));
    residual = x;
    x = layer_norm(w.norm2, std::move(x));
    x = f_.linear(w.up, std::move(x), false);
    x = f_.activate(std::move(x), shape_.activation);
    x = f_.linear(w.down, std::move(x), false);
    x = f_.dropout(std::move(x), shape_.dropout);
    return f_.add(residual, std::move(x));
  }

  Value attention(const Value& x, const LayerWeights& w) {
    Value q = f_.linear(w.q, x);
    q = f_.scale(std::move(q));
    q = f_.split_heads(std::move(q));
    Value k = f_.split_heads(f_.linear(w.k, x));
    Value v = f_.split_heads(f_.linear(w.v, x));
    return f_.linear(w.o, f_.attention(q, k, v, attention_op()));
  }

  std::int64_t narrow_;  // width of the token embedding
  bool affine_;          // norms have weights
};

void read_opt(const Config& config, ModelShape& shape) {
  const SizeFields fields = {.intermediate = {"ffn_dim", 3'072},
                             .vocabulary = 50'272,
                             .activation = {"activation_function", "relu"},
                             .dropout = {"dropout", 0.1},
                             .attention_dropout = {"attention_dropout", 0.0}};
  read_sizes(config, fields, shape);
  shape.tied_embeddings = config.flag("tie_word_embeddings", true);
  Opt(config, shape).write();
}

}  // namespace

Families opt() { return {{"opt", "OPT: GPT-3 sizes, learned positions, ReLU", read_opt}}; }

}  // namespace rightsize::model
