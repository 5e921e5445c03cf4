// MPT: ALiBi positions and attention without a fused kernel, which saves scores and probabilities.
#include "families/decoder.h"

namespace rightsize::model {
namespace {

int read_mpt_kv_heads(const Config& attention, const ModelShape& shape) {
  std::string type = attention.json().get_string("attn_type").value_or("multihead_attention");
  if (type == "multiquery_attention") return 1;
  if (type == "grouped_query_attention") return attention.count("kv_n_heads", shape.heads, 1, kMostHeads);
  return shape.heads;
}

class Mpt : protected FamilyWriter {
 public:
  using FamilyWriter::FamilyWriter;

  void write(bool bias, bool qk_norm) {
    const WeightRef table = tokens("wte");
    WeightRef places;
    if (shape_.positions == Positions::kLearned) places = positions("wpe", shape_.context);
    using L = LayerWeights;
    const LayerWeights layer = declare_layers(shape_.layers, {{&L::norm1, "norm_1", bias},
                                                              {&L::qkv, "attn.Wqkv", bias},
                                                              {&L::q_norm, qk_norm ? "attn.q_ln" : "", bias},
                                                              {&L::k_norm, qk_norm ? "attn.k_ln" : "", bias},
                                                              {&L::o, "attn.out_proj", bias},
                                                              {&L::norm2, "norm_2", bias},
                                                              {&L::up, "ffn.up_proj", bias},
                                                              {&L::down, "ffn.down_proj", bias}});
    const WeightRef last_norm = inventory_.norm("norm_f", shape_.hidden, bias);
    const DecoderHead head = declare_head();
    finish_decoder(body(table, places, last_norm, layer), head, table);
  }

 private:
  Value body(WeightRef table, WeightRef places, WeightRef last_norm, const LayerWeights& layer) {
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
    auto [out, probabilities] = attention(normed, w);
    x = f_.add(out, residual);
    normed = layer_norm(w.norm2, x);
    residual = x;
    Value inner = f_.linear(w.up, normed);
    inner = f_.activate(std::move(inner), Activation::kGelu);
    Value down = f_.linear(w.down, inner);
    return f_.add(std::move(down), residual);
  }

  // The result, and the probabilities, which live to the end of the layer.
  std::pair<Value, Value> attention(const Value& x, const LayerWeights& w) {
    Value qkv = f_.linear(w.qkv, x);
    auto [q, k, v] = f_.split(qkv, q_size(), kv_size(), kv_size());
    auto [out, probabilities] = f_.attention_keeping(q, k, v, attention_);
    out = f_.linear(w.o, std::move(out));
    return {std::move(out), std::move(probabilities)};
  }

  std::int32_t scores_program() {
    const Size square = kSampleSquare.split_into(shape_.heads, 1), work = square.times(shape_.head_dim);
    return f_.written_attention(q_size(), kv_size(), [&](std::span<Value> in) {
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
        out = f_.product(probabilities, v, q_size(), work);
      }
      out = f_.copy(std::move(out));
      return std::pair(std::move(out), std::move(probabilities));
    });
  }

  AttentionOp attention_;
  Value alibi_, mask_;
};

void read_mpt(const Config& config, ModelShape& shape) {
  const FieldNames heads = {"n_heads", "num_attention_heads"};
  const Config attention = config.section("attn_config");
  const SizeFields fields = {.layers = {"n_layers", "num_hidden_layers"},
                             .hidden = {"d_model", "hidden_size"},
                             .heads = {heads, 16},
                             .intermediate = {{}, 0},
                             .vocabulary = 50'368,
                             .context = {{"max_seq_len", "max_position_embeddings"}, 2'048},
                             .activation = {{}, ""},
                             .dropout = {"resid_pdrop", 0.0},
                             .attention_dropout = {{}, 0.0}};
  read_sizes(config, fields, shape);
  shape.kv_heads = read_mpt_kv_heads(attention, shape);
  check_groups(config, shape, heads, "kv_n_heads");
  shape.intermediate = static_cast<std::int64_t>(config.number("expansion_ratio", 4.0, 0.001, 1'000.0) *
                                                 static_cast<double>(shape.hidden));
  shape.activation = Activation::kGelu;
  shape.attention_dropout = attention.dropout("attn_pdrop", 0.0);
  shape.fused_qkv = true;
  shape.tied_embeddings = config.flag("tie_word_embeddings", true);

  // There are two MPTs: llm-foundry's MPTForCausalLM, which has biases and learned positions unless they are turned
  // off, and transformers' MptForCausalLM, which has neither and ignores the switches.
  const bool foundry = shape.architecture.starts_with("MPT");
  const bool alibi = attention.flag("alibi", !foundry), rope = attention.flag("rope", false);
  const bool no_bias = config.flag("no_bias", !foundry), learned = config.flag("learned_pos_emb", true);
  shape.positions = alibi || !foundry ? Positions::kAlibi
                    : rope            ? Positions::kRotary
                    : learned         ? Positions::kLearned
                                      : Positions::kNone;
  if (shape.positions == Positions::kRotary) shape.rotary_dim = shape.head_dim;
  Mpt(config, shape).write(foundry && !no_bias, attention.flag("qk_ln", false) && foundry);
}

}  // namespace

Families mpt() {
  return {{"mpt", "MPT, of transformers (MptForCausalLM) and of llm-foundry (MPTForCausalLM)", read_mpt, {"hf_mpt"}}};
}

}  // namespace rightsize::model
