// BERT, RoBERTa, DistilBERT: post-norm encoders with biases throughout, and the heads they are used with.
#include "model/families/families.h"
#include "model/inventory.h"

namespace rightsize::model {
namespace {

struct EncoderNames {
  std::string attention, attention_output, attention_norm, up, down, output_norm;
  const char *q, *k, *v;
};

void add_encoder_layers(Inventory& inventory, const ModelShape& shape, const EncoderNames& names) {
  inventory.begin_block(shape.layers);
  for (const char* part : {names.q, names.k, names.v}) {
    inventory.linear(names.attention + part, WeightRole::kAttention, shape.hidden, shape.hidden, true);
  }
  inventory.linear(names.attention_output, WeightRole::kAttention, shape.hidden, shape.hidden, true);
  inventory.norm(names.attention_norm, shape.hidden, true);
  inventory.linear(names.up, WeightRole::kMlp, shape.intermediate, shape.hidden, true);
  inventory.linear(names.down, WeightRole::kMlp, shape.hidden, shape.intermediate, true);
  inventory.norm(names.output_norm, shape.hidden, true);
  inventory.end_block();
}

void add_head(Inventory& inventory, const char* name, const ModelShape& shape, std::int64_t outputs) {
  inventory.linear(name, WeightRole::kHead, outputs, shape.hidden, true);
}

// A transform, its norm, then the token embedding again as decoder with a bias of its own.
void add_masked_lm_head(Inventory& inventory, const ModelShape& shape, const std::string& prefix, const char* dense,
                        const char* norm) {
  inventory.vector(prefix + "bias", WeightRole::kHead, shape.vocabulary);
  inventory.linear(prefix + dense, WeightRole::kHead, shape.hidden, shape.hidden, true);
  inventory.norm(prefix + norm, shape.hidden, true);
  if (!shape.tied_embeddings) {
    inventory.linear(prefix + "decoder", WeightRole::kHead, shape.vocabulary, shape.hidden, false);
  }
}

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
  shape.norm = Norm::kLayer;
  shape.positions = Positions::kLearned;
  shape.tied_embeddings = config.flag("tie_word_embeddings", true);
}

void add_bert_body(const Config& config, Inventory& inventory, ModelShape& shape) {
  const std::int64_t token_types = config.size("type_vocab_size", 2);
  inventory.embedding("embeddings.word_embeddings", WeightRole::kTokenEmbedding, shape.vocabulary, shape.hidden);
  inventory.embedding("embeddings.position_embeddings", WeightRole::kPositionEmbedding, shape.context, shape.hidden);
  inventory.embedding("embeddings.token_type_embeddings", WeightRole::kPositionEmbedding, token_types, shape.hidden);
  inventory.norm("embeddings.LayerNorm", shape.hidden, true);
  add_encoder_layers(inventory, shape,
                     {"attention.self.", "attention.output.dense", "attention.output.LayerNorm", "intermediate.dense",
                      "output.dense", "output.LayerNorm", "query", "key", "value"});
}

void add_pooler(Inventory& inventory, const ModelShape& shape) {
  inventory.linear("pooler.dense", WeightRole::kOther, shape.hidden, shape.hidden, true);
}

}  // namespace

void read_bert(const Config& config, ModelShape& shape) {
  read_bert_sizes(config, shape, 30'522);
  Inventory inventory(shape.weights);
  add_bert_body(config, inventory, shape);
  const Head head = config.head(Head::kMaskedLm);
  const bool pooled = head == Head::kBase || head == Head::kPreTraining || head == Head::kNextSentence ||
                      head == Head::kSequenceClassification || head == Head::kMultipleChoice;
  if (pooled) add_pooler(inventory, shape);
  if (head == Head::kMaskedLm || head == Head::kCausalLm || head == Head::kPreTraining) {
    add_masked_lm_head(inventory, shape, "cls.predictions.", "transform.dense", "transform.LayerNorm");
  }
  if (head == Head::kPreTraining || head == Head::kNextSentence) add_head(inventory, "cls.seq_relationship", shape, 2);
  if (head == Head::kSequenceClassification || head == Head::kTokenClassification) {
    shape.labels = config.labels();
    add_head(inventory, "classifier", shape, shape.labels);
  }
  if (head == Head::kMultipleChoice) add_head(inventory, "classifier", shape, 1);
  if (head == Head::kQuestionAnswering) add_head(inventory, "qa_outputs", shape, 2);
}

void read_roberta(const Config& config, ModelShape& shape) {
  read_bert_sizes(config, shape, 50'265);
  Inventory inventory(shape.weights);
  add_bert_body(config, inventory, shape);
  const Head head = config.head(Head::kMaskedLm);
  if (head == Head::kBase || head == Head::kMultipleChoice) add_pooler(inventory, shape);
  if (head == Head::kMaskedLm || head == Head::kCausalLm) {
    add_masked_lm_head(inventory, shape, "lm_head.", "dense", "layer_norm");
  }
  if (head == Head::kSequenceClassification) {
    shape.labels = config.labels();
    inventory.linear("classifier.dense", WeightRole::kOther, shape.hidden, shape.hidden, true);
    add_head(inventory, "classifier.out_proj", shape, shape.labels);
  }
  if (head == Head::kTokenClassification) {
    shape.labels = config.labels();
    add_head(inventory, "classifier", shape, shape.labels);
  }
  if (head == Head::kMultipleChoice) add_head(inventory, "classifier", shape, 1);
  if (head == Head::kQuestionAnswering) add_head(inventory, "qa_outputs", shape, 2);
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
  shape.norm = Norm::kLayer;
  shape.positions = Positions::kLearned;
  shape.tied_embeddings = config.flag("tie_word_embeddings", true);

  Inventory inventory(shape.weights);
  inventory.embedding("embeddings.word_embeddings", WeightRole::kTokenEmbedding, shape.vocabulary, shape.hidden);
  inventory.embedding("embeddings.position_embeddings", WeightRole::kPositionEmbedding, shape.context, shape.hidden);
  inventory.norm("embeddings.LayerNorm", shape.hidden, true);
  add_encoder_layers(inventory, shape,
                     {"attention.", "attention.out_lin", "sa_layer_norm", "ffn.lin1", "ffn.lin2", "output_layer_norm",
                      "q_lin", "k_lin", "v_lin"});
  const Head head = config.head(Head::kMaskedLm);
  if (head == Head::kMaskedLm) add_masked_lm_head(inventory, shape, "vocab_", "transform", "layer_norm");
  if (head == Head::kSequenceClassification || head == Head::kMultipleChoice) {
    shape.labels = head == Head::kMultipleChoice ? 1 : config.labels();
    inventory.linear("pre_classifier", WeightRole::kOther, shape.hidden, shape.hidden, true);
    add_head(inventory, "classifier", shape, shape.labels);
  }
  if (head == Head::kTokenClassification) {
    shape.labels = config.labels();
    add_head(inventory, "classifier", shape, shape.labels);
  }
  if (head == Head::kQuestionAnswering) add_head(inventory, "qa_outputs", shape, 2);
}

}  // namespace rightsize::model
