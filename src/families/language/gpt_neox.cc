// GPT-NeoX and Pythia; GPT-J, which has separate q, k, v, one norm and scores in 32 bits; Phi 1 to 2.
#include "families/decoder.h"
#include "families/families.h"
#include "families/family_writer.h"
#include "families/gpt_sizes.h"

namespace rightsize::model {
namespace {

struct Layer {
  WeightRef first, norm1, norm2, qkv, q, k, v, o, up, down;
};

class NeoX : protected FamilyWriter {
 public:
  NeoX(const Config& config, ModelShape& shape, bool gptj) : FamilyWriter(config, shape), gptj_(gptj) {}

  void write(bool attention_bias) {
    const WeightRef table =
        inventory_.embedding(gptj_ ? "wte" : "embed_in", WeightRole::kTokenEmbedding, shape_.vocabulary, shape_.hidden);
    const Layer layer = gptj_ ? declare_gptj_layer() : declare_layer(attention_bias);
    const WeightRef last_norm = inventory_.norm(gptj_ ? "ln_f" : "final_layer_norm", shape_.hidden, true);
    const DecoderHead head = declare_decoder_head(config_, inventory_, shape_, shape_.hidden, gptj_);
    Value x = body(table, last_norm, layer);
    x = f_.last_stage(std::move(x), [&](Value last) { return decoder_loss(f_, shape_, head, table, std::move(last)); });
    finish(std::move(x));
  }

 private:
  Layer declare_layer(bool bias) {
    const std::int64_t width = shape_.hidden;
    Layer w;
    inventory_.begin_block(shape_.layers);
    w.first = w.norm1 = inventory_.norm("input_layernorm", width, true);
    w.norm2 = inventory_.norm("post_attention_layernorm", width, true);
    w.qkv = inventory_.linear("attention.query_key_value", WeightRole::kAttention, 3 * width, width, bias);
    w.o = inventory_.output("attention.dense", WeightRole::kAttention, width, width, bias);
    w.up = inventory_.linear("mlp.dense_h_to_4h", WeightRole::kMlp, shape_.intermediate, width, true);
    w.down = inventory_.output("mlp.dense_4h_to_h", WeightRole::kMlp, width, shape_.intermediate, true);
    inventory_.end_block();
    return w;
  }

  Layer declare_gptj_layer() {
    const std::int64_t width = shape_.hidden;
    Layer w;
    inventory_.begin_block(shape_.layers);
    w.first = w.norm1 = inventory_.norm("ln_1", width, true);
    w.k = inventory_.keys("attn.k_proj", width, width, false, shape_.head_dim);
    w.v = inventory_.keys("attn.v_proj", width, width, false, shape_.head_dim);
    w.q = inventory_.linear("attn.q_proj", WeightRole::kAttention, width, width, false);
    w.o = inventory_.output("attn.out_proj", WeightRole::kAttention, width, width, false);
    w.up = inventory_.linear("mlp.fc_in", WeightRole::kMlp, shape_.intermediate, width, true);
    w.down = inventory_.output("mlp.fc_out", WeightRole::kMlp, width, shape_.intermediate, true);
    inventory_.end_block();
    return w;
  }

  Value body(WeightRef table, WeightRef last_norm, const Layer& layer) {
    Value embedded = f_.first_stage([&] {
      Value e = f_.embedding(kTokens, table, shape_.hidden);
      f_.want_gradient(e);
      return e;
    });
    Value positions = f_.make(kPositions, Width::kLong);
    f_.probe_mask(kTokens);
    rotary_ = f_.rotary_tables(shape_.rotary_dim, embedded);
    if (gptj_) scores_ = wide_scores();
    const std::int32_t stack = f_.add_stack();
    const std::int32_t program = f_.program({kTokens.times(shape_.hidden)}, [&](std::span<Value> in) {
      return gptj_ ? gptj_block(in[0], layer) : block(in[0], layer);
    });
    f_.add_layers(stack, layer.first, shape_.layers, program);
    Value x = f_.layers(stack, embedded);
    x = f_.last_stage(std::move(x), [&](Value last) { return layer_norm(last_norm, std::move(last)); });
    f_.release_shared();
    return x;
  }

  Value block(Value given, const Layer& w) {
    Value x = std::move(given);
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

  Value gptj_block(Value given, const Layer& w) {
    Value x = std::move(given);
    Value residual = x;
    x = layer_norm(w.norm1, std::move(x));
    Value attended = f_.dropout(gptj_attention(x, w), shape_.dropout);
    Value fed = mlp(x, w);
    Value both = f_.add(attended, fed);
    return f_.add(std::move(both), residual);
  }

  Value mlp(Value given, const Layer& w) {
    Value x = std::move(given);
    Value upper = f_.linear(w.up, x);
    upper = f_.activate(std::move(upper), shape_.activation);
    Value y = f_.linear(w.down, std::move(upper));
    x = f_.dropout(std::move(y), shape_.dropout);
    return x;
  }

  // The rotated part of a head is cut off, turned and joined again, q and k side by side.
  void rotate_parts(Value& q, Value& k) {
    const Size turning = kTokens.split_into(shape_.heads, shape_.rotary_dim);
    const Size passing = kTokens.split_into(shape_.heads, shape_.head_dim - shape_.rotary_dim);
    Value q_turning = f_.slice(q, turning), q_passing = f_.slice(q, passing);
    Value k_turning = f_.slice(k, turning), k_passing = f_.slice(k, passing);
    Value new_q = f_.rotate(q_turning, rotary_);
    Value new_k = f_.rotate(k_turning, rotary_);
    new_q = f_.cat(std::move(new_q), q_passing);
    new_k = f_.cat(std::move(new_k), k_passing);
    q = std::move(new_q);
    k = std::move(new_k);
  }

  Value attention(Value given, const Layer& w) {
    Value x = std::move(given);
    const Size each = kTokens.split_into(shape_.heads, shape_.head_dim);
    Value qkv = f_.split_heads(f_.linear(w.qkv, x));
    auto [q, k, v] = f_.split(qkv, each, each, each);
    rotate_parts(q, k);
    Value out = f_.attention(q, k, v, attention_of(shape_));
    return f_.linear(w.o, out);
  }

  Value gptj_attention(Value given, const Layer& w) {
    Value x = std::move(given);
    Value q = f_.linear(w.q, x), k = f_.linear(w.k, x), v = f_.linear(w.v, x);
    rotate_parts(q, k);
    AttentionOp how = attention_of(shape_);
    how.kernel = AttentionOp::Kernel::kWritten;
    how.written = scores_;
    Value out = f_.attention(std::move(q), std::move(k), v, how);
    return f_.linear(w.o, std::move(out));
  }

  std::int32_t wide_scores() {
    const Size heads = kTokens.split_into(shape_.heads, shape_.head_dim);
    const Size square = kSampleSquare.split_into(shape_.heads, 1), work = square.times(shape_.head_dim);
    return f_.written_attention(heads, heads, [&](std::span<Value> in) {
      Value k = f_.cast(std::move(in[1]), Width::kSingle);
      Value q = f_.cast(std::move(in[0]), Width::kSingle);
      Value scores = f_.product(f_.copy(q, CopyKind::kPerHead), f_.copy(k, CopyKind::kPerHeadViewBack), square, work);
      scores = f_.scale(std::move(scores));
      scores = f_.add_constant(std::move(scores));  // the mask
      scores = f_.softmax(std::move(scores), Width::kAsIs);
      scores = f_.cast(std::move(scores), Width::kProduct);
      scores = f_.dropout(std::move(scores), shape_.attention_dropout);
      Value out = f_.product(scores, f_.copy(in[2], CopyKind::kPerHead), heads, work);
      out = f_.copy(std::move(out), CopyKind::kBothWays);
      return std::pair(std::move(out), Value());
    });
  }

  RotaryTables rotary_;
  std::int32_t scores_ = -1;
  bool gptj_;
};

void read_gptj(const Config& config, ModelShape& shape) {
  read_gpt_sizes(config, shape, 16, 2'048, "gelu_new");
  shape.dropout = config.dropout("resid_pdrop", 0.0);
  shape.attention_dropout = config.dropout("attn_pdrop", 0.0);
  shape.vocabulary = config.size("vocab_size", 50'400, kLargestVocabulary);
  shape.rotary_dim = config.count("rotary_dim", 64, 1, kWidestHead);
  shape.parallel_block = true;
  shape.tied_embeddings = config.flag("tie_word_embeddings", false);
  NeoX(config, shape, true).write(false);
}

// GPT-NeoX and Phi share the field names of the llama line but have biases and layer norms throughout.
DecoderStyle layer_norm_style(std::int64_t vocabulary, std::int64_t intermediate, int heads, const char* activation) {
  DecoderStyle style;
  style.vocabulary = vocabulary;
  style.intermediate = intermediate;
  style.heads = heads;
  style.activation = activation;
  style.gated = false;
  style.norm = NormKind::kLayer;
  return style;
}

// Before transformers 5, and in every GPT-NeoX file, the share of a head that is rotated is called rotary_pct.
void read_rotary_percentage(const Config& config, ModelShape& shape) {
  double fraction = config.number("rotary_pct", -1.0, 0.0, 1.0);
  if (fraction >= 0.0) shape.rotary_dim = static_cast<int>(shape.head_dim * fraction);
}

void read_gpt_neox(const Config& config, ModelShape& shape) {
  DecoderStyle style = layer_norm_style(50'432, 24'576, 64, "gelu");
  style.rotary_fraction = 0.25;
  style.fused_qkv = true;
  read_decoder_sizes(config, style, shape);
  read_rotary_percentage(config, shape);
  shape.dropout = config.dropout("hidden_dropout", 0.0);
  shape.parallel_block = config.flag("use_parallel_residual", true);
  NeoX(config, shape, false).write(config.flag("attention_bias", true));
}

void read_phi(const Config& config, ModelShape& shape) {
  DecoderStyle style = layer_norm_style(51'200, 8'192, 32, "gelu_new");
  style.rotary_fraction = 0.5;
  style.layer_norms = {"input_layernorm"};
  style.order = BlockOrder::kParallel;
  style.qkv_bias = style.output_bias = style.mlp_bias = style.norm_bias = style.head_bias = true;
  style.output_name = "self_attn.dense";
  style.up_name = "fc1";
  style.down_name = "fc2";
  style.final_norm = "final_layernorm";
  if (config.flag("qk_layernorm", false)) {
    style.qk_norm = QkNorm::kPerHead;
    style.q_norm_name = "self_attn.q_layernorm";
    style.k_norm_name = "self_attn.k_layernorm";
  }
  read_decoder_sizes(config, style, shape);
  shape.dropout = config.dropout("resid_pdrop", 0.0);
  shape.parallel_block = true;
  Decoder(config, style, shape).write();
}

}  // namespace

Families gpt_neox() {
  return {
      {"gpt_neox", "GPT-NeoX and Pythia: parallel block, partly rotary", read_gpt_neox},
      {"gptj", "GPT-J: parallel block, one norm", read_gptj},
      {"phi", "Phi 1 to 2: parallel attention and MLP, biases throughout", read_phi},
  };
}

}  // namespace rightsize::model
