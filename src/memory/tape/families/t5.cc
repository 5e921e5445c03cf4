// T5, Flan-T5, mT5, UMT5: relative position biases that need gradients, which keeps self-attention out of fused
// kernels.
#include <utility>

#include "memory/tape/families/builders.h"

namespace rightsize::memory::tape {
namespace {

// T5Attention.compute_bias: buckets from integer distances, then a lookup.
Tensor relative_bias(Tensor given, Count n, Count tokens) {
  Tensor table = std::move(given);
  Recorder& r = table.recorder();
  Tensor buckets;
  {
    Tensor a = r.make(tokens * tokens, kLong), b = r.make(tokens * tokens, kLong), c = r.make(tokens * tokens, kLong);
    buckets = r.make(tokens * tokens, kLong);
  }
  Tensor y = r.make(n, table.width);
  if (table.needs_grad) r.keep({&buckets});
  OpState state;
  state.n = {table.elements, n, 0, 0};
  r.record(
      [](BackwardCall& call) {
        Tensor permuted = call.recorder.make(call.state.n[1], call.grads[0].width);
        call.results[0] = call.recorder.make(call.state.n[0], call.grads[0].width);
      },
      state, {&table}, {&y});
  return y;
}

class T5 : public Model {
 public:
  T5(Recorder& recorder, const model::ModelShape& shape, const Plan& plan) : Model(recorder, shape, plan) {
    add_layers("encoder.");
    encoder_count_ = static_cast<int>(layers_.size());
    add_layers("decoder.");
  }

  Tensor make_inputs() override { return recorder_.make(plan_.rows(), kLong, Layout::kPlain, Part::kBuffers); }

  Tensor forward() override {
    recorder_.set_part(Part::kActivations);
    Tensor encoded = stack(false, {});
    const int decoder_count = static_cast<int>(layers_.size()) - encoder_count_;
    if (decoder_count == 0) return cross_entropy(std::move(encoded), plan_.rows(), false);
    Tensor y = stack(true, encoded);
    enter_head();
    const bool scaled = shape_.tied_embeddings;
    if (scaled) y = multiply_constant(std::move(y));
    const Linear own = weights_.linear("lm_head");
    // T5 hands its logits to the loss as they are.
    return head_loss(y, own ? own.weight : weights_.linear("shared").weight, -1, false);
  }

 private:
  struct AttentionWeights {
    Linear q, k, v, o;
    NormWeights norm;
  };
  struct LayerWeights {
    AttentionWeights self, cross;
    Linear gate, up, down;
    NormWeights norm;
    int table = -1;
    bool decoder = false;
  };

  AttentionWeights attention_weights(const Layer& layer, const std::string& name) const {
    return {weights_.linear(layer, name + ".q"), weights_.linear(layer, name + ".k"),
            weights_.linear(layer, name + ".v"), weights_.linear(layer, name + ".o"),
            weights_.norm(layer, name + ".layer_norm")};
  }

  void add_layers(const std::string& prefix) {
    for (const Layer& layer : weights_.layers(prefix)) {
      LayerWeights w;
      w.decoder = prefix == "decoder.";
      w.self = attention_weights(layer, prefix + "SelfAttention");
      if (w.decoder) w.cross = attention_weights(layer, prefix + "EncDecAttention");
      w.gate = weights_.linear(layer, "DenseReluDense.wi_0");
      w.up = weights_.linear(layer, w.gate ? "DenseReluDense.wi_1" : "DenseReluDense.wi");
      w.down = weights_.linear(layer, "DenseReluDense.wo");
      w.norm = weights_.norm(layer, prefix + "ff.layer_norm");
      w.table = weights_.linear(layer, prefix + "relative_attention_bias").weight;
      layers_.push_back(w);
    }
  }

  Tensor stack(bool decoder, const Tensor& encoded) {
    const Count rows = plan_.rows();
    const int first = decoder ? encoder_count_ : 0;
    const int count = decoder ? static_cast<int>(layers_.size()) - encoder_count_ : encoder_count_;
    recorder_.enter(Zone::kStart, -1);
    Tensor x = embedding(rows, parameter(weights_.linear("shared").weight), shape_.hidden);
    x = dropout(std::move(x), shape_.dropout);
    start_gradient(x);
    const int table = layers_[static_cast<std::size_t>(first)].table;
    Tensor bias = relative_bias(parameter(table), heads() * plan_.tokens * plan_.tokens, plan_.tokens);
    const std::array<Tensor, 2> others = {bias, encoded};
    x = run_layers(std::move(x), first, count, std::span(others.data(), encoded ? 2U : 1U), decoder);
    const char* norm = decoder ? "decoder.final_layer_norm" : "encoder.final_layer_norm";
    x = t5_norm(std::move(x), parameter(weights_.norm(norm).weight), rows);
    return dropout(std::move(x), shape_.dropout);
  }

  Tensor run_layer(int number, std::span<Tensor> inputs) override {
    const LayerWeights& w = layers_[static_cast<std::size_t>(number)];
    Tensor x = inputs[0];
    x = sublayer(x, w.self, inputs[1], {}, w.decoder);
    if (w.decoder) x = sublayer(x, w.cross, {}, inputs[2], true);
    return feed_forward(x, w);
  }

  // Self-attention with a bias, or cross-attention over what the encoder made.
  Tensor sublayer(Tensor given, const AttentionWeights& w, Tensor given_bias, Tensor given_encoded, bool decoder) {
    Tensor x = std::move(given), bias = std::move(given_bias), encoded = std::move(given_encoded);
    Tensor normed = t5_norm(x, parameter(w.norm.weight), plan_.rows());
    Tensor out = attention(normed, encoded ? encoded : normed, w, bias, decoder);
    Tensor dropped = dropout(out, shape_.dropout);
    return add(x, std::move(dropped));
  }

  Tensor attention(Tensor given, Tensor given_keys, const AttentionWeights& w, Tensor given_bias, bool decoder) {
    Tensor x = std::move(given), keys = std::move(given_keys), bias = std::move(given_bias);
    Tensor q = split_heads(apply(w.q, x));
    Tensor k = split_heads(apply(w.k, keys));
    Tensor v = split_heads(apply(w.v, keys));
    Tensor out;
    if (!bias) {
      out = merge_heads(fused_attention(q, k, v, attention_shape()));
    } else {
      Tensor used = bias;
      if (decoder) used = multiply_constant(bias);  // torch.where with the causal mask
      out = copy(math_attention(q, k, v, attention_shape(), shape_.dropout, used));
    }
    return apply(w.o, out);
  }

  Tensor feed_forward(Tensor given, const LayerWeights& w) {
    Tensor x = std::move(given);
    Tensor y = t5_norm(x, parameter(w.norm.weight), plan_.rows());
    y = feed_forward_inner(y, w);
    Tensor dropped = dropout(y, shape_.dropout);
    return add(x, std::move(dropped));
  }

  Tensor feed_forward_inner(Tensor given, const LayerWeights& w) {
    Tensor y = std::move(given), gate, upper;
    if (w.gate) {
      gate = apply(w.gate, y);
      gate = activate(std::move(gate));
      upper = apply(w.up, y);
      y = multiply(gate, upper);
    } else {
      y = apply(w.up, std::move(y));
      y = activate(std::move(y));
    }
    y = dropout(std::move(y), shape_.dropout);
    // The output matrix stays in 32 bits and asks for its input in the same.
    if (recorder_.autocast && y.width != kSingle && plan_.width == kSingle) y = cast(std::move(y), kSingle);
    return apply(w.down, y);
  }

  std::vector<LayerWeights> layers_;
  int encoder_count_ = 0;
};

}  // namespace

ModelPtr make_t5(Recorder& recorder, const model::ModelShape& shape, const Plan& plan) {
  return std::make_unique<T5>(recorder, shape, plan);
}

}  // namespace rightsize::memory::tape
