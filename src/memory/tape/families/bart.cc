// BART and Whisper: an encoder over text or audio frames, a decoder that attends to it. BART norms after each part,
// Whisper before.
#include <utility>

#include "memory/tape/families/builders.h"

namespace rightsize::memory::tape {
namespace {

class Bart : public Model {
 public:
  Bart(Recorder& recorder, const model::ModelShape& shape, const Plan& plan) : Model(recorder, shape, plan) {
    speech_ = shape.family == "whisper";
    encoder_tokens_ = speech_ ? shape.encoder_context : plan.tokens;
    add_layers("encoder.");
    encoder_count_ = static_cast<int>(layers_.size());
    add_layers("decoder.");
  }

  Tensor make_inputs() override {
    // Whisper reads two spectrogram frames for every position.
    const Count frames = speech_ ? plan_.batch * shape_.channels * encoder_tokens_ * 2 : plan_.rows() * 2;
    return recorder_.make(frames, speech_ ? kSingle : kLong, Layout::kPlain, Part::kBuffers);
  }

  Tensor forward() override {
    recorder_.enter(Zone::kStart, -1);
    recorder_.set_part(Part::kActivations);
    Tensor encoded = encoder();
    Tensor y = decoder(encoded);
    if (shape_.labels > 0) return classify(std::move(y));
    const Linear own = weights_.linear(speech_ ? "proj_out" : "lm_head");
    return head_loss(std::move(y), own ? own.weight : table(), -1, false);
  }

 private:
  struct AttentionWeights {
    Linear q, k, v, o;
    NormWeights norm;
  };
  struct LayerWeights {
    AttentionWeights self, cross;
    Linear up, down;
    NormWeights norm;
    bool decoder = false;
  };

  AttentionWeights attention_weights(const Layer& layer, const std::string& name) const {
    return {weights_.linear(layer, name + ".q_proj"), weights_.linear(layer, name + ".k_proj"),
            weights_.linear(layer, name + ".v_proj"), weights_.linear(layer, name + ".out_proj"),
            weights_.norm(layer, name + "_layer_norm")};
  }

  void add_layers(const std::string& prefix) {
    for (const Layer& layer : weights_.layers(prefix)) {
      LayerWeights w;
      w.decoder = prefix == "decoder.";
      w.self = attention_weights(layer, prefix + "self_attn");
      if (w.decoder) w.cross = attention_weights(layer, prefix + "encoder_attn");
      w.up = weights_.linear(layer, prefix + "fc1");
      w.down = weights_.linear(layer, prefix + "fc2");
      w.norm = weights_.norm(layer, prefix + "final_layer_norm");
      layers_.push_back(w);
    }
  }

  int table() const { return weights_.linear(speech_ ? "decoder.embed_tokens" : "shared").weight; }

  Tensor embed(const char* positions, const char* norm, Count rows, Tensor given) {
    Tensor x = std::move(given);
    Tensor position = embedding(plan_.tokens, parameter(weights_.linear(positions).weight), shape_.hidden);
    x = add(std::move(x), position);
    if (!speech_) x = norm_layer(weights_.norm(norm), std::move(x), rows);
    x = dropout(std::move(x), shape_.dropout);
    start_gradient(x);
    return x;
  }

  // Two convolutions over time, each with a gelu.
  Tensor listen() {
    const Count frames = plan_.batch * encoder_tokens_;
    Tensor audio = recorder_.make(frames * 2 * shape_.channels, plan_.autocast ? kHalf : plan_.width);
    auto convolve = [&](Tensor given, const char* name, Count positions) {
      Tensor input = std::move(given);
      const Linear conv = weights_.linear(name);
      Tensor weight = recorder_.cast_for_product(parameter(conv.weight));
      if (weight.needs_grad) recorder_.keep({&input});
      Tensor y = recorder_.make(positions * shape_.hidden, input.width);
      OpState state;
      state.n = {input.elements, weight.elements, 0, 0};
      recorder_.record(
          [](BackwardCall& call) {
            for (std::size_t i : {0, 1}) {
              if (call.wants(i)) call.results[i] = call.recorder.make(call.state.n[i], call.grads[0].width);
            }
          },
          state, {&input, &weight}, {&y});
      return gelu(std::move(y));
    };
    Tensor x = convolve(std::move(audio), "encoder.conv1", frames * 2);
    x = convolve(std::move(x), "encoder.conv2", frames);
    x = copy(std::move(x));
    Tensor positions = parameter(weights_.linear("encoder.embed_positions").weight);
    x = add(std::move(x), positions);
    x = dropout(std::move(x), shape_.dropout);
    start_gradient(x);
    return x;
  }

  Tensor encoder() {
    Tensor x = speech_ ? listen()
                       : embed("encoder.embed_positions", "encoder.layernorm_embedding", plan_.rows(),
                               embedding(plan_.rows(), parameter(table()), shape_.hidden));
    x = run_layers(std::move(x), 0, encoder_count_);
    if (speech_) x = norm_layer(weights_.norm("encoder.layer_norm"), std::move(x), plan_.batch * encoder_tokens_);
    return x;
  }

  Tensor decoder(const Tensor& encoded) {
    Tensor x = embed("decoder.embed_positions", "decoder.layernorm_embedding", plan_.rows(),
                     embedding(plan_.rows(), parameter(table()), shape_.hidden));
    const std::array<Tensor, 1> others = {encoded};
    x = run_layers(std::move(x), encoder_count_, static_cast<int>(layers_.size()) - encoder_count_, others, true);
    if (speech_) x = norm_layer(weights_.norm("decoder.layer_norm"), std::move(x), plan_.rows());
    return x;
  }

  Tensor run_layer(int number, std::span<Tensor> inputs) override {
    const LayerWeights& w = layers_[static_cast<std::size_t>(number)];
    const Count rows = w.decoder ? plan_.rows() : plan_.batch * encoder_tokens_;
    Tensor x = inputs[0];
    x = sublayer(x, w.self, {}, rows, w.decoder);
    if (w.decoder) x = sublayer(x, w.cross, inputs[1], rows, true);
    Tensor residual = x;
    if (speech_) x = norm_layer(w.norm, std::move(x), rows);
    x = apply(w.up, std::move(x));
    x = activate(std::move(x));
    x = apply(w.down, std::move(x));
    x = dropout(std::move(x), shape_.dropout);
    x = add(residual, std::move(x));
    return speech_ ? x : norm_layer(w.norm, std::move(x), rows);
  }

  Tensor sublayer(Tensor given, const AttentionWeights& w, Tensor given_encoded, Count rows, bool is_decoder) {
    Tensor x = std::move(given), encoded = std::move(given_encoded);
    Tensor residual = x;
    if (speech_) x = norm_layer(w.norm, std::move(x), rows);
    AttentionShape shape = attention_shape();
    shape.tokens = is_decoder ? plan_.tokens : encoder_tokens_;
    shape.kv_tokens = encoded || !is_decoder ? encoder_tokens_ : plan_.tokens;
    const Tensor& source = encoded ? encoded : x;
    Tensor q = split_heads(apply(w.q, x));
    Tensor k = split_heads(apply(w.k, source));
    Tensor v = split_heads(apply(w.v, source));
    Tensor out = apply(w.o, attend(q, k, v, shape));
    out = dropout(std::move(out), shape_.dropout);
    x = add(residual, std::move(out));
    return speech_ ? x : norm_layer(w.norm, std::move(x), rows);
  }

  Tensor classify(Tensor given) {
    enter_head();
    Tensor x = index(std::move(given), plan_.batch * shape_.hidden);
    x = tanh(apply(weights_.linear("classification_head.dense"), std::move(x), false));
    x = apply(weights_.linear("classification_head.out_proj"), std::move(x), false);
    return cross_entropy(std::move(x), plan_.batch, false);
  }

  std::vector<LayerWeights> layers_;
  Count encoder_tokens_ = 0;
  int encoder_count_ = 0;
  bool speech_ = false;
};

}  // namespace

ModelPtr make_bart(Recorder& recorder, const model::ModelShape& shape, const Plan& plan) {
  return std::make_unique<Bart>(recorder, shape, plan);
}

}  // namespace rightsize::memory::tape
