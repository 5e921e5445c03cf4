// BERT, RoBERTa, DistilBERT with their heads.
#include <utility>

#include "memory/tape/families/builders.h"

namespace rightsize::memory::tape {
namespace {

class Bert : public Model {
 public:
  Bert(Recorder& recorder, const model::ModelShape& shape, const Plan& plan) : Model(recorder, shape, plan) {
    distilled_ = shape.family == "distilbert";
    for (const Layer& layer : weights_.layers()) {
      LayerWeights w;
      w.q = weights_.linear(layer, distilled_ ? "attention.q_lin" : "attention.self.query");
      w.k = weights_.linear(layer, distilled_ ? "attention.k_lin" : "attention.self.key");
      w.v = weights_.linear(layer, distilled_ ? "attention.v_lin" : "attention.self.value");
      w.o = weights_.linear(layer, distilled_ ? "attention.out_lin" : "attention.output.dense");
      w.norm1 = weights_.norm(layer, distilled_ ? "sa_layer_norm" : "attention.output.LayerNorm");
      w.up = weights_.linear(layer, distilled_ ? "ffn.lin1" : "intermediate.dense");
      w.down = weights_.linear(layer, distilled_ ? "ffn.lin2" : "output.dense");
      w.norm2 = weights_.norm(layer, distilled_ ? "output_layer_norm" : "output.LayerNorm");
      layers_.push_back(w);
    }
  }

  Tensor forward() override {
    recorder_.enter(Zone::kStart, -1);
    recorder_.set_part(Part::kActivations);
    Tensor token_types;
    if (!distilled_) token_types = recorder_.make(plan_.rows(), kLong);
    Tensor x = plan_.first_stage ? embeddings() : received();
    if (plan_.first_stage) start_gradient(x);
    x = run_layers(std::move(x), 0, static_cast<int>(layers_.size()));
    token_types.reset();
    if (!plan_.last_stage) return x;
    return head(std::move(x));
  }

 private:
  struct LayerWeights {
    NormWeights norm1, norm2;
    Linear q, k, v, o, up, down;
  };

  Tensor table(const char* name, Count rows) {
    return embedding(rows, parameter(weights_.linear(name).weight), shape_.hidden);
  }

  Tensor embeddings() {
    const Count rows = plan_.rows();
    // RoBERTa counts positions from the padding, sample by sample.
    const Count position_rows = shape_.family == "bert" || distilled_ ? plan_.tokens : rows;
    Tensor words = table("embeddings.word_embeddings", rows), types, x;
    if (!distilled_) {
      types = table("embeddings.token_type_embeddings", rows);
      x = add(words, types);
    }
    Tensor positions = table("embeddings.position_embeddings", position_rows);
    x = add(distilled_ ? words : x, positions);
    x = norm_layer(weights_.norm("embeddings.LayerNorm"), std::move(x), rows);
    return dropout(std::move(x), shape_.dropout);
  }

  Tensor run_layer(int number, std::span<Tensor> inputs) override {
    const LayerWeights& w = layers_[static_cast<std::size_t>(number)];
    Tensor x = inputs[0];
    if (distilled_) return distilled_layer(std::move(x), w);
    Tensor attended = close(attention(x, w), w.o, w.norm1, x);
    Tensor inner = apply(w.up, attended);
    inner = activate(std::move(inner));
    return close(inner, w.down, w.norm2, attended);
  }

  Tensor attention(Tensor given, const LayerWeights& w) {
    Tensor x = std::move(given);
    Tensor q = split_heads(apply(w.q, x));
    Tensor k = split_heads(apply(w.k, x));
    Tensor v = split_heads(apply(w.v, x));
    return attend(q, k, v, attention_shape());
  }

  // Linear, dropout, add, norm.
  Tensor close(Tensor given, const Linear& linear, const NormWeights& norm, Tensor given_residual) {
    Tensor y = std::move(given), residual = std::move(given_residual);
    y = apply(linear, std::move(y));
    y = dropout(std::move(y), shape_.dropout);
    Tensor sum = add(y, residual);
    return norm_layer(norm, std::move(sum), plan_.rows());
  }

  Tensor distilled_layer(Tensor given, const LayerWeights& w) {
    Tensor x = std::move(given);
    Tensor attended = apply(w.o, attention(x, w));
    attended = norm_layer(w.norm1, add(attended, x), plan_.rows());
    Tensor fed = apply(w.up, attended);
    fed = activate(std::move(fed));
    fed = apply(w.down, std::move(fed));
    fed = dropout(std::move(fed), shape_.dropout);
    return norm_layer(w.norm2, add(fed, attended), plan_.rows());
  }

  // The masked-LM head: a transform, then the word embeddings again (or a decoder of its own).
  Tensor masked_lm_loss(Tensor given, const Linear& transform, const NormWeights& norm, int bias, int decoder) {
    Tensor x = apply(transform, std::move(given));
    x = gelu(std::move(x));
    x = norm_layer(norm, std::move(x), plan_.rows());
    return head_loss(std::move(x), decoder, bias, false);
  }

  Tensor head(Tensor given) {
    Tensor x = std::move(given);
    recorder_.enter(Zone::kEnd, -1);
    struct Names {
      const char *transform, *norm, *bias, *decoder;
    };
    constexpr Names kMasked[] = {{"cls.predictions.transform.dense", "cls.predictions.transform.LayerNorm",
                                  "cls.predictions.bias", "cls.predictions.decoder"},
                                 {"lm_head.dense", "lm_head.layer_norm", "lm_head.bias", "lm_head.decoder"},
                                 {"vocab_transform", "vocab_layer_norm", "vocab_bias", "vocab_decoder"}};
    for (const Names& names : kMasked) {
      const Linear transform = weights_.linear(names.transform);
      if (!transform) continue;
      const Linear decoder = weights_.linear(names.decoder);
      const int table = decoder ? decoder.weight : weights_.linear("embeddings.word_embeddings").weight;
      return masked_lm_loss(x, transform, weights_.norm(names.norm), weights_.linear(names.bias).weight, table);
    }
    return classifier_loss(std::move(x));
  }

  Tensor classifier_loss(Tensor given) {
    Tensor x = std::move(given);
    enter_head();
    Linear classifier = weights_.linear("classifier");
    if (!classifier) classifier = weights_.linear("classifier.out_proj");
    Linear dense;
    for (const char* name : {"pooler.dense", "classifier.dense", "pre_classifier"}) {
      if (!dense) dense = weights_.linear(name);
    }
    if (!classifier) classifier = weights_.linear("qa_outputs");
    const bool every_token = !dense;
    if (!every_token) {
      x = slice(std::move(x), plan_.batch * shape_.hidden);
      x = apply(dense, std::move(x), false);
      x = tanh(std::move(x));
      x = dropout(std::move(x), shape_.dropout);
    }
    Tensor logits = classifier ? apply(classifier, x, false) : x;
    const Count rows = every_token ? plan_.rows() : plan_.batch;
    return cross_entropy(std::move(logits), rows, false);
  }

  std::vector<LayerWeights> layers_;
  bool distilled_ = false;
};

}  // namespace

ModelPtr make_bert(Recorder& recorder, const model::ModelShape& shape, const Plan& plan) {
  return std::make_unique<Bert>(recorder, shape, plan);
}

}  // namespace rightsize::memory::tape
