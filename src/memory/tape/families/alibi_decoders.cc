// MPT and BLOOM: ALiBi, and attention written out in Python, so that scores and probabilities are saved.
#include <utility>

#include "memory/tape/families/builders.h"

namespace rightsize::memory::tape {
namespace {

struct LayerWeights {
  NormWeights norm1, norm2;
  Linear qkv, o, up, down;
};

class Mpt : public Model {
 public:
  Mpt(Recorder& recorder, const model::ModelShape& shape, const Plan& plan) : Model(recorder, shape, plan) {
    for (const Layer& layer : weights_.layers()) {
      layers_.push_back({weights_.norm(layer, "norm_1"), weights_.norm(layer, "norm_2"),
                         weights_.linear(layer, "attn.Wqkv"), weights_.linear(layer, "attn.out_proj"),
                         weights_.linear(layer, "ffn.up_proj"), weights_.linear(layer, "ffn.down_proj")});
    }
    // llm-foundry's own class runs flash attention.
    fused_ = plan.stack == model::Stack::kLlmFoundry || plan.attention == model::Attention::kFlash;
  }

  Tensor forward() override {
    return table_to_head("wte", [this](int table) { return body(table); });
  }

 private:
  Tensor body(int table) {
    Tensor x = plan_.first_stage ? embedding(plan_.rows(), parameter(table), shape_.hidden) : received();
    if (const int positions = weights_.linear("wpe").weight; positions >= 0) {
      x = add(std::move(x), embedding(plan_.tokens, parameter(positions), shape_.hidden));
    }
    const Count square = plan_.tokens * plan_.tokens;
    if (!fused_) {
      alibi_ = recorder_.make(heads() * shape_.context, kSingle);
      probe_mask(recorder_, plan_.rows());
      Tensor ones = recorder_.make(square, kByte), wide = recorder_.make(plan_.batch * square, x.width);
      mask_ = recorder_.make(plan_.batch * square, kByte);
    }
    if (plan_.first_stage) start_gradient(x);
    x = run_layers(std::move(x), 0, static_cast<int>(layers_.size()));
    if (plan_.last_stage) x = norm_layer(weights_.norm("norm_f"), std::move(x), plan_.rows());
    finish_layers();
    return x;
  }

  void release_shared() override {
    alibi_.reset();
    mask_.reset();
  }

  Tensor run_layer(int index, std::span<Tensor> inputs) override {
    const LayerWeights& w = layers_[static_cast<std::size_t>(index)];
    Tensor x = inputs[0];
    Tensor normed = norm_layer(w.norm1, x, plan_.rows()), residual = x;
    auto [out, probabilities] = attention(normed, w);
    x = add(out, residual);
    normed = norm_layer(w.norm2, x, plan_.rows());
    residual = x;
    Tensor inner = apply(w.up, normed);
    inner = gelu(std::move(inner));
    Tensor down = apply(w.down, inner);
    Tensor y = add(std::move(down), residual);
    return y;
  }

  // The result, and the probabilities, which the caller keeps to the end of the layer.
  std::pair<Tensor, Tensor> attention(Tensor given, const LayerWeights& w) {
    Tensor x = std::move(given);
    Tensor qkv = apply(w.qkv, x);
    const Count wide = plan_.rows() * heads() * shape_.head_dim, narrow = plan_.rows() * kv_heads() * shape_.head_dim;
    auto [q, k, v] = split3(qkv, wide, narrow, narrow);
    if (fused_) {
      Tensor out = attend(split_heads(q), split_heads(k), split_heads(v), attention_shape());
      return {apply(w.o, std::move(out)), Tensor()};
    }
    Tensor scores;
    {
      Tensor head_q = copy_per_head(q, false), head_k = copy_per_head(k, true);
      scores = batched_product(head_q, head_k, attention_shape().scores());
    }
    scores = multiply_constant(std::move(scores));
    scores = add(std::move(scores), alibi_, kSingle);
    scores = masked_fill(std::move(scores), mask_);
    Tensor probabilities = softmax(scores, kSingle);
    probabilities = cast(std::move(probabilities), v.width);
    Tensor out;
    {
      Tensor head_v = copy_per_head(v, false);
      out = batched_product(probabilities, head_v, wide);
    }
    out = copy(std::move(out));
    out = apply(w.o, std::move(out));
    return {std::move(out), std::move(probabilities)};
  }

  std::vector<LayerWeights> layers_;
  Tensor alibi_, mask_;
  bool fused_ = false;
};

class Bloom : public Model {
 public:
  Bloom(Recorder& recorder, const model::ModelShape& shape, const Plan& plan) : Model(recorder, shape, plan) {
    for (const Layer& layer : weights_.layers()) {
      layers_.push_back({weights_.norm(layer, "input_layernorm"), weights_.norm(layer, "post_attention_layernorm"),
                         weights_.linear(layer, "self_attention.query_key_value"),
                         weights_.linear(layer, "self_attention.dense"), weights_.linear(layer, "mlp.dense_h_to_4h"),
                         weights_.linear(layer, "mlp.dense_4h_to_h")});
    }
  }

  Tensor forward() override {
    return table_to_head("word_embeddings", [this](int table) { return body(table); });
  }

 private:
  Tensor body(int table) {
    Tensor embedded, x;
    if (plan_.first_stage) {
      embedded = embedding(plan_.rows(), parameter(table), shape_.hidden);
      x = norm_layer(weights_.norm("word_embeddings_layernorm"), embedded, plan_.rows());
    } else {
      x = received();
    }
    const Count square = plan_.batch * plan_.tokens * plan_.tokens;
    Tensor alibi = recorder_.make(plan_.rows() * heads(), x.width);
    Tensor ones = recorder_.make(square, kByte);
    mask_ = recorder_.make(square, x.width);
    ones.reset();
    if (plan_.first_stage) start_gradient(x);
    x = run_layers(std::move(x), 0, static_cast<int>(layers_.size()));
    if (plan_.last_stage) x = norm_layer(weights_.norm("ln_f"), std::move(x), plan_.rows());
    finish_layers();
    return x;
  }

  void release_shared() override { mask_.reset(); }

  Tensor run_layer(int index, std::span<Tensor> inputs) override {
    const LayerWeights& w = layers_[static_cast<std::size_t>(index)];
    Tensor x = inputs[0];
    Tensor normed = norm_layer(w.norm1, x, plan_.rows()), residual = x;
    auto [attended, probabilities] = attention(normed, residual, w);
    normed = norm_layer(w.norm2, attended, plan_.rows());
    residual = attended;
    Tensor inner = apply(w.up, normed);
    inner = bloom_gelu(std::move(inner));
    Tensor down = apply(w.down, inner);
    Tensor dropped = dropout(down, shape_.dropout);
    return add(residual, std::move(dropped));
  }

  std::pair<Tensor, Tensor> attention(Tensor given, Tensor given_residual, const LayerWeights& w) {
    Tensor x = std::move(given), residual = std::move(given_residual);
    Tensor qkv = apply(w.qkv, x);
    const Count each = plan_.rows() * heads() * shape_.head_dim;
    Tensor q = select(qkv, each), k = select(qkv, each), v = select(qkv, each);
    q = copy(std::move(q));
    k = copy(std::move(k));
    v = copy(std::move(v));
    Tensor scores = batched_product(q, k, attention_shape().scores());
    Tensor masked = add(scores, mask_);
    Tensor probabilities = softmax(masked, kSingle);
    probabilities = cast(std::move(probabilities), q.width);
    Tensor out = batched_product(probabilities, v, each);
    out = copy_both_ways(std::move(out));
    out = apply(w.o, std::move(out));
    out = dropout(std::move(out), shape_.dropout);
    out = add(residual, std::move(out));
    return {std::move(out), std::move(probabilities)};
  }

  std::vector<LayerWeights> layers_;
  Tensor mask_;
};

}  // namespace

ModelPtr make_mpt(Recorder& recorder, const model::ModelShape& shape, const Plan& plan) {
  return std::make_unique<Mpt>(recorder, shape, plan);
}

ModelPtr make_bloom(Recorder& recorder, const model::ModelShape& shape, const Plan& plan) {
  return std::make_unique<Bloom>(recorder, shape, plan);
}

}  // namespace rightsize::memory::tape
