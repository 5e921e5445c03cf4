// MPT: ALiBi positions and attention without a fused kernel, so that scores and probabilities are saved.
#include <utility>

#include "families/decoder.h"
#include "families/families.h"
#include "families/family_writer.h"

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

class Mpt : protected FamilyWriter {
 public:
  Mpt(const Config& config, ModelShape& shape) : FamilyWriter(config, shape) {}

  void write(const MptLayout& layout) {
    const WeightRef table = inventory_.embedding("wte", WeightRole::kTokenEmbedding, shape_.vocabulary, shape_.hidden);
    WeightRef places;
    if (layout.learned_positions) {
      places = inventory_.embedding("wpe", WeightRole::kPositionEmbedding, shape_.context, shape_.hidden);
    }
    const Layer layer = declare_layer(layout);
    const WeightRef last_norm = inventory_.norm("norm_f", shape_.hidden, layout.bias);
    const DecoderHead head = declare_decoder_head(config_, inventory_, shape_, shape_.hidden);
    Value x = body(table, places, last_norm, layer);
    x = f_.last_stage(std::move(x), [&](Value last) { return decoder_loss(f_, shape_, head, table, std::move(last)); });
    finish(std::move(x));
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
    x = run_layers(std::move(x), layer.norm1, [&](Value in) { return block(std::move(in), layer, scores); });
    x = f_.last_stage(std::move(x), [&](Value last) { return layer_norm(last_norm, std::move(last)); });
    f_.release_shared();
    return x;
  }

  Value block(Value given, const Layer& w, std::int32_t scores) {
    Value x = std::move(given);
    Value normed = layer_norm(w.norm1, x), residual = x;
    auto [out, probabilities] = attention(normed, w, scores);
    x = f_.add(out, residual);
    normed = layer_norm(w.norm2, x);
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
    auto [out, probabilities] = f_.attention_keeping(q, k, v, alibi_attention(shape_, scores));
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
  shape.fused_qkv = true;
  shape.tied_embeddings = config.flag("tie_word_embeddings", true);
  MptLayout layout = read_mpt_layout(config, attention, shape);
  Mpt(config, shape).write(layout);
}

}  // namespace

Families mpt() {
  return {
      {"mpt", "MPT, of transformers (MptForCausalLM) and of llm-foundry (MPTForCausalLM)", read_mpt, {"hf_mpt"}},
  };
}

}  // namespace rightsize::model
