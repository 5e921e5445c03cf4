// Falcon in its three kinds: one key for all heads (7B), groups (40B, 180B), one for each with ALiBi (RW).
#include <utility>

#include "families/decoder.h"
#include "families/families.h"
#include "families/family_writer.h"

namespace rightsize::model {
namespace {

struct Layer {
  WeightRef qkv, o, up, down, norm1, norm2;
};

class Falcon : protected FamilyWriter {
 public:
  Falcon(const Config& config, ModelShape& shape)
      : FamilyWriter(config, shape), alibi_(shape.positions == Positions::kAlibi) {
    kind_ = shape.kv_heads == 1 && shape.heads > 1 ? Kind::kOneKey
            : shape.kv_heads < shape.heads         ? Kind::kGroups
                                                   : Kind::kEachHead;
  }

  void write(const std::vector<std::string>& norms, bool bias) {
    const WeightRef table =
        inventory_.embedding("word_embeddings", WeightRole::kTokenEmbedding, shape_.vocabulary, shape_.hidden);
    const Layer layer = declare_layer(norms, bias);
    const WeightRef last_norm = inventory_.norm("ln_f", shape_.hidden, true);
    const DecoderHead head = declare_decoder_head(config_, inventory_, shape_, shape_.hidden);
    Value x = body(table, last_norm, layer);
    x = f_.last_stage(std::move(x), [&](Value last) { return decoder_loss(f_, shape_, head, table, std::move(last)); });
    f_.forward().casts_are_cached = false;  // FalconLinear multiplies by weight.T
    finish(std::move(x));
  }

 private:
  enum class Kind { kOneKey, kGroups, kEachHead };

  Layer declare_layer(const std::vector<std::string>& norms, bool bias) {
    const std::int64_t width = shape_.hidden, qkv = std::int64_t{shape_.heads + 2 * shape_.kv_heads} * shape_.head_dim;
    Layer w;
    inventory_.begin_block(shape_.layers);
    w.qkv = inventory_.linear("self_attention.query_key_value", WeightRole::kAttention, qkv, width, bias);
    w.o = inventory_.output("self_attention.dense", WeightRole::kAttention, width, width, bias);
    w.up = inventory_.linear("mlp.dense_h_to_4h", WeightRole::kMlp, shape_.intermediate, width, bias);
    w.down = inventory_.output("mlp.dense_4h_to_h", WeightRole::kMlp, width, shape_.intermediate, bias);
    w.norm1 = inventory_.norm(norms.front(), width, true);
    if (norms.size() > 1) w.norm2 = inventory_.norm(norms.back(), width, true);
    inventory_.end_block();
    return w;
  }

  Value body(WeightRef table, WeightRef last_norm, const Layer& layer) {
    Value x = f_.first_stage([&] { return f_.embedding(kTokens, table, shape_.hidden); });
    if (!alibi_) rotary_ = f_.rotary_tables(shape_.head_dim, x);
    Value mask = f_.share(alibi_ ? f_.make_like(kSampleSquare.split_into(shape_.heads, 1), x)
                                 : f_.make(kSampleSquare, Width::kByte));
    f_.want_gradient(x);
    x = run_layers(std::move(x), layer.qkv, [&](Value in) { return block(std::move(in), layer); });
    x = f_.last_stage(std::move(x), [&](Value last) { return layer_norm(last_norm, std::move(last)); });
    f_.release_shared();
    return x;
  }

  Value block(Value given, const Layer& w) {
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

  Value mlp(Value given, const Layer& w) {
    Value x = std::move(given);
    Value upper = f_.linear(w.up, x);
    x = f_.activate(std::move(upper), shape_.activation);
    return f_.linear(w.down, std::move(x));
  }

  Value attention(Value given, const Layer& w) {
    Value x = std::move(given);
    Value qkv = f_.linear(w.qkv, x);
    const Size wide = kTokens.split_into(shape_.heads, shape_.head_dim);
    const Size narrow = kTokens.split_into(shape_.kv_heads, shape_.head_dim);
    Value q, k, v;
    if (kind_ == Kind::kEachHead) {
      q = f_.select(qkv, wide);
      k = f_.select(qkv, wide);
      v = f_.select(qkv, wide);
    } else {
      q = f_.slice(qkv, wide);
      k = f_.index(qkv, narrow, f_.make(kOnce, Width::kLong));
      v = f_.index(qkv, narrow, f_.make(kOnce, Width::kLong));
      if (kind_ == Kind::kGroups) {
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
    AttentionOp how = attention_of(shape_);
    how.dropout = 0;
    how.alibi = alibi_;
    if (kind_ == Kind::kOneKey) {
      // One key for all heads and no grouping asked for: torch falls back to the written-out form.
      how.kernel = AttentionOp::Kernel::kMath;
    } else {
      how.expanded_keys = true;
      how.masked = !alibi_;
    }
    return f_.linear(w.o, f_.attention(q, k, v, how));
  }

  RotaryTables rotary_;
  Kind kind_ = Kind::kOneKey;
  bool alibi_;
};

const FieldNames kFalconHeads = {"num_attention_heads", "n_head"};
const FieldNames kFalconKvHeads = {"num_kv_heads", "n_head_kv"};

// 40B and 180B share keys among groups; 7B has one key for all heads; the RW models have one for each.
int read_falcon_kv_heads(const Config& config, const ModelShape& shape, bool new_decoder, bool multi_query) {
  int given = config.count(kFalconKvHeads, shape.heads, 1, kMostHeads);
  if (new_decoder) return given;
  return multi_query ? 1 : shape.heads;
}

// Parallel blocks read one norm, or in the new decoder one each for attention and MLP.
std::vector<std::string> falcon_norms(const Config& config, bool new_decoder, bool parallel) {
  int norms = config.count("num_ln_in_parallel_attn", new_decoder ? 2 : 1, 1, 2);
  if (!parallel) return {"input_layernorm", "post_attention_layernorm"};
  if (norms == 2) return {"ln_attn", "ln_mlp"};
  return {"input_layernorm"};
}

void read_falcon(const Config& config, ModelShape& shape) {
  const FieldNames width = {"hidden_size", "n_embed"};
  shape.kind = ModelKind::kDecoder;
  shape.layers = config.layers({"num_hidden_layers", "n_layer"});
  shape.hidden = config.hidden(width);
  shape.heads = config.count(kFalconHeads, 71, 1, kMostHeads);
  shape.head_dim = config.divide(shape.hidden, width, shape.heads, kFalconHeads);
  const bool new_decoder = config.flag("new_decoder_architecture", false);
  const bool multi_query = config.flag("multi_query", true);
  const bool bias = config.flag("bias", false);
  shape.kv_heads = read_falcon_kv_heads(config, shape, new_decoder, multi_query);
  check_groups(config, shape, kFalconHeads, kFalconKvHeads);
  shape.parallel_block = new_decoder || config.flag("parallel_attn", true);
  shape.intermediate = config.size("ffn_hidden_size", 4 * shape.hidden, kWidestMlp);
  shape.vocabulary = config.size("vocab_size", 65'024, kLargestVocabulary);
  shape.context = config.size("max_position_embeddings", 2'048, kLongestContext);
  shape.activation = config.activation("activation", "gelu");
  shape.dropout = config.dropout("hidden_dropout", 0.0);
  shape.attention_dropout = config.dropout("attention_dropout", 0.0);
  shape.positions = config.flag("alibi", false) ? Positions::kAlibi : Positions::kRotary;
  if (shape.positions == Positions::kRotary) shape.rotary_dim = shape.head_dim;
  shape.fused_qkv = true;
  shape.tied_embeddings = config.flag("tie_word_embeddings", true);
  std::vector<std::string> norms = falcon_norms(config, new_decoder, shape.parallel_block);
  Falcon(config, shape).write(norms, bias);
}

}  // namespace

Families falcon() {
  return {
      {"falcon",
       "Falcon 7B (one key for all heads), 40B and 180B (groups), RW",
       read_falcon,
       {"RefinedWebModel", "RefinedWeb"}},
  };
}

}  // namespace rightsize::model
