// MPT and BLOOM: ALiBi, and attention written out in Python, so that scores and probabilities are saved.
#include <utility>

#include "model/decoder.h"
#include "model/families.h"

namespace rightsize::model {
namespace {

struct MptLayout {
  bool bias, learned_positions, qk_norm;
};

// MPT exists twice: llm-foundry's MPTForCausalLM, with biases and learned positions unless turned off, and
// transformers' MptForCausalLM, which has neither and ignores the switches.
MptLayout read_mpt_layout(const Config& config, const Config& attention, ModelShape& shape) {
  const bool foundry = shape.architecture.starts_with("MPT");
  const bool alibi = attention.flag("alibi", !foundry);
  const bool rope = attention.flag("rope", false);
  const bool no_bias = config.flag("no_bias", !foundry);
  const bool learned = config.flag("learned_pos_emb", true);
  shape.positions = alibi || !foundry ? Positions::kAlibi : rope ? Positions::kRotary : Positions::kLearned;
  if (shape.positions == Positions::kLearned && !learned) shape.positions = Positions::kNone;
  if (shape.positions == Positions::kRotary) shape.rotary_dim = shape.head_dim;
  MptLayout layout{};
  layout.bias = foundry && !no_bias;
  layout.learned_positions = shape.positions == Positions::kLearned;
  layout.qk_norm = attention.flag("qk_ln", false) && foundry;
  return layout;
}

int read_mpt_kv_heads(const Config& attention, const ModelShape& shape) {
  std::string type = attention.json().get_string("attn_type").value_or("multihead_attention");
  if (type == "multiquery_attention") return 1;
  if (type == "grouped_query_attention") return attention.count("kv_n_heads", shape.heads, 1, kMostHeads);
  return shape.heads;
}

struct Layer {
  WeightRef norm1, qkv, q_norm, k_norm, o, norm2, up, down;
};

// What MPT and BLOOM share: a fused q/k/v, written-out attention over ALiBi scores, a plain MLP.
class AlibiDecoder {
 public:
  AlibiDecoder(const Config& config, ModelShape& shape)
      : config_(config), shape_(shape), inventory_(shape.weights), f_(shape) {}

 protected:
  Value norm(WeightRef weight, Value x) { return f_.norm(NormKind::kLayer, weight, std::move(x), kTokens); }

  Value run_layers(Value x, const Layer& layer, std::int32_t program) {
    const std::int32_t stack = f_.add_stack();
    f_.add_layers(stack, layer.norm1, shape_.layers, program);
    return f_.layers(stack, std::move(x));
  }

  void finish(Value x, const DecoderHead& head, WeightRef table) {
    x = f_.last_stage(std::move(x), [&](Value last) { return decoder_loss(f_, shape_, head, table, std::move(last)); });
    shape_.forward = std::make_shared<const Forward>(f_.finish(std::move(x)));
  }

  AttentionOp written(std::int32_t program) const {
    AttentionOp how = attention_of(shape_);
    how.kernel = AttentionOp::Kernel::kWritten;
    how.alibi = true;
    how.written = program;
    return how;
  }

  const Config& config_;
  ModelShape& shape_;
  Inventory inventory_;
  Tracer f_;
};

class Mpt : public AlibiDecoder {
 public:
  using AlibiDecoder::AlibiDecoder;

  void write(const MptLayout& layout) {
    const WeightRef table = inventory_.embedding("wte", WeightRole::kTokenEmbedding, shape_.vocabulary, shape_.hidden);
    WeightRef places;
    if (layout.learned_positions) {
      places = inventory_.embedding("wpe", WeightRole::kPositionEmbedding, shape_.context, shape_.hidden);
    }
    const Layer layer = declare_layer(layout);
    const WeightRef last_norm = inventory_.norm("norm_f", shape_.hidden, layout.bias);
    const DecoderHead head = declare_decoder_head(config_, inventory_, shape_, shape_.hidden);
    finish(body(table, places, last_norm, layer), head, table);
  }

 private:
  Layer declare_layer(const MptLayout& layout) {
    const std::int64_t width = shape_.hidden, kv = std::int64_t{shape_.kv_heads} * shape_.head_dim;
    Layer w;
    inventory_.begin_block(shape_.layers);
    w.norm1 = inventory_.norm("norm_1", width, layout.bias);
    w.qkv = inventory_.linear("attn.Wqkv", WeightRole::kAttention, width + 2 * kv, width, layout.bias);
    if (layout.qk_norm) {
      w.q_norm = inventory_.norm("attn.q_ln", width, layout.bias);
      w.k_norm = inventory_.norm("attn.k_ln", kv, layout.bias);
    }
    w.o = inventory_.output("attn.out_proj", WeightRole::kAttention, width, width, layout.bias);
    w.norm2 = inventory_.norm("norm_2", width, layout.bias);
    w.up = inventory_.linear("ffn.up_proj", WeightRole::kMlp, shape_.intermediate, width, layout.bias);
    w.down = inventory_.output("ffn.down_proj", WeightRole::kMlp, width, shape_.intermediate, layout.bias);
    inventory_.end_block();
    return w;
  }

  Value body(WeightRef table, WeightRef places, WeightRef last_norm, const Layer& layer) {
    Value x = f_.first_stage([&] {
      Value e = f_.embedding(kTokens, table, shape_.hidden);
      if (places) e = f_.add(std::move(e), f_.embedding(kPositions, places, shape_.hidden));
      f_.want_gradient(e);
      return e;
    });
    f_.unfused([&] {
      alibi_ = f_.share(f_.make(kOnce.split_into(shape_.heads, shape_.context), Width::kSingle));
      f_.probe_mask(kTokens);
      Value ones = f_.make(kSquare, Width::kByte), wide = f_.make_like(kSampleSquare, x);
      mask_ = f_.share(f_.make(kSampleSquare, Width::kByte));
    });
    const std::int32_t scores = scores_program();
    x = run_layers(std::move(x), layer, f_.program({kTokens.times(shape_.hidden)}, [&](std::span<Value> in) {
      return block(in[0], layer, scores);
    }));
    x = f_.last_stage(std::move(x), [&](Value last) { return norm(last_norm, std::move(last)); });
    f_.release_shared();
    return x;
  }

  Value block(Value given, const Layer& w, std::int32_t scores) {
    Value x = std::move(given);
    Value normed = norm(w.norm1, x), residual = x;
    auto [out, probabilities] = attention(normed, w, scores);
    x = f_.add(out, residual);
    normed = norm(w.norm2, x);
    residual = x;
    Value inner = f_.linear(w.up, normed);
    inner = f_.activate(std::move(inner), Activation::kGelu);
    Value down = f_.linear(w.down, inner);
    return f_.add(std::move(down), residual);
  }

  // The result, and the probabilities, which the caller keeps to the end of the layer.
  std::pair<Value, Value> attention(Value given, const Layer& w, std::int32_t scores) {
    Value x = std::move(given);
    Value qkv = f_.linear(w.qkv, x);
    const Size wide = kTokens.split_into(shape_.heads, shape_.head_dim);
    const Size narrow = kTokens.split_into(shape_.kv_heads, shape_.head_dim);
    auto [q, k, v] = f_.split(qkv, wide, narrow, narrow);
    auto [out, probabilities] = f_.attention_keeping(q, k, v, written(scores));
    out = f_.linear(w.o, std::move(out));
    return {std::move(out), std::move(probabilities)};
  }

  std::int32_t scores_program() {
    const Size wide = kTokens.split_into(shape_.heads, shape_.head_dim);
    const Size narrow = kTokens.split_into(shape_.kv_heads, shape_.head_dim);
    const Size square = kSampleSquare.split_into(shape_.heads, 1), work = square.times(shape_.head_dim);
    return f_.written_attention(wide, narrow, [&](std::span<Value> in) {
      Value scores;
      {
        Value q = f_.copy(in[0], CopyKind::kPerHead), k = f_.copy(in[1], CopyKind::kPerHeadViewBack);
        scores = f_.product(q, k, square, work);
      }
      scores = f_.scale(std::move(scores));
      scores = f_.add(std::move(scores), alibi_, Width::kSingle);
      scores = f_.masked_fill(std::move(scores), mask_);
      Value probabilities = f_.softmax(scores, Width::kSingle);
      probabilities = f_.cast(std::move(probabilities), Width::kProduct);
      Value out;
      {
        Value v = f_.copy(in[2], CopyKind::kPerHead);
        out = f_.product(probabilities, v, wide, work);
      }
      out = f_.copy(std::move(out));
      return std::pair(std::move(out), std::move(probabilities));
    });
  }

  Value alibi_, mask_;
};

class Bloom : public AlibiDecoder {
 public:
  using AlibiDecoder::AlibiDecoder;

  void write() {
    const WeightRef table =
        inventory_.embedding("word_embeddings", WeightRole::kTokenEmbedding, shape_.vocabulary, shape_.hidden);
    const WeightRef first_norm = inventory_.norm("word_embeddings_layernorm", shape_.hidden, true);
    const Layer layer = declare_layer();
    const WeightRef last_norm = inventory_.norm("ln_f", shape_.hidden, true);
    const DecoderHead head = declare_decoder_head(config_, inventory_, shape_, shape_.hidden);
    finish(body(table, first_norm, last_norm, layer), head, table);
  }

 private:
  Layer declare_layer() {
    const std::int64_t width = shape_.hidden;
    Layer w;
    inventory_.begin_block(shape_.layers);
    w.norm1 = inventory_.norm("input_layernorm", width, true);
    w.qkv = inventory_.linear("self_attention.query_key_value", WeightRole::kAttention, 3 * width, width, true);
    w.o = inventory_.output("self_attention.dense", WeightRole::kAttention, width, width, true);
    w.norm2 = inventory_.norm("post_attention_layernorm", width, true);
    w.up = inventory_.linear("mlp.dense_h_to_4h", WeightRole::kMlp, shape_.intermediate, width, true);
    w.down = inventory_.output("mlp.dense_4h_to_h", WeightRole::kMlp, width, shape_.intermediate, true);
    inventory_.end_block();
    return w;
  }

  Value body(WeightRef table, WeightRef first_norm, WeightRef last_norm, const Layer& layer) {
    Value embedded;
    Value x = f_.first_stage([&] {
      embedded = f_.embedding(kTokens, table, shape_.hidden);
      Value normed = norm(first_norm, embedded);
      f_.want_gradient(normed);
      return normed;
    });
    Value alibi = f_.make_like(kTokens.split_into(shape_.heads, 1), x);
    Value ones = f_.make(kSampleSquare, Width::kByte);
    mask_ = f_.share(f_.make_like(kSampleSquare, x));
    ones.reset();
    const std::int32_t scores = scores_program();
    x = run_layers(std::move(x), layer, f_.program({kTokens.times(shape_.hidden)}, [&](std::span<Value> in) {
      return block(in[0], layer, scores);
    }));
    x = f_.last_stage(std::move(x), [&](Value last) { return norm(last_norm, std::move(last)); });
    f_.release_shared();
    return x;
  }

  Value block(Value given, const Layer& w, std::int32_t scores) {
    Value x = std::move(given);
    Value normed = norm(w.norm1, x), residual = x;
    auto [attended, probabilities] = attention(normed, residual, w, scores);
    normed = norm(w.norm2, attended);
    residual = attended;
    Value inner = f_.linear(w.up, normed);
    inner = f_.activate(std::move(inner), Activation::kGeluFunction);
    Value down = f_.linear(w.down, inner);
    Value dropped = f_.dropout(down, shape_.dropout);
    return f_.add(residual, std::move(dropped));
  }

  std::pair<Value, Value> attention(Value given, Value given_residual, const Layer& w, std::int32_t scores) {
    Value x = std::move(given), residual = std::move(given_residual);
    Value qkv = f_.linear(w.qkv, x);
    const Size each = kTokens.split_into(shape_.heads, shape_.head_dim);
    Value q = f_.select(qkv, each), k = f_.select(qkv, each), v = f_.select(qkv, each);
    q = f_.copy(std::move(q));
    k = f_.copy(std::move(k));
    v = f_.copy(std::move(v));
    auto [out, probabilities] = f_.attention_keeping(q, k, v, written(scores));
    out = f_.linear(w.o, std::move(out));
    out = f_.dropout(std::move(out), shape_.dropout);
    out = f_.add(residual, std::move(out));
    return {std::move(out), std::move(probabilities)};
  }

  std::int32_t scores_program() {
    const Size each = kTokens.split_into(shape_.heads, shape_.head_dim);
    const Size square = kSampleSquare.split_into(shape_.heads, 1), work = square.times(shape_.head_dim);
    return f_.written_attention(each, each, [&](std::span<Value> in) {
      Value scores = f_.product(in[0], in[1], square, work);
      Value masked = f_.add(scores, mask_);
      Value probabilities = f_.softmax(masked, Width::kSingle);
      probabilities = f_.cast(std::move(probabilities), Width::kProduct);
      Value out = f_.product(probabilities, in[2], each, work);
      out = f_.copy(std::move(out), CopyKind::kBothWays);
      return std::pair(std::move(out), std::move(probabilities));
    });
  }

  Value mask_;
};

void read_mpt(const Config& config, ModelShape& shape) {
  const FieldNames width = {"d_model", "hidden_size"};
  const FieldNames heads = {"n_heads", "num_attention_heads"};
  shape.kind = ModelKind::kDecoder;
  shape.layers = config.layers({"n_layers", "num_hidden_layers"});
  shape.hidden = config.hidden(width);
  shape.heads = config.count(heads, 16, 1, kMostHeads);
  shape.head_dim = config.divide(shape.hidden, width, shape.heads, heads);
  Config attention = config.section("attn_config");
  shape.kv_heads = read_mpt_kv_heads(attention, shape);
  check_groups(config, shape, heads, "kv_n_heads");
  shape.intermediate = static_cast<std::int64_t>(config.number("expansion_ratio", 4.0, 0.001, 1'000.0) *
                                                 static_cast<double>(shape.hidden));
  shape.vocabulary = config.size("vocab_size", 50'368, kLargestVocabulary);
  shape.context = config.size({"max_seq_len", "max_position_embeddings"}, 2'048, kLongestContext);
  shape.activation = Activation::kGelu;
  shape.dropout = config.dropout("resid_pdrop", 0.0);
  shape.attention_dropout = attention.dropout("attn_pdrop", 0.0);
  shape.norm = Norm::kLayer;
  shape.fused_qkv = true;
  shape.tied_embeddings = config.flag("tie_word_embeddings", true);
  MptLayout layout = read_mpt_layout(config, attention, shape);
  shape.qk_norm = layout.qk_norm;
  Mpt(config, shape).write(layout);
}

void read_bloom(const Config& config, ModelShape& shape) {
  const FieldNames width = {"hidden_size", "n_embed"};
  const FieldNames heads = {"n_head", "num_attention_heads"};
  shape.kind = ModelKind::kDecoder;
  shape.layers = config.layers({"n_layer", "num_hidden_layers"});
  shape.hidden = config.hidden(width);
  shape.heads = shape.kv_heads = config.count(heads, 8, 1, kMostHeads);
  shape.head_dim = config.divide(shape.hidden, width, shape.heads, heads);
  shape.intermediate = 4 * shape.hidden;
  shape.vocabulary = config.size("vocab_size", 250'880, kLargestVocabulary);
  shape.context = config.size("seq_length", 2'048, kLongestContext);
  shape.activation = Activation::kGeluTanh;
  shape.dropout = config.dropout("hidden_dropout", 0.0);
  shape.attention_dropout = config.dropout("attention_dropout", 0.0);
  shape.norm = Norm::kLayer;
  shape.positions = Positions::kAlibi;
  shape.fused_qkv = true;
  shape.tied_embeddings = config.flag("tie_word_embeddings", true);
  Bloom(config, shape).write();
}

}  // namespace

Families alibi() {
  return {
      {"mpt", "MPT, of transformers (MptForCausalLM) and of llm-foundry (MPTForCausalLM)", read_mpt, {"hf_mpt"}},
      {"bloom", "BLOOM: ALiBi, a norm after the embedding", read_bloom},
  };
}

}  // namespace rightsize::model
