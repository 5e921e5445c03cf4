// GPT-2 and its line: GPT BigCode (one key head), GPT-Neo (separate q, k, v, scores in 32 bits).
#include "families/decoder.h"
#include "families/families.h"
#include "families/family_writer.h"
#include "families/gpt_sizes.h"

namespace rightsize::model {
namespace {

struct Layer {
  WeightRef norm1, qkv, q, k, v, o, norm2, up, down;
};

// Names of intermediate results live to the end of the block in the original, and so they do here.
class Gpt2 : protected FamilyWriter {
 public:
  Gpt2(const Config& config, ModelShape& shape) : FamilyWriter(config, shape) {}

  // q, k and v in one matrix of `qkv_width` columns; 0: in three, and scores in 32 bits.
  void write(std::int64_t qkv_width) {
    flat_ = qkv_width > 0;
    const WeightRef table = inventory_.embedding("wte", WeightRole::kTokenEmbedding, shape_.vocabulary, shape_.hidden);
    const WeightRef places = inventory_.embedding("wpe", WeightRole::kPositionEmbedding, shape_.context, shape_.hidden);
    const Layer layer = declare_layer(qkv_width);
    const WeightRef last_norm = inventory_.norm("ln_f", shape_.hidden, true);
    const DecoderHead head = declare_decoder_head(config_, inventory_, shape_, shape_.hidden);
    Value x = body(table, places, layer);
    x = f_.last_stage(std::move(x), [&](Value last) {
      Value normed = layer_norm(last_norm, std::move(last));
      return decoder_loss(f_, shape_, head, table, std::move(normed));
    });
    finish(std::move(x));
  }

 private:
  Layer declare_layer(std::int64_t qkv_width) {
    const std::int64_t width = shape_.hidden;
    const WeightRole role = WeightRole::kAttention;
    Layer w;
    inventory_.begin_block(shape_.layers);
    w.norm1 = inventory_.norm("ln_1", width, true);
    if (flat_) {
      w.qkv = inventory_.linear("attn.c_attn", role, qkv_width, width, true);
      w.o = inventory_.output("attn.c_proj", role, width, width, true);
    } else {
      w.k = inventory_.keys("attn.attention.k_proj", width, width, false, shape_.head_dim);
      w.v = inventory_.keys("attn.attention.v_proj", width, width, false, shape_.head_dim);
      w.q = inventory_.linear("attn.attention.q_proj", role, width, width, false);
      w.o = inventory_.output("attn.attention.out_proj", role, width, width, true);
    }
    w.norm2 = inventory_.norm("ln_2", width, true);
    w.up = inventory_.linear("mlp.c_fc", WeightRole::kMlp, shape_.intermediate, width, true);
    w.down = inventory_.output("mlp.c_proj", WeightRole::kMlp, width, shape_.intermediate, true);
    inventory_.end_block();
    return w;
  }

  Value body(WeightRef table, WeightRef places, const Layer& layer) {
    Value tokens, positions;
    Value x = f_.first_stage([&] {
      tokens = f_.embedding(kTokens, table, shape_.hidden);
      positions = f_.embedding(kPositions, places, shape_.hidden);
      Value sum = f_.add(tokens, positions);
      f_.probe_mask(kTokens);
      sum = f_.dropout(std::move(sum), shape_.dropout);
      f_.want_gradient(sum);
      return sum;
    });
    if (!flat_) scores_ = wide_scores();
    x = run_layers(std::move(x), layer.norm1, [&](Value in) { return block(std::move(in), layer); });
    tokens.reset();
    positions.reset();
    f_.release_shared();
    return x;
  }

  Value block(Value given, const Layer& w) {
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

  Value attention(Value given, const Layer& w) {
    Value x = std::move(given);
    Value q, k, v;
    if (flat_) {
      const Size wide = kTokens.split_into(shape_.heads, shape_.head_dim);
      const Size narrow = kTokens.split_into(shape_.kv_heads, shape_.head_dim);
      auto parts = f_.split(f_.linear(w.qkv, x, false), wide, narrow, narrow);
      k = f_.split_heads(std::move(parts[1]));
      v = f_.split_heads(std::move(parts[2]));
      q = f_.split_heads(std::move(parts[0]));
    } else {
      q = f_.split_heads(f_.linear(w.q, x));
      k = f_.split_heads(f_.linear(w.k, x));
      v = f_.split_heads(f_.linear(w.v, x));
    }
    AttentionOp how = attention_of(shape_);
    if (!flat_) {
      how.kernel = AttentionOp::Kernel::kWritten;
      how.written = scores_;
    }
    Value out = f_.attention(q, k, v, how);
    out = f_.linear(w.o, std::move(out), !flat_);
    return f_.dropout(std::move(out), shape_.dropout);
  }

  // GPT-Neo multiplies queries and keys in 32 bits and masks the scores with torch.where.
  std::int32_t wide_scores() {
    const Size heads = kTokens.split_into(shape_.heads, shape_.head_dim);
    const Size square = kSampleSquare.split_into(shape_.heads, 1), work = square.times(shape_.head_dim);
    return f_.written_attention(heads, heads, [&](std::span<Value> in) {
      Value wide_q = f_.cast(in[0], Width::kSingle), wide_k = f_.cast(in[1], Width::kSingle);
      Value scores =
          f_.product(f_.copy(wide_q, CopyKind::kPerHead), f_.copy(wide_k, CopyKind::kPerHeadViewBack), square, work);
      scores = f_.masked_fill(std::move(scores), f_.make(kSquare, Width::kByte));
      scores = f_.softmax(std::move(scores), Width::kAsIs);
      scores = f_.cast(std::move(scores), Width::kProduct);
      scores = f_.dropout(std::move(scores), shape_.attention_dropout);
      Value out = f_.product(scores, f_.copy(in[2], CopyKind::kPerHead), heads, work);
      out = f_.copy(std::move(out), CopyKind::kBothWays);
      return std::pair(std::move(out), Value());
    });
  }

  Value mlp(Value given, const Layer& w) {
    Value x = std::move(given);
    x = f_.linear(w.up, std::move(x), !flat_);
    x = f_.activate(std::move(x), shape_.activation);
    x = f_.linear(w.down, std::move(x), !flat_);
    return f_.dropout(std::move(x), shape_.dropout);
  }

  std::int32_t scores_ = -1;
  bool flat_ = true;  // Conv1D works on rows: gradients of inputs do not come out of views
};

void read_gpt2(const Config& config, ModelShape& shape) {
  read_gpt_sizes(config, shape, 12, 1'024, "gelu_new");
  shape.tied_embeddings = config.flag("tie_word_embeddings", true);
  shape.fused_qkv = true;
  shape.positions = Positions::kLearned;
  Gpt2(config, shape).write(3 * shape.hidden);
}

void read_gpt_bigcode(const Config& config, ModelShape& shape) {
  read_gpt_sizes(config, shape, 12, 1'024, "gelu_pytorch_tanh");
  shape.tied_embeddings = config.flag("tie_word_embeddings", true);
  if (config.flag("multi_query", true)) shape.kv_heads = 1;
  shape.fused_qkv = true;
  shape.positions = Positions::kLearned;
  Gpt2(config, shape).write(shape.hidden + 2 * std::int64_t{shape.kv_heads} * shape.head_dim);
}

void read_gpt_neo(const Config& config, ModelShape& shape) {
  const FieldNames heads = {"num_heads", "num_attention_heads"};
  shape.kind = ModelKind::kDecoder;
  shape.layers = config.layers({"num_layers", "num_hidden_layers"});
  shape.hidden = config.hidden("hidden_size");
  shape.heads = shape.kv_heads = config.count(heads, 16, 1, kMostHeads);
  shape.head_dim = config.divide(shape.hidden, "hidden_size", shape.heads, heads);
  shape.intermediate = config.size("intermediate_size", 4 * shape.hidden, kWidestMlp);
  shape.vocabulary = config.size("vocab_size", 50'257, kLargestVocabulary);
  shape.context = config.size("max_position_embeddings", 2'048, kLongestContext);
  shape.activation = config.activation("activation_function", "gelu_new");
  shape.dropout = config.dropout("resid_dropout", 0.0);
  shape.attention_dropout = config.dropout("attention_dropout", 0.0);
  shape.positions = Positions::kLearned;
  shape.sliding_window = config.size("window_size", 256, kLongestContext);
  shape.full_attention_every = 2;
  shape.tied_embeddings = config.flag("tie_word_embeddings", true);
  Gpt2(config, shape).write(0);
}

}  // namespace

Families gpt2() {
  return {
      {"gpt2", "GPT-2: learned positions, fused q/k/v", read_gpt2},
      {"gpt_bigcode", "StarCoder: GPT-2 with one key and value for all heads", read_gpt_bigcode},
      {"gpt_neo", "GPT-Neo: every other layer local", read_gpt_neo},
  };
}

}  // namespace rightsize::model
