// ModernBERT: a pre-norm encoder without biases, rotary positions, gated MLPs; every third layer attends to everything,
// the others within a window.
#include <map>

#include "families/family_writer.h"

namespace rightsize::model {
namespace {

class ModernBert : protected FamilyWriter {
 public:
  using FamilyWriter::FamilyWriter;

  void write() {
    const std::int64_t h = shape_.hidden;
    bias_ = config_.flag("norm_bias", false);
    table_ = tokens("embeddings.tok_embeddings");
    first_norm_ = inventory_.norm("embeddings.norm", h, bias_);
    // The first layer's attention reads the normed embeddings without another norm.
    const LayerWeights first = declare_layer(1, false), rest = declare_layer(shape_.layers - 1, true);
    last_norm_ = inventory_.norm("final_norm", h, bias_);
    declare_output();

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
  LayerWeights declare_layer(int count, bool normed) {
    const bool attention_bias = config_.flag("attention_bias", false), mlp_bias = config_.flag("mlp_bias", false);
    using L = LayerWeights;
    LayerWeights w;
    inventory_.begin_block(count);
    declare(w, {{&L::norm1, normed ? "attn_norm" : "", bias_},
                {&L::qkv, "attn.Wqkv", attention_bias},
                {&L::o, "attn.Wo", attention_bias},
                {&L::norm2, "mlp_norm", bias_}});
    // Gate and up in one matrix.
    w.up = inventory_.linear("mlp.Wi", WeightRole::kMlp, 2 * shape_.intermediate, shape_.hidden, mlp_bias);
    declare(w, {{&L::down, "mlp.Wo", mlp_bias}});
    inventory_.end_block();
    return w;
  }

  void declare_output() {
    const Head head = config_.head(Head::kMaskedLm);
    if (head == Head::kBase) return;
    dense_ = inventory_.linear("head.dense", WeightRole::kHead, shape_.hidden, shape_.hidden,
                               config_.flag("classifier_bias", false));
    head_norm_ = inventory_.norm("head.norm", shape_.hidden, bias_);
    if (head == Head::kMaskedLm) {
      masked_ = true;
      if (config_.flag("decoder_bias", true)) decoder_bias_ = inventory_.logits_bias("decoder.bias", shape_.vocabulary);
      return;
    }
    shape_.labels = head == Head::kQuestionAnswering ? 2 : config_.labels();
    classifier_ = inventory_.linear("classifier", WeightRole::kHead, shape_.labels, shape_.hidden, true);
  }

  void add_layers(std::int32_t stack, const LayerWeights& w, int begin, int count) {
    std::map<std::int64_t, std::int32_t> by_window;
    std::vector<std::int32_t> programs;
    for (int i = begin; i < begin + count; ++i) {
      const std::int64_t window = i % std::max(1, shape_.full_attention_every) == 0 ? 0 : shape_.sliding_window;
      const auto [found, is_new] = by_window.try_emplace(window, 0);
      if (is_new)
        found->second =
            f_.program({kTokens.times(shape_.hidden)}, [&](std::span<Value> in) { return block(in[0], w, window); });
      programs.push_back(found->second);
    }
    f_.add_layers(stack, w.first, std::move(programs));
  }

  Value block(Value x, const LayerWeights& w, std::int64_t window) {
    Value normed = w.norm1 ? layer_norm(w.norm1, x) : x;
    Value qkv = f_.linear(w.qkv, std::move(normed));
    auto [q, k, v] = f_.split(std::move(qkv), q_size(), q_size(), q_size());
    q = f_.rotate(f_.split_heads(std::move(q)), rotary_);
    k = f_.rotate(f_.split_heads(std::move(k)), rotary_);
    v = f_.split_heads(std::move(v));
    AttentionOp how = encoder_attention();
    how.window = window;
    x = f_.add(std::move(x), f_.linear(w.o, f_.attention(q, k, v, how)));
    auto [inner, gate] = f_.halves(f_.linear(w.up, layer_norm(w.norm2, x)));
    Value product = f_.gate(f_.activate(std::move(inner), shape_.activation, true), std::move(gate));
    return f_.add(std::move(x), f_.linear(w.down, std::move(product)));
  }

  Value loss(Value x) {
    f_.head();
    if (!dense_) return f_.class_loss(f_.slice(std::move(x), kSamples.times(shape_.hidden)), kSamples);
    if (!masked_) x = f_.slice(std::move(x), kSamples.times(shape_.hidden));
    x = f_.activate(f_.linear(dense_, std::move(x)), Activation::kGelu);
    const Size rows = masked_ ? kTokens : kSamples;
    x = layer_norm(head_norm_, std::move(x), rows);
    if (masked_) return f_.language_loss(std::move(x), {table_, decoder_bias_, true, false});
    return f_.class_loss(f_.linear(classifier_, std::move(x), false), kSamples);
  }

  RotaryTables rotary_;
  WeightRef table_, first_norm_, last_norm_, dense_, head_norm_, decoder_bias_, classifier_;
  bool bias_ = false, masked_ = false;
};

void read_modernbert(const Config& config, ModelShape& shape) {
  shape.kind = ModelKind::kEncoder;
  read_sizes(config,
             {.intermediate = {"intermediate_size", 1'152},
              .vocabulary = 50'368,
              .context = {"max_position_embeddings", 8'192},
              .activation = {{"hidden_activation", "hidden_act"}, "gelu"},
              .dropout = {{}, 0.0},
              .attention_dropout = {"attention_dropout", 0.0},
              .positions = Positions::kRotary},
             shape);
  shape.rotary_dim = shape.head_dim;
  shape.gated_mlp = shape.fused_qkv = shape.tied_embeddings = true;
  shape.sliding_window = config.size("local_attention", 128, kLongestContext);
  shape.full_attention_every = config.count("global_attn_every_n_layers", 3);
  ModernBert(config, shape).write();
}

}  // namespace

Families modernbert() {
  return {{"modernbert", "ModernBERT: pre-norm, rotary, windows in two of three layers", read_modernbert}};
}

}  // namespace rightsize::model
