// BLOOM: ALiBi positions, a norm after the embedding, attention without a fused kernel.
#include <utility>

#include "families/decoder.h"
#include "families/families.h"
#include "families/family_writer.h"

namespace rightsize::model {
namespace {

struct Layer {
  WeightRef norm1, qkv, o, norm2, up, down;
};

class Bloom : protected FamilyWriter {
 public:
  Bloom(const Config& config, ModelShape& shape) : FamilyWriter(config, shape) {}

  void write() {
    const WeightRef table =
        inventory_.embedding("word_embeddings", WeightRole::kTokenEmbedding, shape_.vocabulary, shape_.hidden);
    const WeightRef first_norm = inventory_.norm("word_embeddings_layernorm", shape_.hidden, true);
    const Layer layer = declare_layer();
    const WeightRef last_norm = inventory_.norm("ln_f", shape_.hidden, true);
    const DecoderHead head = declare_decoder_head(config_, inventory_, shape_, shape_.hidden);
    Value x = body(table, first_norm, last_norm, layer);
    x = f_.last_stage(std::move(x), [&](Value last) { return decoder_loss(f_, shape_, head, table, std::move(last)); });
    finish(std::move(x));
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
      Value normed = layer_norm(first_norm, embedded);
      f_.want_gradient(normed);
      return normed;
    });
    Value alibi = f_.make_like(kTokens.split_into(shape_.heads, 1), x);
    Value ones = f_.make(kSampleSquare, Width::kByte);
    mask_ = f_.share(f_.make_like(kSampleSquare, x));
    ones.reset();
    const std::int32_t scores = scores_program();
    x = run_layers(std::move(x), layer.norm1, [&](Value in) { return block(std::move(in), layer, scores); });
    x = f_.last_stage(std::move(x), [&](Value last) { return layer_norm(last_norm, std::move(last)); });
    f_.release_shared();
    return x;
  }

  Value block(Value given, const Layer& w, std::int32_t scores) {
    Value x = std::move(given);
    Value normed = layer_norm(w.norm1, x), residual = x;
    auto [attended, probabilities] = attention(normed, residual, w, scores);
    normed = layer_norm(w.norm2, attended);
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
    auto [out, probabilities] = f_.attention_keeping(q, k, v, alibi_attention(shape_, scores));
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
  shape.positions = Positions::kAlibi;
  shape.fused_qkv = true;
  shape.tied_embeddings = config.flag("tie_word_embeddings", true);
  Bloom(config, shape).write();
}

}  // namespace

Families bloom() {
  return {
      {"bloom", "BLOOM: ALiBi, a norm after the embedding", read_bloom},
  };
}

}  // namespace rightsize::model
