// BART and Whisper: an encoder over text or audio frames, a decoder that attends to it.
#include "families/family_writer.h"

namespace rightsize::model {
namespace {

struct BartLayer {
  LayerWeights self, cross;  // each with the norm of its attention
  WeightRef up, down, norm;
  bool decoder = false;
};

// BART norms after each part, Whisper before. Whisper's keys have no bias.
class Bart : protected FamilyWriter {
 public:
  Bart(const Config& config, ModelShape& shape, std::int64_t encoder_intermediate)
      : FamilyWriter(config, shape),
        speech_(shape.encoder_context > 0),
        encoder_intermediate_(encoder_intermediate),
        encoder_rows_(speech_ ? kSamples.times(shape.encoder_context) : kTokens) {}

  void write() {
    // Whisper reads two spectrogram frames for every position.
    if (speech_) f_.input(encoder_rows_.times(std::int64_t{2} * shape_.channels), Width::kSingle);
    if (!speech_) f_.input(kTokens.times(2), Width::kLong);
    speech_ ? declare_speech() : declare_text();
    Value encoded = encoder();
    Value y = decoder(encoded);
    Value loss = classifier_ ? classify(std::move(y))
                             : f_.language_loss(std::move(y), {output_ ? output_ : table_, {}, false, false});
    f_.forward().exact = !speech_;
    finish(std::move(loss));
  }

 private:
  // ---- weights

  void declare_speech() {
    const ConvOptions once = {.bias = true, .over_time = true}, halved = {.stride = 2, .bias = true, .over_time = true};
    conv1_ = inventory_.conv("encoder.conv1", shape_.hidden, shape_.channels, 3, once);
    conv2_ = inventory_.conv("encoder.conv2", shape_.hidden, shape_.hidden, 3, halved);
    encoder_places_ = positions("encoder.embed_positions", shape_.encoder_context);
    encoder_ = declare_stack(false);
    encoder_norm_ = inventory_.norm("encoder.layer_norm", shape_.hidden, true);
    table_ = tokens("decoder.embed_tokens");
    decoder_places_ = positions("decoder.embed_positions", shape_.context);
    decoder_ = declare_stack(true);
    decoder_norm_ = inventory_.norm("decoder.layer_norm", shape_.hidden, true);
    if (config_.head(Head::kConditionalGeneration) != Head::kBase && !shape_.tied_embeddings)
      output_ = inventory_.logits("proj_out", shape_.vocabulary, shape_.hidden, false);
  }

  void declare_text() {
    const std::int64_t width = shape_.hidden;
    table_ = tokens("shared");
    encoder_places_ = positions("encoder.embed_positions", shape_.context + 2);
    encoder_ = declare_stack(false);
    encoder_norm_ = inventory_.norm("encoder.layernorm_embedding", width, true);
    decoder_places_ = positions("decoder.embed_positions", shape_.context + 2);
    decoder_ = declare_stack(true);
    decoder_norm_ = inventory_.norm("decoder.layernorm_embedding", width, true);
    const Head head = config_.head(Head::kConditionalGeneration);
    if (head == Head::kSequenceClassification) {
      shape_.labels = config_.labels();
      dense_ = inventory_.linear("classification_head.dense", WeightRole::kOther, width, width, true);
      classifier_ = inventory_.linear("classification_head.out_proj", WeightRole::kHead, shape_.labels, width, true);
    } else if (head == Head::kConditionalGeneration && !shape_.tied_embeddings) {
      output_ = inventory_.logits("lm_head", shape_.vocabulary, width, false);
    }
  }

  void declare_attention(LayerWeights& w, const std::string& name) {
    declare(w, {{&LayerWeights::k, name + ".k_proj", !speech_},
                {&LayerWeights::v, name + ".v_proj"},
                {&LayerWeights::q, name + ".q_proj"},
                {&LayerWeights::o, name + ".out_proj"},
                {&LayerWeights::norm1, name + "_layer_norm"}});
  }

  BartLayer declare_stack(bool decoder) {
    const std::string prefix = decoder ? "decoder." : "encoder.";
    const std::int64_t intermediate = decoder ? shape_.intermediate : encoder_intermediate_;
    BartLayer w;
    w.decoder = decoder;
    inventory_.begin_block(decoder ? shape_.layers : shape_.encoder_layers);
    declare_attention(w.self, prefix + "self_attn");
    if (decoder) declare_attention(w.cross, prefix + "encoder_attn");
    w.up = inventory_.linear(prefix + "fc1", WeightRole::kMlp, intermediate, shape_.hidden, true);
    w.down = inventory_.output(prefix + "fc2", WeightRole::kMlp, shape_.hidden, intermediate, true);
    w.norm = inventory_.norm(prefix + "final_layer_norm", shape_.hidden, true);
    inventory_.end_block();
    return w;
  }

  // ---- the forward pass

  Value embed(WeightRef places, WeightRef first_norm) {
    Value x = f_.embedding(kTokens, table_, shape_.hidden);
    Value position = f_.embedding(kPositions, places, shape_.hidden);
    x = f_.add(std::move(x), position);
    if (!speech_) x = layer_norm(first_norm, std::move(x), kTokens);
    x = f_.dropout(std::move(x), shape_.dropout);
    f_.want_gradient(x);
    return x;
  }

  // Two convolutions over time, each with a gelu.
  Value listen() {
    Value audio = f_.make(encoder_rows_.times(std::int64_t{2} * shape_.channels), Width::kProduct);
    Value x = f_.convolution_over_time(conv1_, std::move(audio), encoder_rows_.times(2));
    x = f_.activate(std::move(x), Activation::kGelu);
    x = f_.convolution_over_time(conv2_, std::move(x), encoder_rows_);
    x = f_.activate(std::move(x), Activation::kGelu);
    x = f_.copy(std::move(x));
    x = f_.add(std::move(x), f_.parameter(encoder_places_));
    x = f_.dropout(std::move(x), shape_.dropout);
    f_.want_gradient(x);
    return x;
  }

  Value run_stack(Value x, const BartLayer& layer, const Size& rows, Value encoded) {
    const Size width = rows.times(shape_.hidden), keys = encoder_rows_.times(shape_.hidden);
    const std::int32_t stack = f_.add_stack(layer.decoder);
    const std::int32_t program =
        layer.decoder ? f_.program({width, keys}, [&](std::span<Value> in) { return block(in[0], in[1], layer, rows); })
                      : f_.program({width}, [&](std::span<Value> in) { return block(in[0], {}, layer, rows); });
    f_.add_layers(stack, layer.self.first, layer.decoder ? shape_.layers : shape_.encoder_layers, program);
    return f_.layers(stack, std::move(x), std::move(encoded));
  }

  Value encoder() {
    Value x = speech_ ? listen() : embed(encoder_places_, encoder_norm_);
    x = run_stack(std::move(x), encoder_, encoder_rows_, {});
    if (speech_) x = layer_norm(encoder_norm_, std::move(x), encoder_rows_);
    return x;
  }

  Value decoder(const Value& encoded) {
    Value x = embed(decoder_places_, decoder_norm_);
    x = run_stack(std::move(x), decoder_, kTokens, encoded);
    if (speech_) x = layer_norm(decoder_norm_, std::move(x), kTokens);
    return x;
  }

  Value block(Value given, Value encoded, const BartLayer& w, const Size& rows) {
    Value x = std::move(given);
    x = sublayer(x, w.self, {}, rows, w.decoder);
    if (w.decoder) x = sublayer(x, w.cross, encoded, rows, true);
    Value residual = x;
    if (speech_) x = layer_norm(w.norm, std::move(x), rows);
    x = f_.linear(w.up, std::move(x));
    x = f_.activate(std::move(x), shape_.activation);
    x = f_.linear(w.down, std::move(x));
    x = f_.dropout(std::move(x), shape_.dropout);
    x = f_.add(residual, std::move(x));
    return speech_ ? x : layer_norm(w.norm, std::move(x), rows);
  }

  Value sublayer(Value given, const LayerWeights& w, Value given_encoded, const Size& rows, bool is_decoder) {
    Value x = std::move(given), encoded = std::move(given_encoded);
    Value residual = x;
    if (speech_) x = layer_norm(w.norm1, std::move(x), rows);
    AttentionOp how = attention_op();
    how.causal = is_decoder && !encoded;
    how.cached = is_decoder;
    if (speech_ && !is_decoder) how.query_tokens = shape_.encoder_context;
    if (speech_ && (encoded || !is_decoder)) how.key_tokens = shape_.encoder_context;
    HeadValues heads = split_qkv(w, x, encoded ? encoded : x);
    Value out = f_.linear(w.o, f_.attention(heads.q, heads.k, heads.v, how));
    out = f_.dropout(std::move(out), shape_.dropout);
    x = f_.add(residual, std::move(out));
    return speech_ ? x : layer_norm(w.norm1, std::move(x), rows);
  }

  Value classify(Value given) {
    f_.head();
    Value x = f_.index(std::move(given), kSamples.times(shape_.hidden));
    x = f_.activate(f_.linear(dense_, std::move(x), false), Activation::kTanh);
    x = f_.linear(classifier_, std::move(x), false);
    return f_.class_loss(std::move(x), kSamples);
  }

  bool speech_;
  std::int64_t encoder_intermediate_;
  Size encoder_rows_;
  BartLayer encoder_, decoder_;
  WeightRef conv1_, conv2_, encoder_places_, encoder_norm_, table_, decoder_places_, decoder_norm_, output_, dense_,
      classifier_;
};

void read_bart_sizes(const Config& config, ModelShape& shape, int heads, double dropout, std::int64_t vocabulary) {
  const FieldNames width = {"d_model", "hidden_size"};
  shape.kind = ModelKind::kEncoderDecoder;
  shape.encoder_layers = config.layers({"encoder_layers", "num_hidden_layers"});
  shape.layers = config.layers("decoder_layers");
  shape.hidden = config.hidden(width);
  shape.heads = shape.kv_heads = config.count({"decoder_attention_heads", "num_attention_heads"}, heads, 1, kMostHeads);
  shape.head_dim = config.divide(shape.hidden, width, shape.heads, "decoder_attention_heads");
  int encoder_heads = config.count("encoder_attention_heads", shape.heads, 1, kMostHeads);
  config.divide(shape.hidden, width, encoder_heads, "encoder_attention_heads");
  shape.activation = config.activation("activation_function", "gelu");
  shape.attention_dropout = config.dropout("attention_dropout", 0.0);
  shape.dropout = config.dropout("dropout", dropout);
  shape.vocabulary = config.size("vocab_size", vocabulary, kLargestVocabulary);
  shape.positions = Positions::kLearned;
  shape.tied_embeddings = config.flag("tie_word_embeddings", true);
}

void write_bart(const Config& config, ModelShape& shape, std::int64_t ffn) {
  const std::int64_t encoder_intermediate = config.size("encoder_ffn_dim", ffn, kWidestMlp);
  shape.intermediate = config.size("decoder_ffn_dim", ffn, kWidestMlp);
  Bart(config, shape, encoder_intermediate).write();
}

void read_whisper(const Config& config, ModelShape& shape) {
  read_bart_sizes(config, shape, 6, 0.0, 51'865);
  shape.context = config.size("max_target_positions", 448, kLongestContext);
  shape.encoder_context = config.size("max_source_positions", 1'500, kLongestContext);
  shape.channels = config.count("num_mel_bins", 80, 1, kWidest);
  write_bart(config, shape, 1'536);
}

void read_bart(const Config& config, ModelShape& shape) {
  read_bart_sizes(config, shape, 16, 0.1, 50'265);
  shape.context = config.size("max_position_embeddings", 1'024, kLongestContext);
  write_bart(config, shape, 4'096);
}

}  // namespace

Families bart() {
  return {
      {"bart", "BART", read_bart},
      {"whisper", "Whisper: audio encoder, text decoder", read_whisper},
  };
}

}  // namespace rightsize::model
