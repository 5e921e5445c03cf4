// OPT: learned positions, ReLU, dropout after each part; queries are scaled before attention.
#include <utility>

#include "families/decoder.h"
#include "families/families.h"
#include "families/family_writer.h"

namespace rightsize::model {
namespace {

struct Layout {
  std::int64_t embedding_width;
  bool bias, norm_affine, final_norm;
};

struct Layer {
  WeightRef q, k, v, o, norm1, up, down, norm2;
};

class Opt : protected FamilyWriter {
 public:
  Opt(const Config& config, ModelShape& shape, const Layout& layout) : FamilyWriter(config, shape), layout_(layout) {}

  void write() {
    const std::int64_t narrow = layout_.embedding_width;
    const WeightRef table =
        inventory_.embedding("embed_tokens", WeightRole::kTokenEmbedding, shape_.vocabulary, narrow);
    const WeightRef places =
        inventory_.embedding("embed_positions", WeightRole::kPositionEmbedding, shape_.context + 2, shape_.hidden);
    WeightRef project_out, project_in, last_norm;
    if (narrow != shape_.hidden) {  // OPT-350M embeds in 512 of its 1024
      project_out = inventory_.linear("project_out", WeightRole::kOther, narrow, shape_.hidden, false);
      project_in = inventory_.linear("project_in", WeightRole::kOther, shape_.hidden, narrow, false);
    }
    if (layout_.final_norm) last_norm = declare_norm("final_layer_norm");
    const Layer layer = declare_layer();
    const DecoderHead head = declare_decoder_head(config_, inventory_, shape_, narrow);
    Value x = body(table, places, project_in, layer);
    x = f_.last_stage(std::move(x), [&](Value last) {
      if (last_norm) last = layer_norm(last_norm, std::move(last));
      last = f_.linear(project_out, std::move(last));
      return decoder_loss(f_, shape_, head, table, std::move(last));
    });
    finish(std::move(x));
  }

 private:
  WeightRef declare_norm(const char* name) {
    return layout_.norm_affine ? inventory_.norm(name, shape_.hidden, true) : WeightRef{};
  }

  Layer declare_layer() {
    const std::int64_t width = shape_.hidden;
    const bool bias = layout_.bias;
    Layer w;
    inventory_.begin_block(shape_.layers);
    w.k = inventory_.keys("self_attn.k_proj", width, width, bias, shape_.head_dim);
    w.v = inventory_.keys("self_attn.v_proj", width, width, bias, shape_.head_dim);
    w.q = inventory_.linear("self_attn.q_proj", WeightRole::kAttention, width, width, bias);
    w.o = inventory_.output("self_attn.out_proj", WeightRole::kAttention, width, width, bias);
    w.norm1 = declare_norm("self_attn_layer_norm");
    w.up = inventory_.linear("fc1", WeightRole::kMlp, shape_.intermediate, width, bias);
    w.down = inventory_.output("fc2", WeightRole::kMlp, width, shape_.intermediate, bias);
    w.norm2 = declare_norm("final_layer_norm");
    inventory_.end_block();
    return w;
  }

  Value body(WeightRef table, WeightRef places, WeightRef project_in, const Layer& layer) {
    Value tokens, mask, positions;
    Value x = f_.first_stage([&] {
      tokens = f_.embedding(kTokens, table, layout_.embedding_width);
      tokens = f_.linear(project_in, std::move(tokens));
      mask = f_.make(kTokens, Width::kLong);
      f_.probe_mask(kTokens);
      positions = f_.embedding(kTokens, places, shape_.hidden);
      Value sum = f_.add(tokens, positions);
      f_.want_gradient(sum);
      return sum;
    });
    x = run_layers(std::move(x), layer.k, [&](Value in) { return block(std::move(in), layer); });
    tokens.reset();
    positions.reset();
    f_.release_shared();
    return x;
  }

  Value block(Value given, const Layer& w) {
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

  Value attention(Value given, const Layer& w) {
    Value x = std::move(given);
    Value q = f_.linear(w.q, x);
    q = f_.scale(std::move(q));
    q = f_.split_heads(std::move(q));
    Value k = f_.split_heads(f_.linear(w.k, x));
    Value v = f_.split_heads(f_.linear(w.v, x));
    return f_.linear(w.o, f_.attention(q, k, v, attention_of(shape_)));
  }

  const Layout& layout_;
};

void read_opt(const Config& config, ModelShape& shape) {
  shape.kind = ModelKind::kDecoder;
  shape.layers = config.layers("num_hidden_layers");
  shape.hidden = config.hidden("hidden_size");
  shape.heads = shape.kv_heads = config.count("num_attention_heads", 12, 1, kMostHeads);
  shape.head_dim = config.divide(shape.hidden, "hidden_size", shape.heads, "num_attention_heads");
  shape.intermediate = config.size("ffn_dim", 3'072, kWidestMlp);
  shape.vocabulary = config.size("vocab_size", 50'272, kLargestVocabulary);
  shape.context = config.size("max_position_embeddings", 2'048, kLongestContext);
  shape.activation = config.activation("activation_function", "relu");
  shape.dropout = config.dropout("dropout", 0.1);
  shape.attention_dropout = config.dropout("attention_dropout", 0.0);
  shape.positions = Positions::kLearned;
  shape.tied_embeddings = config.flag("tie_word_embeddings", true);

  Layout layout{};
  layout.embedding_width = config.size("word_embed_proj_dim", shape.hidden);
  layout.bias = config.flag("enable_bias", true);
  layout.norm_affine = config.flag("layer_norm_elementwise_affine", true);
  layout.final_norm = config.flag("do_layer_norm_before", true) && !config.flag("_remove_final_layer_norm", false);
  Opt(config, shape, layout).write();
}

}  // namespace

Families opt() {
  return {
      {"opt", "OPT: GPT-3 sizes, learned positions, ReLU", read_opt},
  };
}

}  // namespace rightsize::model
