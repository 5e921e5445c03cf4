// GPT-2 and related models: GPT BigCode (one key head), GPT-Neo (separate q, k, v, scores in 32 bits).
#include "families/family_writer.h"

namespace rightsize::model {
namespace {

// In the original, intermediate results live until the end of the block, so the values here do too.
class Gpt2 : protected FamilyWriter {
 public:
  Gpt2(const Config& config, ModelShape& shape) : FamilyWriter(config, shape), flat_(shape.fused_qkv) {}

  void write() {
    const WeightRef table = tokens("wte"), places = positions("wpe", shape_.context);
    using L = LayerWeights;
    const LayerWeights layer =
        declare_layers(shape_.layers, {{&L::norm1, "ln_1"},
                                       {&L::qkv, flat_ ? "attn.c_attn" : ""},
                                       {&L::k, flat_ ? "" : "attn.attention.k_proj", false},
                                       {&L::v, flat_ ? "" : "attn.attention.v_proj", false},
                                       {&L::q, flat_ ? "" : "attn.attention.q_proj", false},
                                       {&L::o, flat_ ? "attn.c_proj" : "attn.attention.out_proj"},
                                       {&L::norm2, "ln_2"},
                                       {&L::up, "mlp.c_fc"},
                                       {&L::down, "mlp.c_proj"}});
    const WeightRef last_norm = inventory_.norm("ln_f", shape_.hidden, true);
    const DecoderHead head = declare_head();
    Value x = body(table, places, layer);
    x = f_.last_stage(std::move(x), [&](Value last) {
      Value normed = layer_norm(last_norm, std::move(last));
      return decoder_loss(head, table, std::move(normed));
    });
    finish(std::move(x));
  }

 private:
  Value body(WeightRef table, WeightRef places, const LayerWeights& layer) {
    Value words, position;
    Value x = f_.first_stage([&] {
      words = f_.embedding(kTokens, table, shape_.hidden);
      position = f_.embedding(kPositions, places, shape_.hidden);
      Value sum = f_.add(words, position);
      f_.probe_mask(kTokens);
      sum = f_.dropout(std::move(sum), shape_.dropout);
      f_.want_gradient(sum);
      return sum;
    });
    attention_ = flat_ ? attention_op() : written_attention(wide_scores());
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
    Value attended = attention(x, w);
    x = f_.add(attended, residual);
    residual = x;
    x = layer_norm(w.norm2, std::move(x));
    Value fed = mlp(x, w);
    return f_.add(residual, fed);
  }

  Value attention(const Value& x, const LayerWeights& w) {
    HeadValues heads;
    if (flat_) {
      auto parts = f_.split(f_.linear(w.qkv, x, false), q_size(), kv_size(), kv_size());
      heads.k = f_.split_heads(std::move(parts[1]));
      heads.v = f_.split_heads(std::move(parts[2]));
      heads.q = f_.split_heads(std::move(parts[0]));
    } else {
      heads = split_qkv(w, x);
    }
    Value out = f_.attention(heads.q, heads.k, heads.v, attention_);
    out = f_.linear(w.o, std::move(out), !flat_);
    return f_.dropout(std::move(out), shape_.dropout);
  }

  // GPT-Neo multiplies queries and keys in 32 bits and masks the scores with torch.where.
  std::int32_t wide_scores() {
    const Size square = kSampleSquare.split_into(shape_.heads, 1), work = square.times(shape_.head_dim);
    return f_.written_attention(q_size(), q_size(), [&](std::span<Value> in) {
      Value wide_q = f_.cast(in[0], Width::kSingle), wide_k = f_.cast(in[1], Width::kSingle);
      Value scores =
          f_.product(f_.copy(wide_q, CopyKind::kPerHead), f_.copy(wide_k, CopyKind::kPerHeadViewBack), square, work);
      scores = f_.masked_fill(std::move(scores), f_.make(kSquare, Width::kByte));
      scores = f_.softmax(std::move(scores), Width::kAsIs);
      scores = f_.cast(std::move(scores), Width::kProduct);
      scores = f_.dropout(std::move(scores), shape_.attention_dropout);
      Value out = f_.product(scores, f_.copy(in[2], CopyKind::kPerHead), q_size(), work);
      out = f_.copy(std::move(out), CopyKind::kBothWays);
      return std::pair(std::move(out), Value());
    });
  }

  Value mlp(Value given, const LayerWeights& w) {
    Value x = std::move(given);
    x = f_.linear(w.up, std::move(x), !flat_);
    x = f_.activate(std::move(x), shape_.activation);
    x = f_.linear(w.down, std::move(x), !flat_);
    return f_.dropout(std::move(x), shape_.dropout);
  }

  AttentionOp attention_;
  bool flat_;  // Conv1D works on rows: gradients of inputs are not views
};

SizeFields gpt2_fields(std::string_view activation) {
  return {.layers = {"n_layer", "num_hidden_layers"},
          .hidden = {"n_embd", "hidden_size"},
          .heads = {{"n_head", "num_attention_heads"}, 12},
          .intermediate = {"n_inner", 0},
          .vocabulary = 50'257,
          .context = {{"n_positions", "max_position_embeddings"}, 1'024},
          .activation = {"activation_function", activation},
          .dropout = {"resid_pdrop", 0.1},
          .attention_dropout = {"attn_pdrop", 0.1}};
}

void read_gpt2(const Config& config, ModelShape& shape) {
  const bool one_key = shape.family == "gpt_bigcode" && config.flag("multi_query", true);
  read_sizes(config, gpt2_fields(shape.family == "gpt_bigcode" ? "gelu_pytorch_tanh" : "gelu_new"), shape);
  shape.tied_embeddings = config.flag("tie_word_embeddings", true);
  if (one_key) shape.kv_heads = 1;
  shape.fused_qkv = true;
  Gpt2(config, shape).write();
}

void read_gpt_neo(const Config& config, ModelShape& shape) {
  const SizeFields fields = {.layers = {"num_layers", "num_hidden_layers"},
                             .heads = {{"num_heads", "num_attention_heads"}, 16},
                             .vocabulary = 50'257,
                             .activation = {"activation_function", "gelu_new"},
                             .dropout = {"resid_dropout", 0.0},
                             .attention_dropout = {"attention_dropout", 0.0}};
  read_sizes(config, fields, shape);
  shape.sliding_window = config.size("window_size", 256, kLongestContext);
  shape.full_attention_every = 2;
  shape.tied_embeddings = config.flag("tie_word_embeddings", true);
  Gpt2(config, shape).write();
}

}  // namespace

Families gpt2() {
  return {
      {"gpt2", "GPT-2: learned positions, fused q/k/v", read_gpt2},
      {"gpt_bigcode", "StarCoder: GPT-2 with one key and value for all heads", read_gpt2},
      {"gpt_neo", "GPT-Neo: every other layer local", read_gpt_neo},
  };
}

}  // namespace rightsize::model
