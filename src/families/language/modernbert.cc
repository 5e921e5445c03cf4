// ModernBERT: a pre-norm encoder without biases, rotary positions, gated MLPs; every third layer attends to everything,
// the others within a window.
#include <map>
#include <utility>

#include "families/decoder.h"
#include "families/families.h"
#include "families/family_writer.h"

namespace rightsize::model {
namespace {

class ModernBert : protected FamilyWriter {
 public:
  ModernBert(const Config& config, ModelShape& shape) : FamilyWriter(config, shape) {}

  void write() {
    const std::int64_t h = shape_.hidden;
    bias_ = config_.flag("norm_bias", false);
    table_ = inventory_.embedding("embeddings.tok_embeddings", WeightRole::kTokenEmbedding, shape_.vocabulary, h);
    first_norm_ = inventory_.norm("embeddings.norm", h, bias_);
    // The first layer's attention reads the embeddings' norm as it is.
    const Layer first = declare_layer(1, false), rest = declare_layer(shape_.layers - 1, true);
    last_norm_ = inventory_.norm("final_norm", h, bias_);
    declare_head();

    Value x = f_.first_stage([&] {
      Value e = layer_norm(first_norm_, f_.embedding(kTokens, table_, h));
      f_.want_gradient(e);
      return e;
    });
    rotary_ = f_.rotary_tables(shape_.rotary_dim, x);
    const std::int32_t stack = f_.add_stack();
    add_layers(stack, first, 0, 1);
    if (shape_.layers > 1) add_layers(stack, rest, 1, shape_.layers - 1);
    x = f_.layers(stack, std::move(x));
    x = layer_norm(last_norm_, std::move(x));
    f_.release_shared();
    x = f_.last_stage(std::move(x), [&](Value last) { return loss(std::move(last)); });
    f_.forward().exact = false;
    finish(std::move(x));
  }

 private:
  struct Layer {
    WeightRef norm1, qkv, o, norm2, wide, down, first;
  };

  Layer declare_layer(int count, bool normed) {
    const std::int64_t h = shape_.hidden;
    const bool attention_bias = config_.flag("attention_bias", false), mlp_bias = config_.flag("mlp_bias", false);
    Layer w;
    inventory_.begin_block(count);
    if (normed) w.norm1 = w.first = inventory_.norm("attn_norm", h, bias_);
    w.qkv = inventory_.linear("attn.Wqkv", WeightRole::kAttention, 3 * h, h, attention_bias);
    if (!normed) w.first = w.qkv;
    w.o = inventory_.output("attn.Wo", WeightRole::kAttention, h, h, attention_bias);
    w.norm2 = inventory_.norm("mlp_norm", h, bias_);
    w.wide = inventory_.linear("mlp.Wi", WeightRole::kMlp, 2 * shape_.intermediate, h, mlp_bias);
    w.down = inventory_.output("mlp.Wo", WeightRole::kMlp, h, shape_.intermediate, mlp_bias);
    inventory_.end_block();
    return w;
  }

  void declare_head() {
    const Head head = config_.head(Head::kMaskedLm);
    if (head == Head::kBase) return;
    dense_ = inventory_.linear("head.dense", WeightRole::kHead, shape_.hidden, shape_.hidden,
                               config_.flag("classifier_bias", false));
    head_norm_ = inventory_.norm("head.norm", shape_.hidden, bias_);
    if (head == Head::kMaskedLm) {
      masked_ = true;
      if (config_.flag("decoder_bias", true)) {
        decoder_bias_ = inventory_.logits_bias("decoder.bias", shape_.vocabulary);
      }
      return;
    }
    shape_.labels = head == Head::kQuestionAnswering ? 2 : config_.labels();
    classifier_ = inventory_.linear("classifier", WeightRole::kHead, shape_.labels, shape_.hidden, true);
  }

  void add_layers(std::int32_t stack, const Layer& w, int begin, int count) {
    std::map<std::int64_t, std::int32_t> by_window;
    std::vector<std::int32_t> programs;
    for (int i = begin; i < begin + count; ++i) {
      const std::int64_t window = i % std::max(1, shape_.full_attention_every) == 0 ? 0 : shape_.sliding_window;
      const auto [found, is_new] = by_window.try_emplace(window, 0);
      if (is_new) {
        found->second =
            f_.program({kTokens.times(shape_.hidden)}, [&](std::span<Value> in) { return block(in[0], w, window); });
      }
      programs.push_back(found->second);
    }
    f_.add_layers(stack, w.first, std::move(programs));
  }

  Value block(Value x, const Layer& w, std::int64_t window) {
    Value normed = w.norm1 ? layer_norm(w.norm1, x) : x;
    Value qkv = f_.linear(w.qkv, std::move(normed));
    const Size each = kTokens.split_into(shape_.heads, shape_.head_dim);
    auto [q, k, v] = f_.split(std::move(qkv), each, each, each);
    q = f_.rotate(f_.split_heads(std::move(q)), rotary_);
    k = f_.rotate(f_.split_heads(std::move(k)), rotary_);
    v = f_.split_heads(std::move(v));
    AttentionOp how = attention_of(shape_);
    how.causal = how.cached = false;
    how.window = window;
    x = f_.add(std::move(x), f_.linear(w.o, f_.attention(q, k, v, how)));
    auto [inner, gate] = f_.halves(f_.linear(w.wide, layer_norm(w.norm2, x)));
    Value product = f_.gate(f_.activate(std::move(inner), shape_.activation, true), std::move(gate));
    return f_.add(std::move(x), f_.linear(w.down, std::move(product)));
  }

  Value loss(Value x) {
    f_.head();
    if (!dense_) return f_.class_loss(f_.slice(std::move(x), kSamples.times(shape_.hidden)), kSamples);
    if (!masked_) x = f_.slice(std::move(x), kSamples.times(shape_.hidden));
    x = f_.activate(f_.linear(dense_, std::move(x)), Activation::kGelu);
    const Size rows = masked_ ? kTokens : kSamples;
    x = f_.norm(NormKind::kLayer, head_norm_, std::move(x), rows);
    if (masked_) return f_.language_loss(std::move(x), {table_, decoder_bias_, true, false});
    return f_.class_loss(f_.linear(classifier_, std::move(x), false), kSamples);
  }

  RotaryTables rotary_;
  WeightRef table_, first_norm_, last_norm_, dense_, head_norm_, decoder_bias_, classifier_;
  bool bias_ = false, masked_ = false;
};

void read_modernbert(const Config& config, ModelShape& shape) {
  shape.kind = ModelKind::kEncoder;
  shape.layers = config.layers("num_hidden_layers");
  shape.hidden = config.hidden("hidden_size");
  shape.heads = shape.kv_heads = config.count("num_attention_heads", 12, 1, kMostHeads);
  shape.head_dim = config.divide(shape.hidden, "hidden_size", shape.heads, "num_attention_heads");
  shape.rotary_dim = shape.head_dim;
  shape.intermediate = config.size("intermediate_size", 1'152, kWidestMlp);
  shape.vocabulary = config.size("vocab_size", 50'368, kLargestVocabulary);
  shape.context = config.size("max_position_embeddings", 8'192, kLongestContext);
  shape.activation = config.activation({"hidden_activation", "hidden_act"}, "gelu");
  shape.attention_dropout = config.dropout("attention_dropout", 0.0);
  shape.positions = Positions::kRotary;
  shape.gated_mlp = shape.fused_qkv = shape.tied_embeddings = true;
  shape.sliding_window = config.size("local_attention", 128, kLongestContext);
  shape.full_attention_every = config.count("global_attn_every_n_layers", 3);
  ModernBert(config, shape).write();
}

}  // namespace

Families modernbert() {
  return {
      {"modernbert", "ModernBERT: pre-norm, rotary, windows in two of three layers", read_modernbert},
  };
}

}  // namespace rightsize::model
