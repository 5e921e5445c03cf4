// GPT-2 and its line: GPT BigCode (one key head), GPT-Neo (separate q, k, v, attention in 32 bits).
#include <utility>

#include "memory/tape/families/builders.h"

namespace rightsize::memory::tape {
namespace {

class Gpt2 : public Model {
 public:
  Gpt2(Recorder& recorder, const model::ModelShape& shape, const Plan& plan) : Model(recorder, shape, plan) {
    for (const Layer& layer : weights_.layers()) {
      LayerWeights w;
      w.norm1 = weights_.norm(layer, "ln_1");
      w.norm2 = weights_.norm(layer, "ln_2");
      w.qkv = weights_.linear(layer, "attn.c_attn");
      w.q = weights_.linear(layer, "attn.attention.q_proj");
      w.k = weights_.linear(layer, "attn.attention.k_proj");
      w.v = weights_.linear(layer, "attn.attention.v_proj");
      w.o = weights_.linear(layer, w.qkv ? "attn.c_proj" : "attn.attention.out_proj");
      w.up = weights_.linear(layer, "mlp.c_fc");
      w.down = weights_.linear(layer, "mlp.c_proj");
      layers_.push_back(w);
    }
    flat_ = layers_.empty() || layers_.front().qkv;
  }

  Tensor forward() override {
    return table_to_head("wte", [this](int table) { return body(table); });
  }

 private:
  struct LayerWeights {
    NormWeights norm1, norm2;
    Linear qkv, q, k, v, o, up, down;
  };

  Tensor body(int table) {
    Tensor tokens, positions, x;
    if (plan_.first_stage) {
      tokens = embedding(plan_.rows(), parameter(table), shape_.hidden);
      positions = embedding(plan_.tokens, parameter(weights_.linear("wpe").weight), shape_.hidden);
      x = add(tokens, positions);
      probe_mask(recorder_, plan_.rows());
      x = dropout(std::move(x), shape_.dropout);
      start_gradient(x);
    } else {
      x = received();
    }
    x = run_layers(std::move(x), 0, static_cast<int>(layers_.size()));
    tokens.reset();
    positions.reset();
    finish_layers();
    if (!plan_.last_stage) return x;
    return norm_layer(weights_.norm("ln_f"), std::move(x), plan_.rows());
  }

  // The names of intermediate results live to the end of the block in the original, and so they do here.
  Tensor run_layer(int index, std::span<Tensor> inputs) override {
    const LayerWeights& w = layers_[static_cast<std::size_t>(index)];
    const Count rows = plan_.rows();
    Tensor x = inputs[0];
    Tensor residual = x;
    x = norm_layer(w.norm1, std::move(x), rows);
    Tensor attended = attention(x, w);
    x = add(attended, residual);
    residual = x;
    x = norm_layer(w.norm2, std::move(x), rows);
    Tensor fed = mlp(x, w);
    return add(residual, fed);
  }

  Tensor attention(Tensor given, const LayerWeights& w) {
    Tensor x = std::move(given);
    Tensor q, k, v;
    if (w.qkv) {
      const Count wide = plan_.rows() * heads() * shape_.head_dim, narrow = plan_.rows() * kv_heads() * shape_.head_dim;
      auto parts = split3(apply(w.qkv, x, false), wide, narrow, narrow);
      k = split_heads(std::move(parts[1]));
      v = split_heads(std::move(parts[2]));
      q = split_heads(std::move(parts[0]));
    } else {
      q = split_heads(apply(w.q, x));
      k = split_heads(apply(w.k, x));
      v = split_heads(apply(w.v, x));
    }
    Tensor out = flat_ ? attend(q, k, v, attention_shape()) : wide_attention(q, k, v);
    out = apply(w.o, std::move(out), !flat_);
    return dropout(std::move(out), shape_.dropout);
  }

  // GPT-Neo multiplies queries and keys in 32 bits and masks the scores with torch.where.
  Tensor wide_attention(Tensor q, Tensor k, const Tensor& v) {
    const std::uint8_t width = v.width;
    Tensor wide_q = cast(std::move(q), kSingle), wide_k = cast(std::move(k), kSingle);
    Tensor scores =
        batched_product(copy_per_head(wide_q, false), copy_per_head(wide_k, true), attention_shape().scores());
    scores = masked_fill(std::move(scores), recorder_.make(plan_.tokens * plan_.tokens, kByte));
    const std::uint8_t score_width = scores.width;
    scores = softmax(std::move(scores), score_width);
    scores = cast(std::move(scores), width);
    scores = dropout(std::move(scores), shape_.attention_dropout);
    Tensor out = batched_product(scores, copy_per_head(v, false), attention_shape().outputs());
    return copy_both_ways(std::move(out));
  }

  Tensor mlp(Tensor given, const LayerWeights& w) {
    Tensor x = std::move(given);
    x = apply(w.up, std::move(x), !flat_);
    x = activate(std::move(x));
    x = apply(w.down, std::move(x), !flat_);
    return dropout(std::move(x), shape_.dropout);
  }

  std::vector<LayerWeights> layers_;
  bool flat_ = true;  // Conv1D works on rows: gradients of inputs do not come out of views
};

}  // namespace

ModelPtr make_gpt2(Recorder& recorder, const model::ModelShape& shape, const Plan& plan) {
  return std::make_unique<Gpt2>(recorder, shape, plan);
}

}  // namespace rightsize::memory::tape
