// Falcon in three kinds: one key for all heads (7B), groups (40B, 180B), one key per head with ALiBi (RW).
#include "families/decoder.h"

namespace rightsize::model {
namespace {

class Falcon : protected FamilyWriter {
 public:
  Falcon(const Config& config, ModelShape& shape)
      : FamilyWriter(config, shape), alibi_(shape.positions == Positions::kAlibi) {
    keys_ = shape.kv_heads == 1 && shape.heads > 1 ? Keys::kOne
            : shape.kv_heads < shape.heads         ? Keys::kGroups
                                                   : Keys::kEachHead;
  }

  // `norm2` may be empty.
  void write(const char* norm1, const char* norm2, bool bias) {
    const WeightRef table = tokens("word_embeddings");
    using L = LayerWeights;
    const LayerWeights layer = declare_layers(shape_.layers, {{&L::qkv, "self_attention.query_key_value", bias},
                                                              {&L::o, "self_attention.dense", bias},
                                                              {&L::up, "mlp.dense_h_to_4h", bias},
                                                              {&L::down, "mlp.dense_4h_to_h", bias},
                                                              {&L::norm1, norm1},
                                                              {&L::norm2, norm2}});
    const WeightRef last_norm = inventory_.norm("ln_f", shape_.hidden, true);
    const DecoderHead head = declare_head();
    Value x = body(table, last_norm, layer);
    f_.forward().casts_are_cached = false;  // FalconLinear multiplies by weight.T
    finish_decoder(std::move(x), head, table);
  }

 private:
  enum class Keys { kOne, kGroups, kEachHead };

  Value body(WeightRef table, WeightRef last_norm, const LayerWeights& layer) {
    Value x = f_.first_stage([&] { return f_.embedding(kTokens, table, shape_.hidden); });
    if (!alibi_) rotary_ = f_.rotary_tables(shape_.head_dim, x);
    Value mask = f_.share(alibi_ ? f_.make_like(kSampleSquare.split_into(shape_.heads, 1), x)
                                 : f_.make(kSampleSquare, Width::kByte));
    f_.want_gradient(x);
    x = run_layers(std::move(x), layer.first, [&](Value in) { return block(std::move(in), layer); });
    x = f_.last_stage(std::move(x), [&](Value last) { return layer_norm(last_norm, std::move(last)); });
    f_.release_shared();
    return x;
  }

  Value block(Value given, const LayerWeights& w) {
    Value x = std::move(given);
    Value residual = x;
    Value normed = layer_norm(w.norm1, x), second;
    if (shape_.parallel_block && w.norm2) second = layer_norm(w.norm2, x);
    Value attended = attention(normed, w);
    if (!shape_.parallel_block) {
      residual = f_.add(residual, attended);
      second = layer_norm(w.norm2, residual);
    } else if (!second) {
      second = normed;
    }
    Value fed = mlp(second, w);
    if (shape_.parallel_block) fed = f_.add_in_place(fed, attended);
    return f_.add(residual, fed);
  }

  Value mlp(Value given, const LayerWeights& w) {
    Value x = std::move(given);
    Value upper = f_.linear(w.up, x);
    x = f_.activate(std::move(upper), shape_.activation);
    return f_.linear(w.down, std::move(x));
  }

  Value attention(const Value& x, const LayerWeights& w) {
    Value qkv = f_.linear(w.qkv, x);
    const Size wide = q_size(), narrow = kv_size();
    Value q, k, v;
    if (keys_ == Keys::kEachHead) {
      q = f_.select(qkv, wide);
      k = f_.select(qkv, wide);
      v = f_.select(qkv, wide);
    } else {
      q = f_.slice(qkv, wide);
      k = f_.index(qkv, narrow, f_.make(kOnce, Width::kLong));
      v = f_.index(qkv, narrow, f_.make(kOnce, Width::kLong));
      if (keys_ == Keys::kGroups) {
        q = f_.copy(std::move(q));
        k = f_.expand(std::move(k), wide);
        v = f_.expand(std::move(v), wide);
      }
      q = f_.as_heads(std::move(q));
      k = f_.as_heads(std::move(k));
      v = f_.as_heads(std::move(v));
    }
    if (!alibi_) {
      Value new_q = f_.rotate(q, rotary_), new_k = f_.rotate(k, rotary_);
      q = std::move(new_q);
      k = std::move(new_k);
    }
    AttentionOp how = attention_op();
    how.dropout = 0;
    how.alibi = alibi_;
    if (keys_ == Keys::kOne) {
      // Without grouping, torch uses its fallback for one key for all heads.
      how.kernel = AttentionOp::Kernel::kMath;
    } else {
      how.expanded_keys = true;
      how.masked = !alibi_;
    }
    return f_.linear(w.o, f_.attention(q, k, v, how));
  }

  RotaryTables rotary_;
  Keys keys_ = Keys::kOne;
  bool alibi_;
};

void read_falcon(const Config& config, ModelShape& shape) {
  const FieldNames heads = {"num_attention_heads", "n_head"}, kv_heads = {"num_kv_heads", "n_head_kv"};
  const bool alibi = config.flag("alibi", false);
  const SizeFields fields = {.layers = {"num_hidden_layers", "n_layer"},
                             .hidden = {"hidden_size", "n_embed"},
                             .heads = {heads, 71},
                             .intermediate = {"ffn_hidden_size", 0},
                             .vocabulary = 65'024,
                             .activation = {"activation", "gelu"},
                             .dropout = {"hidden_dropout", 0.0},
                             .attention_dropout = {"attention_dropout", 0.0},
                             .positions = alibi ? Positions::kAlibi : Positions::kRotary};
  read_sizes(config, fields, shape);
  const bool new_decoder = config.flag("new_decoder_architecture", false);
  const bool multi_query = config.flag("multi_query", true);
  const int groups = config.count(kv_heads, shape.heads, 1, kMostHeads);
  shape.kv_heads = new_decoder ? groups : multi_query ? 1 : shape.heads;
  check_groups(config, shape, heads, kv_heads);
  shape.parallel_block = new_decoder || config.flag("parallel_attn", true);
  if (!alibi) shape.rotary_dim = shape.head_dim;
  shape.fused_qkv = true;
  shape.tied_embeddings = config.flag("tie_word_embeddings", true);
  // Parallel blocks read one norm; in the new decoder attention and MLP read one each.
  const bool two_norms = config.count("num_ln_in_parallel_attn", new_decoder ? 2 : 1, 1, 2) == 2;
  const bool bias = config.flag("bias", false);
  Falcon falcon(config, shape);
  if (!shape.parallel_block) return falcon.write("input_layernorm", "post_attention_layernorm", bias);
  two_norms ? falcon.write("ln_attn", "ln_mlp", bias) : falcon.write("input_layernorm", "", bias);
}

}  // namespace

Families falcon() {
  return {{"falcon",
           "Falcon 7B (one key for all heads), 40B and 180B (groups), RW",
           read_falcon,
           {"RefinedWebModel", "RefinedWeb"}}};
}

}  // namespace rightsize::model
