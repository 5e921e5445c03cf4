// BLOOM: ALiBi positions, a norm after the embedding, attention without a fused kernel.
#include "families/family_writer.h"

namespace rightsize::model {
namespace {

class Bloom : protected FamilyWriter {
 public:
  using FamilyWriter::FamilyWriter;

  void write() {
    const WeightRef table = tokens("word_embeddings");
    const WeightRef first_norm = inventory_.norm("word_embeddings_layernorm", shape_.hidden, true);
    using L = LayerWeights;
    const LayerWeights layer = declare_layers(shape_.layers, {{&L::norm1, "input_layernorm"},
                                                              {&L::qkv, "self_attention.query_key_value"},
                                                              {&L::o, "self_attention.dense"},
                                                              {&L::norm2, "post_attention_layernorm"},
                                                              {&L::up, "mlp.dense_h_to_4h"},
                                                              {&L::down, "mlp.dense_4h_to_h"}});
    const WeightRef last_norm = inventory_.norm("ln_f", shape_.hidden, true);
    const DecoderHead head = declare_head();
    finish_decoder(body(table, first_norm, last_norm, layer), head, table);
  }

 private:
  Value body(WeightRef table, WeightRef first_norm, WeightRef last_norm, const LayerWeights& layer) {
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
    attention_ = written_attention(scores_program());
    attention_.alibi = true;
    x = run_layers(std::move(x), layer.first, [&](Value in) { return block(std::move(in), layer); });
    x = f_.last_stage(std::move(x), [&](Value last) { return layer_norm(last_norm, std::move(last)); });
    f_.release_shared();
    return x;
  }

  Value block(Value given, const LayerWeights& w) {
    Value x = std::move(given);
    Value normed = layer_norm(w.norm1, x), residual = x;
    auto [attended, probabilities] = attention(normed, residual, w);
    normed = layer_norm(w.norm2, attended);
    residual = attended;
    Value inner = f_.linear(w.up, normed);
    inner = f_.activate(std::move(inner), Activation::kGeluFunction);
    Value down = f_.linear(w.down, inner);
    Value dropped = f_.dropout(down, shape_.dropout);
    return f_.add(residual, std::move(dropped));
  }

  // The result, and the probabilities, which live to the end of the layer.
  std::pair<Value, Value> attention(const Value& x, const Value& residual, const LayerWeights& w) {
    Value qkv = f_.linear(w.qkv, x);
    Value q = f_.select(qkv, q_size()), k = f_.select(qkv, q_size()), v = f_.select(qkv, q_size());
    q = f_.copy(std::move(q));
    k = f_.copy(std::move(k));
    v = f_.copy(std::move(v));
    auto [out, probabilities] = f_.attention_keeping(q, k, v, attention_);
    out = f_.linear(w.o, std::move(out));
    out = f_.dropout(std::move(out), shape_.dropout);
    out = f_.add(residual, std::move(out));
    return {std::move(out), std::move(probabilities)};
  }

  std::int32_t scores_program() {
    const Size square = kSampleSquare.split_into(shape_.heads, 1), work = square.times(shape_.head_dim);
    return f_.written_attention(q_size(), q_size(), [&](std::span<Value> in) {
      Value scores = f_.product(in[0], in[1], square, work);
      Value masked = f_.add(scores, mask_);
      Value probabilities = f_.softmax(masked, Width::kSingle);
      probabilities = f_.cast(std::move(probabilities), Width::kProduct);
      Value out = f_.product(probabilities, in[2], q_size(), work);
      out = f_.copy(std::move(out), CopyKind::kBothWays);
      return std::pair(std::move(out), std::move(probabilities));
    });
  }

  AttentionOp attention_;
  Value mask_;
};

void read_bloom(const Config& config, ModelShape& shape) {
  const SizeFields fields = {.layers = {"n_layer", "num_hidden_layers"},
                             .hidden = {"hidden_size", "n_embed"},
                             .heads = {{"n_head", "num_attention_heads"}, 8},
                             .intermediate = {{}, 0},
                             .vocabulary = 250'880,
                             .context = {"seq_length", 2'048},
                             .activation = {{}, ""},
                             .dropout = {"hidden_dropout", 0.0},
                             .attention_dropout = {"attention_dropout", 0.0},
                             .positions = Positions::kAlibi};
  read_sizes(config, fields, shape);
  shape.activation = Activation::kGeluTanh;
  shape.fused_qkv = true;
  shape.tied_embeddings = config.flag("tie_word_embeddings", true);
  Bloom(config, shape).write();
}

}  // namespace

Families bloom() { return {{"bloom", "BLOOM: ALiBi, a norm after the embedding", read_bloom}}; }

}  // namespace rightsize::model
