// T5, Flan-T5, mT5, UMT5: relative position biases that need gradients, which keeps self-attention out of fused
// kernels.
#include "families/family_writer.h"

namespace rightsize::model {
namespace {

struct T5Layer {
  LayerWeights self, cross;  // each with the norm of its attention
  WeightRef table, gate, up, down, norm;
  int repeats = 0;
};

class T5 : protected FamilyWriter {
 public:
  // T5 has one table of position biases for all layers, which belongs to the first; UMT5 has one per layer.
  T5(const Config& config, ModelShape& shape)
      : FamilyWriter(config, shape), bias_in_every_layer_(shape.family == "umt5") {}

  void write() {
    const WeightRef shared = tokens("shared");
    const Stack encoder = declare_stack(shape_.encoder_layers, false);
    const Head head = config_.head(Head::kConditionalGeneration);
    if (head == Head::kEncoder) {
      shape_.kind = ModelKind::kEncoder;
      shape_.layers = shape_.encoder_layers;
      shape_.encoder_layers = 0;
      Value encoded = run(encoder, false, shared, {});
      finish(f_.class_loss(std::move(encoded), kTokens));
      return;
    }
    const Stack decoder = declare_stack(shape_.layers, true);
    WeightRef output = shared;
    const bool generates = head == Head::kConditionalGeneration || head == Head::kCausalLm;
    if (generates && !shape_.tied_embeddings)
      output = inventory_.logits("lm_head", shape_.vocabulary, shape_.hidden, false);
    Value encoded = run(encoder, false, shared, {});
    Value y = run(decoder, true, shared, encoded);
    f_.head();
    if (shape_.tied_embeddings) y = f_.scale(std::move(y));
    // T5 does not convert its logits for the loss.
    finish(f_.language_loss(y, {output, {}, false, false}));
  }

 private:
  struct Stack {
    std::vector<T5Layer> runs;
    WeightRef final_norm;
  };

  void finish(Value loss) {
    f_.forward().exact = !bias_in_every_layer_;
    FamilyWriter::finish(std::move(loss));
  }

  void declare_attention(LayerWeights& w, const std::string& name) {
    declare(w, {{&LayerWeights::q, name + ".q", false},
                {&LayerWeights::k, name + ".k", false},
                {&LayerWeights::v, name + ".v", false},
                {&LayerWeights::o, name + ".o", false}});
  }

  T5Layer declare_run(int repeats, const std::string& prefix, bool decoder, bool with_table) {
    const auto norm_of = [&](const char* part) {
      return inventory_.norm(prefix + part + ".layer_norm", shape_.hidden, false);
    };
    T5Layer w;
    w.repeats = repeats;
    inventory_.begin_block(repeats);
    declare_attention(w.self, prefix + "SelfAttention");
    if (with_table)
      w.table = inventory_.embedding(prefix + "relative_attention_bias", WeightRole::kPositionEmbedding,
                                     config_.size("relative_attention_num_buckets", 32), shape_.heads);
    w.self.norm1 = norm_of("SelfAttention");
    if (decoder) {
      declare_attention(w.cross, prefix + "EncDecAttention");
      w.cross.norm1 = norm_of("EncDecAttention");
    }
    const std::int64_t inner = shape_.intermediate, width = shape_.hidden;
    if (shape_.gated_mlp) w.gate = inventory_.linear("DenseReluDense.wi_0", WeightRole::kMlp, inner, width, false);
    w.up = inventory_.linear(shape_.gated_mlp ? "DenseReluDense.wi_1" : "DenseReluDense.wi", WeightRole::kMlp, inner,
                             width, false);
    w.down = inventory_.output("DenseReluDense.wo", WeightRole::kMlp, width, inner, false);
    w.norm = norm_of("ff");
    inventory_.end_block();
    return w;
  }

  // Only the first layer has a table of position biases.
  Stack declare_stack(int layers, bool decoder) {
    const std::string prefix = decoder ? "decoder." : "encoder.";
    const int first = bias_in_every_layer_ ? layers : 1;
    Stack stack;
    stack.runs.push_back(declare_run(first, prefix, decoder, true));
    if (first < layers) stack.runs.push_back(declare_run(layers - first, prefix, decoder, false));
    stack.final_norm = inventory_.norm(prefix + "final_layer_norm", shape_.hidden, false);
    return stack;
  }

  Value norm(WeightRef weight, Value x) { return f_.norm(NormKind::kRmsHalf, weight, std::move(x), kTokens); }

  Value run(const Stack& stack, bool decoder, WeightRef table, const Value& encoded) {
    const Size width = kTokens.times(shape_.hidden), scores = kSquare.split_into(shape_.heads, 1);
    f_.start();
    Value x = f_.embedding(kTokens, table, shape_.hidden);
    x = f_.dropout(std::move(x), shape_.dropout);
    f_.want_gradient(x);
    WeightRef first_table = stack.runs.front().table;
    first_table.repeat = 0;
    Value bias = f_.relative_bias(first_table, scores);
    const std::int32_t layers = f_.add_stack(decoder);
    for (const T5Layer& layer : stack.runs) {
      const std::int32_t program =
          decoder
              ? f_.program({width, scores, width},
                           [&](std::span<Value> in) { return block(in[0], in[1], in[2], layer, true); })
              : f_.program({width, scores}, [&](std::span<Value> in) { return block(in[0], in[1], {}, layer, false); });
      f_.add_layers(layers, layer.self.first, layer.repeats, program);
    }
    x = f_.layers(layers, std::move(x), bias, encoded);
    x = norm(stack.final_norm, std::move(x));
    return f_.dropout(std::move(x), shape_.dropout);
  }

  Value block(Value given, Value bias, Value encoded, const T5Layer& w, bool decoder) {
    Value x = std::move(given);
    x = sublayer(x, w.self, bias, {}, decoder);
    if (decoder) x = sublayer(x, w.cross, {}, encoded, true);
    return feed_forward(x, w);
  }

  // Self-attention with a bias, or cross-attention over the encoder's output.
  Value sublayer(const Value& x, const LayerWeights& w, const Value& bias, const Value& encoded, bool decoder) {
    Value normed = norm(w.norm1, x);
    Value out = attention(normed, encoded ? encoded : normed, w, bias, decoder);
    Value dropped = f_.dropout(out, shape_.dropout);
    return f_.add(x, std::move(dropped));
  }

  Value attention(const Value& x, const Value& keys, const LayerWeights& w, const Value& bias, bool decoder) {
    auto [q, k, v] = split_qkv(w, x, keys);
    AttentionOp how = attention_op();
    how.causal = decoder && bias;
    how.cached = decoder;
    Value out;
    if (bias) {
      // A bias that needs gradients keeps attention out of fused kernels.
      how.kernel = AttentionOp::Kernel::kMath;
      Value used = bias;
      if (decoder) used = f_.scale(bias);  // torch.where with the causal mask
      out = f_.attention(q, k, v, how, used);
    } else {
      out = f_.attention(q, k, v, how);
    }
    return f_.linear(w.o, out);
  }

  Value feed_forward(const Value& x, const T5Layer& w) {
    Value y = norm(w.norm, x);
    y = feed_forward_inner(y, w);
    Value dropped = f_.dropout(y, shape_.dropout);
    return f_.add(x, std::move(dropped));
  }

  Value feed_forward_inner(Value given, const T5Layer& w) {
    Value y = std::move(given), gate, upper;
    if (w.gate) {
      gate = f_.linear(w.gate, y);
      gate = f_.activate(std::move(gate), shape_.activation);
      upper = f_.linear(w.up, y);
      y = f_.multiply(gate, upper);
    } else {
      y = f_.linear(w.up, std::move(y));
      y = f_.activate(std::move(y), shape_.activation);
    }
    y = f_.dropout(std::move(y), shape_.dropout);
    // The output matrix stays in 32 bits and needs its input in 32 bits.
    y = f_.cast(std::move(y), Width::kStored);
    return f_.linear(w.down, y);
  }

  bool bias_in_every_layer_;
};

// "relu" or "gated-gelu": the prefix stands for a gate. gated-gelu means gelu_new.
void read_t5_activation(const Config& config, ModelShape& shape, const char* fallback) {
  std::string text = config.json().get_string("feed_forward_proj").value_or(fallback);
  shape.gated_mlp = text.starts_with("gated-");
  std::string name = shape.gated_mlp ? text.substr(6) : text;
  if (name == "relu") {
    shape.activation = Activation::kRelu;
  } else if (name == "gelu") {
    shape.activation = shape.gated_mlp ? Activation::kGeluNew : Activation::kGelu;
  } else if (name == "silu") {
    shape.activation = Activation::kSilu;
  } else {
    config.json().fail_at("feed_forward_proj",
                          "'feed_forward_proj' must be relu, gelu, silu or one of them after 'gated-'");
  }
}

void read_t5(const Config& config, ModelShape& shape) {
  const bool multilingual = shape.family != "t5";  // mt5, umt5: other defaults
  shape.kind = ModelKind::kEncoderDecoder;
  shape.encoder_layers = config.layers({"num_layers", "num_hidden_layers"});
  shape.layers = config.count("num_decoder_layers", shape.encoder_layers);
  shape.hidden = config.hidden({"d_model", "hidden_size"});
  shape.heads = shape.kv_heads =
      config.count({"num_heads", "num_attention_heads"}, multilingual ? 6 : 8, 1, kMostHeads);
  shape.head_dim = config.count({"d_kv", "head_dim"}, 64, 1, kWidestHead);
  shape.intermediate = config.size("d_ff", multilingual ? 1'024 : 2'048, kWidestMlp);
  shape.vocabulary = config.size("vocab_size", multilingual ? 250'112 : 32'128, kLargestVocabulary);
  shape.context = config.size("n_positions", 512, kLongestContext);
  shape.dropout = shape.attention_dropout = config.dropout("dropout_rate", 0.1);
  shape.positions = Positions::kRelative;
  read_t5_activation(config, shape, multilingual ? "gated-gelu" : "relu");
  shape.tied_embeddings = config.flag("tie_word_embeddings", shape.family == "t5");
  T5(config, shape).write();
}

}  // namespace

Families t5() {
  return {
      {"t5", "T5, Flan-T5: relative positions", read_t5},
      {"mt5", "mT5", read_t5},
      {"umt5", "UMT5: position biases in every layer", read_t5},
  };
}

}  // namespace rightsize::model
