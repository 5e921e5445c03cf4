// BERT, RoBERTa, DistilBERT: post-norm encoders with biases throughout, and the heads they are used with.
#include "families/family_writer.h"

namespace rightsize::model {
namespace {

class Bert : protected FamilyWriter {
 public:
  enum class Variant {
    kBert,
    kRoberta,  // counts positions from the padding, per sample
    kDistilled,
  };

  Bert(const Config& config, ModelShape& shape, Variant variant) : FamilyWriter(config, shape), variant_(variant) {}

  void write() {
    words_ = tokens("embeddings.word_embeddings");
    places_ = positions("embeddings.position_embeddings", shape_.context);
    if (variant_ != Variant::kDistilled)
      types_ = positions("embeddings.token_type_embeddings", config_.size("type_vocab_size", 2));
    first_norm_ = inventory_.norm("embeddings.LayerNorm", shape_.hidden, true);
    const LayerWeights layer = declare_layer();
    declare_output(config_.head(Head::kMaskedLm));
    Value x = body(layer);
    x = f_.last_stage(std::move(x), [&](Value last) { return loss(std::move(last)); });
    finish(std::move(x));
  }

 private:
  // ---- weights

  LayerWeights declare_layer() {
    using L = LayerWeights;
    const bool distilled = variant_ == Variant::kDistilled;
    return declare_layers(shape_.layers, {{&L::q, distilled ? "attention.q_lin" : "attention.self.query"},
                                          {&L::k, distilled ? "attention.k_lin" : "attention.self.key"},
                                          {&L::v, distilled ? "attention.v_lin" : "attention.self.value"},
                                          {&L::o, distilled ? "attention.out_lin" : "attention.output.dense"},
                                          {&L::norm1, distilled ? "sa_layer_norm" : "attention.output.LayerNorm"},
                                          {&L::up, distilled ? "ffn.lin1" : "intermediate.dense"},
                                          {&L::down, distilled ? "ffn.lin2" : "output.dense"},
                                          {&L::norm2, distilled ? "output_layer_norm" : "output.LayerNorm"}});
  }

  // A transform, its norm, then the token embedding again as a decoder with a separate bias.
  void declare_masked_lm(const std::string& prefix, const char* dense, const char* norm) {
    masked_bias_ = inventory_.logits_bias(prefix + "bias", shape_.vocabulary);
    transform_ = inventory_.linear(prefix + dense, WeightRole::kHead, shape_.hidden, shape_.hidden, true);
    transform_norm_ = inventory_.norm(prefix + norm, shape_.hidden, true);
    if (!shape_.tied_embeddings)
      decoder_ = inventory_.logits(prefix + "decoder", shape_.vocabulary, shape_.hidden, false);
  }

  void declare_output(Head head) {
    const bool bert = variant_ == Variant::kBert, distilled = variant_ == Variant::kDistilled;
    const bool sequence = head == Head::kSequenceClassification, choice = head == Head::kMultipleChoice;
    const bool pair = bert && (head == Head::kPreTraining || head == Head::kNextSentence);
    const bool pooled = distilled ? sequence || choice : head == Head::kBase || choice || sequence || pair;
    if (pooled) {
      const char* name = distilled ? "pre_classifier" : sequence && !bert ? "classifier.dense" : "pooler.dense";
      dense_ = inventory_.linear(name, WeightRole::kOther, shape_.hidden, shape_.hidden, true);
    }
    if (head == Head::kMaskedLm || (head == Head::kCausalLm && !distilled) || (head == Head::kPreTraining && bert)) {
      bert        ? declare_masked_lm("cls.predictions.", "transform.dense", "transform.LayerNorm")
      : distilled ? declare_masked_lm("vocab_", "transform", "layer_norm")
                  : declare_masked_lm("lm_head.", "dense", "layer_norm");
    }
    const bool labels = sequence || head == Head::kTokenClassification;
    if (labels) shape_.labels = config_.labels();
    if (choice && distilled) shape_.labels = 1;
    if (labels || choice || pair || head == Head::kQuestionAnswering) {
      const char* name = pair                                        ? "cls.seq_relationship"
                         : head == Head::kQuestionAnswering          ? "qa_outputs"
                         : sequence && variant_ == Variant::kRoberta ? "classifier.out_proj"
                                                                     : "classifier";
      const int outputs = labels ? shape_.labels : choice ? 1 : 2;
      classifier_ = inventory_.linear(name, WeightRole::kHead, outputs, shape_.hidden, true);
    }
  }

  // ---- the forward pass

  Value body(const LayerWeights& layer) {
    Value token_types;
    if (types_) token_types = f_.make(kTokens, Width::kLong);
    Value x = f_.first_stage([&] {
      Value e = embeddings();
      f_.want_gradient(e);
      return e;
    });
    return run_layers(std::move(x), layer.first, [&](const Value& in) {
      return variant_ == Variant::kDistilled ? distilled_block(in, layer) : block(in, layer);
    });
  }

  Value embeddings() {
    Value words = f_.embedding(kTokens, words_, shape_.hidden), types, x;
    if (types_) {
      types = f_.embedding(kTokens, types_, shape_.hidden);
      x = f_.add(words, types);
    }
    Value positions = f_.embedding(variant_ == Variant::kRoberta ? kTokens : kPositions, places_, shape_.hidden);
    x = f_.add(types_ ? x : words, positions);
    x = layer_norm(first_norm_, std::move(x));
    return f_.dropout(std::move(x), shape_.dropout);
  }

  Value block(const Value& x, const LayerWeights& w) {
    Value attended = close(attention(x, w), w.o, w.norm1, x);
    Value inner = f_.linear(w.up, attended);
    inner = f_.activate(std::move(inner), shape_.activation);
    return close(inner, w.down, w.norm2, attended);
  }

  Value attention(const Value& x, const LayerWeights& w) {
    HeadValues heads = split_qkv(w, x);
    return f_.attention(heads.q, heads.k, heads.v, encoder_attention());
  }

  // Linear, dropout, add, norm.
  Value close(Value given, WeightRef weight, WeightRef norm_weight, Value given_residual) {
    Value y = std::move(given), residual = std::move(given_residual);
    y = f_.linear(weight, std::move(y));
    y = f_.dropout(std::move(y), shape_.dropout);
    Value sum = f_.add(y, residual);
    return layer_norm(norm_weight, std::move(sum));
  }

  Value distilled_block(const Value& x, const LayerWeights& w) {
    Value attended = f_.linear(w.o, attention(x, w));
    attended = layer_norm(w.norm1, f_.add(attended, x));
    Value fed = f_.linear(w.up, attended);
    fed = f_.activate(std::move(fed), shape_.activation);
    fed = f_.linear(w.down, std::move(fed));
    fed = f_.dropout(std::move(fed), shape_.dropout);
    return layer_norm(w.norm2, f_.add(fed, attended));
  }

  Value loss(Value given) {
    if (!transform_) return classifier_loss(std::move(given));
    Value x = f_.linear(transform_, std::move(given));
    x = f_.activate(std::move(x), Activation::kGelu);
    x = layer_norm(transform_norm_, std::move(x));
    return f_.language_loss(std::move(x), {decoder_ ? decoder_ : words_, masked_bias_, false, false});
  }

  Value classifier_loss(Value given) {
    Value x = std::move(given);
    f_.head();
    const bool every_token = !dense_;
    if (!every_token) {
      x = f_.slice(std::move(x), kSamples.times(shape_.hidden));
      x = f_.linear(dense_, std::move(x), false);
      x = f_.activate(std::move(x), Activation::kTanh);
      x = f_.dropout(std::move(x), shape_.dropout);
    }
    Value logits = classifier_ ? f_.linear(classifier_, x, false) : x;
    return f_.class_loss(std::move(logits), every_token ? kTokens : kSamples);
  }

  Variant variant_;
  WeightRef words_, places_, types_, first_norm_;
  WeightRef transform_, transform_norm_, masked_bias_, decoder_, dense_, classifier_;
};

void read_encoder(const Config& config, ModelShape& shape, const SizeFields& fields, Bert::Variant variant) {
  shape.kind = ModelKind::kEncoder;
  read_sizes(config, fields, shape);
  shape.tied_embeddings = config.flag("tie_word_embeddings", true);
  Bert(config, shape, variant).write();
  // RoBERTa's first positions are those of the padding, which no token has: 8,192 of 8,194.
  if (variant == Bert::Variant::kRoberta) shape.context -= config.size("pad_token_id", 1) + 1;
}

void read_bert(const Config& config, ModelShape& shape) {
  const bool bert = shape.family == "bert";
  read_encoder(config, shape,
               {.intermediate = {"intermediate_size", 3'072},
                .vocabulary = bert ? 30'522 : 50'265,
                .context = {"max_position_embeddings", 512}},
               bert ? Bert::Variant::kBert : Bert::Variant::kRoberta);
}

void read_distilbert(const Config& config, ModelShape& shape) {
  read_encoder(config, shape,
               {.layers = {"n_layers", "num_hidden_layers"},
                .hidden = {"dim", "hidden_size"},
                .heads = {{"n_heads", "num_attention_heads"}, 12},
                .intermediate = {"hidden_dim", 0},
                .vocabulary = 30'522,
                .context = {"max_position_embeddings", 512},
                .activation = {"activation", "gelu"},
                .dropout = {"dropout", 0.1},
                .attention_dropout = {"attention_dropout", 0.1}},
               Bert::Variant::kDistilled);
}

}  // namespace

Families bert() {
  return {
      {"bert", "BERT with its masked-LM, pre-training or classifier heads", read_bert},
      {"roberta", "RoBERTa", read_bert},
      {"xlm-roberta", "XLM-RoBERTa", read_bert, {"xlm_roberta"}},
      {"camembert", "CamemBERT", read_bert},
      {"distilbert", "DistilBERT", read_distilbert},
  };
}

}  // namespace rightsize::model
