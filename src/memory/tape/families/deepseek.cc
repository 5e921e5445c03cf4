// DeepSeek V2 and V3: latent attention; the rest is the llama line with experts.
#include <utility>

#include "memory/tape/families/llama_like.h"

namespace rightsize::memory::tape {
namespace {

class Deepseek : public LlamaLike {
 public:
  Deepseek(Recorder& recorder, const model::ModelShape& shape, const Plan& plan) : LlamaLike(recorder, shape, plan) {
    style_.rotary = RotaryStyle::kWhole;
    for (const Layer& layer : weights_.layers()) {
      LatentWeights w;
      w.q = weights_.linear(layer, "self_attn.q_proj");
      w.q_down = weights_.linear(layer, "self_attn.q_a_proj");
      w.q_up = weights_.linear(layer, "self_attn.q_b_proj");
      w.q_norm = weights_.norm(layer, "self_attn.q_a_layernorm");
      w.kv_down = weights_.linear(layer, "self_attn.kv_a_proj_with_mqa");
      w.kv_up = weights_.linear(layer, "self_attn.kv_b_proj");
      w.kv_norm = weights_.norm(layer, "self_attn.kv_a_layernorm");
      latents_.push_back(w);
    }
  }

 private:
  struct LatentWeights {
    Linear q, q_down, q_up, kv_down, kv_up;
    NormWeights q_norm, kv_norm;
  };

  Tensor attention(Tensor given, const LayerWeights& layer) override {
    Tensor x = gather(std::move(given));
    const LatentWeights& w = latents_[static_cast<std::size_t>(&layer - layers_.data())];
    const model::LatentAttention& latent = *shape_.latent;
    const Count rows = plan_.rows(), a = heads();
    const Count nope = latent.nope_dim, rope = latent.rope_dim, value = latent.value_dim;

    Tensor q = w.q ? apply(w.q, x) : apply(w.q_up, norm(apply(w.q_down, x), w.q_norm, rows));
    q = split_heads(std::move(q));
    auto [q_pass, q_turning, q_none] = split3(q, rows * a * nope, rows * a * rope, 0);
    Tensor compressed = apply(w.kv_down, x);
    auto [latent_kv, k_turning, kv_none] = split3(compressed, rows * latent.kv_rank, rows * rope, 0);
    Tensor kv = apply(w.kv_up, norm(latent_kv, w.kv_norm, rows));
    kv = split_heads(std::move(kv));
    auto [k_pass, v, v_none] = split3(kv, rows * a * nope, rows * a * value, 0);
    Tensor q_turned = rotate(q_turning, rotary_.cosine, rotary_.sine);
    Tensor k_turned = rotate(k_turning, rotary_.cosine, rotary_.sine);
    k_turned = expand_copy(std::move(k_turned), rows * a * rope, Expand::kNever);
    q = cat(q_pass, std::move(q_turned));
    Tensor k = cat(k_pass, std::move(k_turned));
    AttentionShape shape = attention_shape();
    shape.kv_heads = shape.heads;
    shape.head_dim = nope + rope;
    shape.value_dim = value;
    Tensor out = attend(q, k, v, shape);
    return scatter(apply(layer.o, out));
  }

  std::vector<LatentWeights> latents_;
};

}  // namespace

ModelPtr make_deepseek(Recorder& recorder, const model::ModelShape& shape, const Plan& plan) {
  return std::make_unique<Deepseek>(recorder, shape, plan);
}

}  // namespace rightsize::memory::tape
