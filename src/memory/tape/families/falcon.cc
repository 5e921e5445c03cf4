// Falcon in its three kinds: one key for all heads (7B), groups (40B, 180B), one for each with ALiBi (RW).
#include <utility>

#include "memory/tape/families/builders.h"

namespace rightsize::memory::tape {
namespace {

class Falcon : public Model {
 public:
  Falcon(Recorder& recorder, const model::ModelShape& shape, const Plan& plan) : Model(recorder, shape, plan) {
    cached_casts_ = false;  // FalconLinear multiplies by weight.T
    for (const Layer& layer : weights_.layers()) {
      LayerWeights w;
      w.qkv = weights_.linear(layer, "self_attention.query_key_value");
      w.o = weights_.linear(layer, "self_attention.dense");
      w.up = weights_.linear(layer, "mlp.dense_h_to_4h");
      w.down = weights_.linear(layer, "mlp.dense_4h_to_h");
      w.norm1 = weights_.norm(layer, weights_.has(layer, "ln_attn") ? "ln_attn" : "input_layernorm");
      w.norm2 = weights_.norm(layer, weights_.has(layer, "ln_mlp") ? "ln_mlp" : "post_attention_layernorm");
      layers_.push_back(w);
    }
    kind_ = shape.kv_heads == 1 && shape.heads > 1 ? Kind::kOneKey
            : shape.kv_heads < shape.heads         ? Kind::kGroups
                                                   : Kind::kEachHead;
    alibi_ = shape.positions == model::Positions::kAlibi;
  }

  Tensor forward() override {
    return table_to_head("word_embeddings", [this](int table) { return body(table); });
  }

 private:
  enum class Kind { kOneKey, kGroups, kEachHead };
  struct LayerWeights {
    NormWeights norm1, norm2;
    Linear qkv, o, up, down;
  };

  Tensor body(int table) {
    Tensor x = plan_.first_stage ? embedding(plan_.rows(), parameter(table), shape_.hidden) : received();
    if (!alibi_) rotary_ = rotary_tables(recorder_, plan_.tokens, shape_.head_dim, x.width);
    const Count square = plan_.batch * plan_.tokens * plan_.tokens;
    mask_ = recorder_.make(alibi_ ? square * heads() * x.width : square, kByte);
    if (plan_.first_stage) start_gradient(x);
    x = run_layers(std::move(x), 0, static_cast<int>(layers_.size()));
    if (plan_.last_stage) x = norm_layer(weights_.norm("ln_f"), std::move(x), plan_.rows());
    finish_layers();
    return x;
  }

  void release_shared() override {
    rotary_ = {};
    mask_.reset();
  }

  Tensor run_layer(int number, std::span<Tensor> inputs) override {
    const LayerWeights& w = layers_[static_cast<std::size_t>(number)];
    const Count rows = plan_.rows();
    Tensor x = inputs[0];
    Tensor residual = x;
    Tensor normed = norm_layer(w.norm1, x, rows), second;
    if (shape_.parallel_block && w.norm2.weight >= 0) second = norm_layer(w.norm2, x, rows);
    Tensor attended = attention(normed, w);
    if (!shape_.parallel_block) {
      residual = add(residual, attended);
      second = norm_layer(w.norm2, residual, rows);
    } else if (!second) {
      second = normed;
    }
    Tensor fed = mlp(second, w);
    if (shape_.parallel_block) fed = add_in_place(fed, attended);
    return add(residual, fed);
  }

  Tensor mlp(Tensor given, const LayerWeights& w) {
    Tensor x = std::move(given);
    Tensor upper = apply(w.up, x);
    x = activate(std::move(upper));
    return apply(w.down, std::move(x));
  }

  Tensor attention(Tensor given, const LayerWeights& w) {
    Tensor x = std::move(given);
    Tensor qkv = apply(w.qkv, x);
    const Count d = shape_.head_dim, wide = plan_.rows() * heads() * d, narrow = plan_.rows() * kv_heads() * d;
    Tensor q, k, v;
    if (kind_ == Kind::kEachHead) {
      q = select(qkv, wide);
      k = select(qkv, wide);
      v = select(qkv, wide);
    } else {
      q = slice(qkv, wide);
      k = index(qkv, narrow, recorder_.make(1, kLong));
      v = index(qkv, narrow, recorder_.make(1, kLong));
      if (kind_ == Kind::kGroups) {
        q = copy(std::move(q));
        k = expand_copy(std::move(k), wide);
        v = expand_copy(std::move(v), wide);
      }
      q.layout = k.layout = v.layout = Layout::kHeads;
    }
    if (!alibi_) {
      Tensor new_q = rotate(q, rotary_.cosine, rotary_.sine), new_k = rotate(k, rotary_.cosine, rotary_.sine);
      q = std::move(new_q);
      k = std::move(new_k);
    }
    AttentionShape shape = attention_shape();
    Tensor out;
    if (plan_.attention != model::Attention::kSdpa) {
      out = attend(q, k, v, shape);
    } else if (kind_ == Kind::kOneKey) {
      // One key for all heads and no grouping asked for: torch falls back to the written-out form.
      out = copy(math_attention(q, k, v, shape, 0, {}));
    } else {
      shape.kv_heads = shape.heads;
      if (!alibi_) shape.mask = plan_.batch * plan_.tokens * plan_.tokens;
      out = merge_heads(fused_attention(q, k, v, shape));
    }
    return apply(w.o, out);
  }

  std::vector<LayerWeights> layers_;
  Kind kind_ = Kind::kOneKey;
  bool alibi_ = false;
  Rotary rotary_;
  Tensor mask_;
};

}  // namespace

ModelPtr make_falcon(Recorder& recorder, const model::ModelShape& shape, const Plan& plan) {
  return std::make_unique<Falcon>(recorder, shape, plan);
}

}  // namespace rightsize::memory::tape
