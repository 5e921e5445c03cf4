// GPT-NeoX and Pythia; GPT-J, which has separate q, k, v, one norm and scores in 32 bits.
#include "families/decoder.h"

namespace rightsize::model {
namespace {

class NeoX : protected FamilyWriter {
 public:
  NeoX(const Config& config, ModelShape& shape, bool gptj) : FamilyWriter(config, shape), gptj_(gptj) {}

  void write(bool bias) {
    const WeightRef table = tokens(gptj_ ? "wte" : "embed_in");
    using L = LayerWeights;
    const LayerWeights layer =
        declare_layers(shape_.layers, {{&L::norm1, gptj_ ? "ln_1" : "input_layernorm"},
                                       {&L::norm2, gptj_ ? "" : "post_attention_layernorm"},
                                       {&L::qkv, gptj_ ? "" : "attention.query_key_value", bias},
                                       {&L::k, gptj_ ? "attn.k_proj" : "", bias},
                                       {&L::v, gptj_ ? "attn.v_proj" : "", bias},
                                       {&L::q, gptj_ ? "attn.q_proj" : "", bias},
                                       {&L::o, gptj_ ? "attn.out_proj" : "attention.dense", bias},
                                       {&L::up, gptj_ ? "mlp.fc_in" : "mlp.dense_h_to_4h"},
                                       {&L::down, gptj_ ? "mlp.fc_out" : "mlp.dense_4h_to_h"}});
    const WeightRef last_norm = inventory_.norm(gptj_ ? "ln_f" : "final_layer_norm", shape_.hidden, true);
    const DecoderHead head = declare_head(shape_.hidden, gptj_);
    finish_decoder(body(table, last_norm, layer), head, table);
  }

 private:
  Value body(WeightRef table, WeightRef last_norm, const LayerWeights& layer) {
    Value embedded = f_.first_stage([&] {
      Value e = f_.embedding(kTokens, table, shape_.hidden);
      f_.want_gradient(e);
      return e;
    });
    Value positions = f_.make(kPositions, Width::kLong);
    f_.probe_mask(kTokens);
    rotary_ = f_.rotary_tables(shape_.rotary_dim, embedded);
    if (gptj_) scores_ = wide_scores();
    Value x = run_layers(embedded, layer.first,
                         [&](const Value& in) { return gptj_ ? gptj_block(in, layer) : block(in, layer); });
    x = f_.last_stage(std::move(x), [&](Value last) { return layer_norm(last_norm, std::move(last)); });
    f_.release_shared();
    return x;
  }

  Value block(const Value& x, const LayerWeights& w) {
    Value attended = attention(layer_norm(w.norm1, x), w);
    attended = f_.dropout(std::move(attended), shape_.dropout);
    if (shape_.parallel_block) {
      Value fed = mlp(layer_norm(w.norm2, x), w);
      Value both = f_.add(fed, attended);
      return f_.add(std::move(both), x);
    }
    attended = f_.add(std::move(attended), x);
    Value fed = mlp(layer_norm(w.norm2, attended), w);
    return f_.add(fed, attended);
  }

  Value gptj_block(Value given, const LayerWeights& w) {
    Value x = std::move(given);
    Value residual = x;
    x = layer_norm(w.norm1, std::move(x));
    Value attended = f_.dropout(gptj_attention(x, w), shape_.dropout);
    Value fed = mlp(x, w);
    Value both = f_.add(attended, fed);
    return f_.add(std::move(both), residual);
  }

  Value mlp(Value given, const LayerWeights& w) {
    Value x = std::move(given);
    Value upper = f_.linear(w.up, x);
    upper = f_.activate(std::move(upper), shape_.activation);
    Value y = f_.linear(w.down, std::move(upper));
    x = f_.dropout(std::move(y), shape_.dropout);
    return x;
  }

  Value attention(const Value& x, const LayerWeights& w) {
    Value qkv = f_.split_heads(f_.linear(w.qkv, x));
    auto [q, k, v] = f_.split(qkv, q_size(), q_size(), q_size());
    rotate_parts(q, k, rotary_);
    Value out = f_.attention(q, k, v, attention_op());
    return f_.linear(w.o, out);
  }

  Value gptj_attention(const Value& x, const LayerWeights& w) {
    Value q = f_.linear(w.q, x), k = f_.linear(w.k, x), v = f_.linear(w.v, x);
    rotate_parts(q, k, rotary_);
    Value out = f_.attention(std::move(q), std::move(k), v, written_attention(scores_));
    return f_.linear(w.o, std::move(out));
  }

  std::int32_t wide_scores() {
    const Size square = kSampleSquare.split_into(shape_.heads, 1), work = square.times(shape_.head_dim);
    return f_.written_attention(q_size(), q_size(), [&](std::span<Value> in) {
      Value k = f_.cast(std::move(in[1]), Width::kSingle);
      Value q = f_.cast(std::move(in[0]), Width::kSingle);
      Value scores = f_.product(f_.copy(q, CopyKind::kPerHead), f_.copy(k, CopyKind::kPerHeadViewBack), square, work);
      scores = f_.scale(std::move(scores));
      scores = f_.add_constant(std::move(scores));  // the mask
      scores = f_.softmax(std::move(scores), Width::kAsIs);
      scores = f_.cast(std::move(scores), Width::kProduct);
      scores = f_.dropout(std::move(scores), shape_.attention_dropout);
      Value out = f_.product(scores, f_.copy(in[2], CopyKind::kPerHead), q_size(), work);
      out = f_.copy(std::move(out), CopyKind::kBothWays);
      return std::pair(std::move(out), Value());
    });
  }

  RotaryTables rotary_;
  std::int32_t scores_ = -1;
  bool gptj_;
};

void read_gptj(const Config& config, ModelShape& shape) {
  const SizeFields fields = {.layers = {"n_layer", "num_hidden_layers"},
                             .hidden = {"n_embd", "hidden_size"},
                             .heads = {{"n_head", "num_attention_heads"}, 16},
                             .intermediate = {"n_inner", 0},
                             .vocabulary = 50'400,
                             .context = {{"n_positions", "max_position_embeddings"}, 2'048},
                             .activation = {"activation_function", "gelu_new"},
                             .dropout = {"resid_pdrop", 0.0},
                             .attention_dropout = {"attn_pdrop", 0.0},
                             .positions = Positions::kRotary};
  read_sizes(config, fields, shape);
  shape.rotary_dim = config.count("rotary_dim", 64, 1, kWidestHead);
  shape.parallel_block = true;
  shape.tied_embeddings = config.flag("tie_word_embeddings", false);
  NeoX(config, shape, true).write(false);
}

void read_gpt_neox(const Config& config, ModelShape& shape) {
  const DecoderStyle style = {.vocabulary = 50'432,
                              .intermediate = 24'576,
                              .heads = 64,
                              .activation = "gelu",
                              .rotary_fraction = 0.25,
                              .dropout = "hidden_dropout",
                              .fused_qkv = true,
                              .gated = false};
  read_decoder_sizes(config, style, shape);
  // The rotated share of a head is called rotary_pct in every GPT-NeoX file and before transformers 5.
  const double fraction = config.number("rotary_pct", -1.0, 0.0, 1.0);
  if (fraction >= 0.0) shape.rotary_dim = static_cast<int>(shape.head_dim * fraction);
  shape.parallel_block = config.flag("use_parallel_residual", true);
  NeoX(config, shape, false).write(config.flag("attention_bias", true));
}

}  // namespace

Families gpt_neox() {
  return {
      {"gpt_neox", "GPT-NeoX and Pythia: parallel block, partly rotary", read_gpt_neox},
      {"gptj", "GPT-J: parallel block, one norm", read_gptj},
  };
}

}  // namespace rightsize::model
