// OPT: learned positions, ReLU, dropout after each part; queries are scaled before attention.
#include <utility>

#include "memory/tape/families/builders.h"

namespace rightsize::memory::tape {
namespace {

class Opt : public Model {
 public:
  Opt(Recorder& recorder, const model::ModelShape& shape, const Plan& plan) : Model(recorder, shape, plan) {
    for (const Layer& layer : weights_.layers()) {
      LayerWeights w;
      w.q = weights_.linear(layer, "self_attn.q_proj");
      w.k = weights_.linear(layer, "self_attn.k_proj");
      w.v = weights_.linear(layer, "self_attn.v_proj");
      w.o = weights_.linear(layer, "self_attn.out_proj");
      w.norm1 = weights_.norm(layer, "self_attn_layer_norm");
      w.up = weights_.linear(layer, "fc1");
      w.down = weights_.linear(layer, "fc2");
      w.norm2 = weights_.norm(layer, "final_layer_norm");
      layers_.push_back(w);
    }
  }

  Tensor forward() override {
    return table_to_head("embed_tokens", [this](int table) { return body(table); });
  }

 private:
  struct LayerWeights {
    NormWeights norm1, norm2;
    Linear q, k, v, o, up, down;
  };

  Tensor body(int table) {
    Tensor tokens, mask, positions, x;
    if (plan_.first_stage) {
      const Linear project_in = weights_.linear("project_in");
      tokens = recorder_.parameter(table);
      const Count width = tokens.elements / vocabulary();
      tokens = embedding(plan_.rows(), std::move(tokens), width);
      tokens = apply(project_in, std::move(tokens));
      mask = recorder_.make(plan_.rows(), kLong);
      probe_mask(recorder_, plan_.rows());
      positions = embedding(plan_.rows(), parameter(weights_.linear("embed_positions").weight), shape_.hidden);
      x = add(tokens, positions);
      start_gradient(x);
    } else {
      x = received();
    }
    x = run_layers(std::move(x), 0, static_cast<int>(layers_.size()));
    tokens.reset();
    positions.reset();
    finish_layers();
    if (!plan_.last_stage) return x;
    const NormWeights last = weights_.norm("final_layer_norm");
    if (last.weight >= 0) x = norm_layer(last, std::move(x), plan_.rows());
    return apply(weights_.linear("project_out"), std::move(x));
  }

  Tensor run_layer(int index, std::span<Tensor> inputs) override {
    const LayerWeights& w = layers_[static_cast<std::size_t>(index)];
    const Count rows = plan_.rows();
    Tensor x = inputs[0];
    Tensor residual = x;
    x = norm_layer(w.norm1, std::move(x), rows);
    x = attention(x, w);
    x = dropout(std::move(x), shape_.dropout);
    x = add(residual, std::move(x));
    residual = x;
    x = norm_layer(w.norm2, std::move(x), rows);
    x = apply(w.up, std::move(x), false);
    x = activate(std::move(x));
    x = apply(w.down, std::move(x), false);
    x = dropout(std::move(x), shape_.dropout);
    return add(residual, std::move(x));
  }

  Tensor attention(Tensor given, const LayerWeights& w) {
    Tensor x = std::move(given);
    Tensor q = apply(w.q, x);
    q = multiply_constant(std::move(q));
    q = split_heads(std::move(q));
    Tensor k = split_heads(apply(w.k, x));
    Tensor v = split_heads(apply(w.v, x));
    return apply(w.o, attend(q, k, v, attention_shape()));
  }

  std::vector<LayerWeights> layers_;
};

}  // namespace

ModelPtr make_opt(Recorder& recorder, const model::ModelShape& shape, const Plan& plan) {
  return std::make_unique<Opt>(recorder, shape, plan);
}

}  // namespace rightsize::memory::tape
