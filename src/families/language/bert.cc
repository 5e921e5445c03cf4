// BERT, RoBERTa, DistilBERT: post-norm encoders with biases throughout, and the heads they are used with.
#include <utility>

#include "families/decoder.h"
#include "families/families.h"
#include "families/family_writer.h"

namespace rightsize::model {
namespace {

struct Layer {
  WeightRef q, k, v, o, norm1, up, down, norm2;
};

struct Names {
  std::string q, k, v, o, norm1, up, down, norm2;
};
const Names kBertNames = {
    "attention.self.query",       "attention.self.key", "attention.self.value", "attention.output.dense",
    "attention.output.LayerNorm", "intermediate.dense", "output.dense",         "output.LayerNorm"};
const Names kDistilledNames = {"attention.q_lin", "attention.k_lin", "attention.v_lin", "attention.out_lin",
                               "sa_layer_norm",   "ffn.lin1",        "ffn.lin2",        "output_layer_norm"};

enum class Kind {
  kBert,
  kRoberta,  // counts positions from the padding, sample by sample
  kDistilled,
};

class Bert : protected FamilyWriter {
 public:
  Bert(const Config& config, ModelShape& shape, Kind kind) : FamilyWriter(config, shape), kind_(kind) {}

  void write() {
    words_ = inventory_.embedding("embeddings.word_embeddings", WeightRole::kTokenEmbedding, shape_.vocabulary,
                                  shape_.hidden);
    places_ = inventory_.embedding("embeddings.position_embeddings", WeightRole::kPositionEmbedding, shape_.context,
                                   shape_.hidden);
    if (kind_ != Kind::kDistilled) {
      types_ = inventory_.embedding("embeddings.token_type_embeddings", WeightRole::kPositionEmbedding,
                                    config_.size("type_vocab_size", 2), shape_.hidden);
    }
    first_norm_ = inventory_.norm("embeddings.LayerNorm", shape_.hidden, true);
    const Layer layer = declare_layer(kind_ == Kind::kDistilled ? kDistilledNames : kBertNames);
    const Head head = config_.head(Head::kMaskedLm);
    switch (kind_) {
      case Kind::kBert:
        declare_bert_head(head);
        break;
      case Kind::kRoberta:
        declare_roberta_head(head);
        break;
      case Kind::kDistilled:
        declare_distilled_head(head);
        break;
    }
    Value x = body(layer);
    x = f_.last_stage(std::move(x), [&](Value last) { return loss(std::move(last)); });
    finish(std::move(x));
  }

 private:
  // ---- weights

  Layer declare_layer(const Names& names) {
    const std::int64_t width = shape_.hidden;
    Layer w;
    inventory_.begin_block(shape_.layers);
    w.q = inventory_.linear(names.q, WeightRole::kAttention, width, width, true);
    w.k = inventory_.linear(names.k, WeightRole::kAttention, width, width, true);
    w.v = inventory_.linear(names.v, WeightRole::kAttention, width, width, true);
    w.o = inventory_.output(names.o, WeightRole::kAttention, width, width, true);
    w.norm1 = inventory_.norm(names.norm1, width, true);
    w.up = inventory_.linear(names.up, WeightRole::kMlp, shape_.intermediate, width, true);
    w.down = inventory_.output(names.down, WeightRole::kMlp, width, shape_.intermediate, true);
    w.norm2 = inventory_.norm(names.norm2, width, true);
    inventory_.end_block();
    return w;
  }

  WeightRef declare_dense(const char* name) {
    return inventory_.linear(name, WeightRole::kOther, shape_.hidden, shape_.hidden, true);
  }
  void declare_classifier(const char* name, int outputs) {
    classifier_ = inventory_.linear(name, WeightRole::kHead, outputs, shape_.hidden, true);
  }
  void declare_labels(const char* name) {
    shape_.labels = config_.labels();
    declare_classifier(name, shape_.labels);
  }

  // A transform, its norm, then the token embedding again as decoder with a bias of its own.
  void declare_masked_lm(const std::string& prefix, const char* dense, const char* norm) {
    masked_bias_ = inventory_.logits_bias(prefix + "bias", shape_.vocabulary);
    transform_ = inventory_.linear(prefix + dense, WeightRole::kHead, shape_.hidden, shape_.hidden, true);
    transform_norm_ = inventory_.norm(prefix + norm, shape_.hidden, true);
    if (!shape_.tied_embeddings) {
      decoder_ = inventory_.logits(prefix + "decoder", shape_.vocabulary, shape_.hidden, false);
    }
  }

  void declare_bert_head(Head head) {
    const bool pooled = head == Head::kBase || head == Head::kPreTraining || head == Head::kNextSentence ||
                        head == Head::kSequenceClassification || head == Head::kMultipleChoice;
    if (pooled) dense_ = declare_dense("pooler.dense");
    if (head == Head::kMaskedLm || head == Head::kCausalLm || head == Head::kPreTraining) {
      declare_masked_lm("cls.predictions.", "transform.dense", "transform.LayerNorm");
    }
    if (head == Head::kPreTraining || head == Head::kNextSentence) declare_classifier("cls.seq_relationship", 2);
    if (head == Head::kSequenceClassification || head == Head::kTokenClassification) declare_labels("classifier");
    if (head == Head::kMultipleChoice) declare_classifier("classifier", 1);
    if (head == Head::kQuestionAnswering) declare_classifier("qa_outputs", 2);
  }

  void declare_roberta_head(Head head) {
    if (head == Head::kBase || head == Head::kMultipleChoice) dense_ = declare_dense("pooler.dense");
    if (head == Head::kMaskedLm || head == Head::kCausalLm) declare_masked_lm("lm_head.", "dense", "layer_norm");
    if (head == Head::kSequenceClassification) {
      dense_ = declare_dense("classifier.dense");
      declare_labels("classifier.out_proj");
    }
    if (head == Head::kTokenClassification) declare_labels("classifier");
    if (head == Head::kMultipleChoice) declare_classifier("classifier", 1);
    if (head == Head::kQuestionAnswering) declare_classifier("qa_outputs", 2);
  }

  void declare_distilled_head(Head head) {
    if (head == Head::kMaskedLm) declare_masked_lm("vocab_", "transform", "layer_norm");
    if (head == Head::kSequenceClassification || head == Head::kMultipleChoice) {
      shape_.labels = head == Head::kMultipleChoice ? 1 : config_.labels();
      dense_ = declare_dense("pre_classifier");
      declare_classifier("classifier", shape_.labels);
    }
    if (head == Head::kTokenClassification) declare_labels("classifier");
    if (head == Head::kQuestionAnswering) declare_classifier("qa_outputs", 2);
  }

  // ---- the forward pass

  Value body(const Layer& layer) {
    Value token_types;
    if (types_) token_types = f_.make(kTokens, Width::kLong);
    Value x = f_.first_stage([&] {
      Value e = embeddings();
      f_.want_gradient(e);
      return e;
    });
    const std::int32_t stack = f_.add_stack();
    const std::int32_t program = f_.program({kTokens.times(shape_.hidden)}, [&](std::span<Value> in) {
      return kind_ == Kind::kDistilled ? distilled_block(in[0], layer) : block(in[0], layer);
    });
    f_.add_layers(stack, layer.q, shape_.layers, program);
    return f_.layers(stack, std::move(x));
  }

  Value embeddings() {
    Value words = f_.embedding(kTokens, words_, shape_.hidden), types, x;
    if (types_) {
      types = f_.embedding(kTokens, types_, shape_.hidden);
      x = f_.add(words, types);
    }
    Value positions = f_.embedding(kind_ == Kind::kRoberta ? kTokens : kPositions, places_, shape_.hidden);
    x = f_.add(types_ ? x : words, positions);
    x = layer_norm(first_norm_, std::move(x));
    return f_.dropout(std::move(x), shape_.dropout);
  }

  Value block(Value given, const Layer& w) {
    Value x = std::move(given);
    Value attended = close(attention(x, w), w.o, w.norm1, x);
    Value inner = f_.linear(w.up, attended);
    inner = f_.activate(std::move(inner), shape_.activation);
    return close(inner, w.down, w.norm2, attended);
  }

  Value attention(Value given, const Layer& w) {
    Value x = std::move(given);
    Value q = f_.split_heads(f_.linear(w.q, x));
    Value k = f_.split_heads(f_.linear(w.k, x));
    Value v = f_.split_heads(f_.linear(w.v, x));
    AttentionOp how = attention_of(shape_);
    how.causal = how.cached = false;
    return f_.attention(q, k, v, how);
  }

  // Linear, dropout, add, norm.
  Value close(Value given, WeightRef weight, WeightRef norm_weight, Value given_residual) {
    Value y = std::move(given), residual = std::move(given_residual);
    y = f_.linear(weight, std::move(y));
    y = f_.dropout(std::move(y), shape_.dropout);
    Value sum = f_.add(y, residual);
    return layer_norm(norm_weight, std::move(sum));
  }

  Value distilled_block(Value given, const Layer& w) {
    Value x = std::move(given);
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

  Kind kind_;
  WeightRef words_, places_, types_, first_norm_;
  WeightRef transform_, transform_norm_, masked_bias_, decoder_, dense_, classifier_;
};

void read_bert_sizes(const Config& config, ModelShape& shape, std::int64_t vocabulary) {
  shape.kind = ModelKind::kEncoder;
  shape.layers = config.layers("num_hidden_layers");
  shape.hidden = config.hidden("hidden_size");
  shape.heads = shape.kv_heads = config.count("num_attention_heads", 12, 1, kMostHeads);
  shape.head_dim = config.divide(shape.hidden, "hidden_size", shape.heads, "num_attention_heads");
  shape.intermediate = config.size("intermediate_size", 3'072, kWidestMlp);
  shape.vocabulary = config.size("vocab_size", vocabulary, kLargestVocabulary);
  shape.context = config.size("max_position_embeddings", 512, kLongestContext);
  shape.activation = config.activation("hidden_act", "gelu");
  shape.dropout = config.dropout("hidden_dropout_prob", 0.1);
  shape.attention_dropout = config.dropout("attention_probs_dropout_prob", 0.1);
  shape.positions = Positions::kLearned;
  shape.tied_embeddings = config.flag("tie_word_embeddings", true);
}

void read_bert(const Config& config, ModelShape& shape) {
  read_bert_sizes(config, shape, 30'522);
  Bert(config, shape, Kind::kBert).write();
}

void read_roberta(const Config& config, ModelShape& shape) {
  read_bert_sizes(config, shape, 50'265);
  Bert(config, shape, Kind::kRoberta).write();
}

void read_distilbert(const Config& config, ModelShape& shape) {
  const FieldNames width = {"dim", "hidden_size"};
  const FieldNames heads = {"n_heads", "num_attention_heads"};
  shape.kind = ModelKind::kEncoder;
  shape.layers = config.layers({"n_layers", "num_hidden_layers"});
  shape.hidden = config.hidden(width);
  shape.heads = shape.kv_heads = config.count(heads, 12, 1, kMostHeads);
  shape.head_dim = config.divide(shape.hidden, width, shape.heads, heads);
  shape.intermediate = config.size("hidden_dim", 4 * shape.hidden, kWidestMlp);
  shape.vocabulary = config.size("vocab_size", 30'522, kLargestVocabulary);
  shape.context = config.size("max_position_embeddings", 512, kLongestContext);
  shape.activation = config.activation("activation", "gelu");
  shape.dropout = config.dropout("dropout", 0.1);
  shape.attention_dropout = config.dropout("attention_dropout", 0.1);
  shape.positions = Positions::kLearned;
  shape.tied_embeddings = config.flag("tie_word_embeddings", true);
  Bert(config, shape, Kind::kDistilled).write();
}

}  // namespace

Families bert() {
  return {
      {"bert", "BERT with its masked-LM, pre-training or classifier heads", read_bert},
      {"roberta", "RoBERTa", read_roberta},
      {"xlm-roberta", "XLM-RoBERTa", read_roberta, {"xlm_roberta"}},
      {"camembert", "CamemBERT", read_roberta},
      {"distilbert", "DistilBERT", read_distilbert},
  };
}

}  // namespace rightsize::model
