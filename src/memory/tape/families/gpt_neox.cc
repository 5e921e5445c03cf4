// GPT-NeoX and Pythia; GPT-J, which has separate q, k, v, one norm and attention in 32 bits.
#include <utility>

#include "memory/tape/families/builders.h"

namespace rightsize::memory::tape {
namespace {

class NeoX : public Model {
 public:
  NeoX(Recorder& recorder, const model::ModelShape& shape, const Plan& plan) : Model(recorder, shape, plan) {
    for (const Layer& layer : weights_.layers()) {
      LayerWeights w;
      w.qkv = weights_.linear(layer, "attention.query_key_value");
      w.norm1 = weights_.norm(layer, w.qkv ? "input_layernorm" : "ln_1");
      w.norm2 = weights_.norm(layer, "post_attention_layernorm");
      w.q = weights_.linear(layer, "attn.q_proj");
      w.k = weights_.linear(layer, "attn.k_proj");
      w.v = weights_.linear(layer, "attn.v_proj");
      w.o = weights_.linear(layer, w.qkv ? "attention.dense" : "attn.out_proj");
      w.up = weights_.linear(layer, w.qkv ? "mlp.dense_h_to_4h" : "mlp.fc_in");
      w.down = weights_.linear(layer, w.qkv ? "mlp.dense_4h_to_h" : "mlp.fc_out");
      layers_.push_back(w);
    }
    gptj_ = shape.family == "gptj";
  }

  Tensor forward() override {
    recorder_.enter(Zone::kStart, -1);
    recorder_.set_part(Part::kActivations);
    const int table = weights_.linear(gptj_ ? "wte" : "embed_in").weight;
    Tensor x = body(table);
    if (!plan_.last_stage) return x;
    const Linear own = weights_.linear("lm_head");
    return head_loss(std::move(x), own ? own.weight : table, own.bias, true);
  }

 private:
  struct LayerWeights {
    NormWeights norm1, norm2;
    Linear qkv, q, k, v, o, up, down;
  };

  Tensor body(int table) {
    Tensor embedded = plan_.first_stage ? embedding(plan_.rows(), parameter(table), shape_.hidden) : received();
    if (plan_.first_stage) start_gradient(embedded);
    Tensor positions = recorder_.make(plan_.tokens, kLong);
    probe_mask(recorder_, plan_.rows());
    rotary_ = rotary_tables(recorder_, plan_.tokens, shape_.rotary_dim, embedded.width);
    Tensor x = run_layers(embedded, 0, static_cast<int>(layers_.size()));
    if (plan_.last_stage)
      x = norm_layer(weights_.norm(gptj_ ? "ln_f" : "final_layer_norm"), std::move(x), plan_.rows());
    finish_layers();
    return x;
  }

  void release_shared() override { rotary_ = {}; }

  Tensor run_layer(int index, std::span<Tensor> inputs) override {
    const LayerWeights& w = layers_[static_cast<std::size_t>(index)];
    const Count rows = plan_.rows();
    Tensor x = inputs[0];
    if (gptj_) return gptj_layer(std::move(x), w);
    Tensor attended = attention(norm_layer(w.norm1, x, rows), w);
    attended = dropout(std::move(attended), shape_.dropout);
    if (shape_.parallel_block) {
      Tensor fed = mlp(norm_layer(w.norm2, x, rows), w);
      Tensor both = add(fed, attended);
      return add(std::move(both), x);
    }
    attended = add(std::move(attended), x);
    Tensor fed = mlp(norm_layer(w.norm2, attended, rows), w);
    return add(fed, attended);
  }

  Tensor gptj_layer(Tensor given, const LayerWeights& w) {
    Tensor x = std::move(given);
    Tensor residual = x;
    x = norm_layer(w.norm1, std::move(x), plan_.rows());
    Tensor attended = dropout(gptj_attention(x, w), shape_.dropout);
    Tensor fed = mlp(x, w);
    Tensor both = add(attended, fed);
    return add(std::move(both), residual);
  }

  Tensor mlp(Tensor given, const LayerWeights& w) {
    Tensor x = std::move(given);
    Tensor upper = apply(w.up, x);
    upper = activate(std::move(upper));
    Tensor y = apply(w.down, std::move(upper));
    x = dropout(std::move(y), shape_.dropout);
    return x;
  }

  // The rotated part of a head is cut off, turned and joined again, q and k side by side.
  void rotate_parts(Tensor& q, Tensor& k) {
    const Count d = shape_.head_dim, turned = shape_.rotary_dim;
    Tensor q_turning = slice(q, q.elements * turned / d), q_passing = slice(q, q.elements - q.elements * turned / d);
    Tensor k_turning = slice(k, k.elements * turned / d), k_passing = slice(k, k.elements - k.elements * turned / d);
    Tensor new_q = rotate(q_turning, rotary_.cosine, rotary_.sine);
    Tensor new_k = rotate(k_turning, rotary_.cosine, rotary_.sine);
    new_q = cat(std::move(new_q), q_passing);
    new_k = cat(std::move(new_k), k_passing);
    q = std::move(new_q);
    k = std::move(new_k);
  }

  Tensor attention(Tensor given, const LayerWeights& w) {
    Tensor x = std::move(given);
    const Count each = plan_.rows() * heads() * shape_.head_dim;
    Tensor qkv = split_heads(apply(w.qkv, x));
    auto [q, k, v] = split3(qkv, each, each, each);
    rotate_parts(q, k);
    Tensor out = attend(q, k, v, attention_shape());
    return apply(w.o, out);
  }

  Tensor gptj_attention(Tensor given, const LayerWeights& w) {
    Tensor x = std::move(given);
    Tensor q = apply(w.q, x), k = apply(w.k, x), v = apply(w.v, x);
    rotate_parts(q, k);
    const std::uint8_t width = v.width;
    k = cast(std::move(k), kSingle);
    q = cast(std::move(q), kSingle);
    Tensor scores = batched_product(copy_per_head(q, false), copy_per_head(k, true), attention_shape().scores());
    scores = multiply_constant(std::move(scores));
    scores = add_constant(std::move(scores));  // the mask
    const std::uint8_t score_width = scores.width;
    scores = softmax(std::move(scores), score_width);
    scores = cast(std::move(scores), width);
    scores = dropout(std::move(scores), shape_.attention_dropout);
    Tensor out = batched_product(scores, copy_per_head(v, false), attention_shape().outputs());
    return apply(w.o, copy_both_ways(std::move(out)));
  }

  std::vector<LayerWeights> layers_;
  Rotary rotary_;
  bool gptj_ = false;
};

}  // namespace

ModelPtr make_gpt_neox(Recorder& recorder, const model::ModelShape& shape, const Plan& plan) {
  return std::make_unique<NeoX>(recorder, shape, plan);
}

}  // namespace rightsize::memory::tape
