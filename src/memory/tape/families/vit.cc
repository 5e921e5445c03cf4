// Vision transformers of transformers (separate q, k, v) and torchvision (one matrix); DeiT.
#include <utility>

#include "memory/tape/families/builders.h"
#include "memory/tape/families/image_ops.h"

namespace rightsize::memory::tape {
namespace {

class Vit : public Model {
 public:
  Vit(Recorder& recorder, const model::ModelShape& shape, const Plan& plan) : Model(recorder, shape, plan) {
    for (const Layer& layer : weights_.layers()) {
      LayerWeights w;
      w.qkv = weights_.linear(layer, "attention.in_proj");
      w.q = weights_.linear(layer, "attention.query");
      w.k = weights_.linear(layer, "attention.key");
      w.v = weights_.linear(layer, "attention.value");
      w.o = weights_.linear(layer, "attention.output.dense");
      w.norm1 = weights_.norm(layer, "layernorm_before");
      w.norm2 = weights_.norm(layer, "layernorm_after");
      w.up = weights_.linear(layer, "intermediate.dense");
      w.down = weights_.linear(layer, "output.dense");
      layers_.push_back(w);
    }
    tokens_ = shape.context;
    const Count side = shape.image_size / shape.patch_size;
    patches_ = side * side;
  }

  Tensor make_inputs() override {
    const Count pixels = Count{shape_.channels} * shape_.image_size * shape_.image_size;
    labels_ = recorder_.make(plan_.batch, kLong, Layout::kPlain, Part::kBuffers);
    images_ = recorder_.make(plan_.batch * pixels, kSingle, Layout::kPlain, Part::kBuffers);
    return images_;
  }

  Tensor forward() override {
    recorder_.enter(Zone::kStart, -1);
    recorder_.set_part(Part::kActivations);
    const Count rows = plan_.batch * tokens_, width = shape_.hidden;
    Tensor x = images_;
    if (plan_.width == kHalf) x = cast(std::move(x), kHalf);
    const Linear projection = weights_.linear("embeddings.patch_embeddings.projection");
    const Count padded = x.elements / shape_.channels * 8;
    x = convolution(std::move(x), parameter(projection.weight), parameter(projection.bias),
                    plan_.batch * patches_ * width, padded);
    x = view_copied_back(std::move(x));
    Tensor extra = recorder_.alias(parameter(weights_.linear("embeddings.cls_token").weight),
                                   plan_.batch * (tokens_ - patches_) * width, Layout::kPlain);
    extra.width = plan_.width;
    x = cat(std::move(extra), std::move(x));
    x = add(std::move(x), parameter(weights_.linear("embeddings.position_embeddings").weight));
    start_gradient(x);
    x = run_layers(std::move(x), 0, static_cast<int>(layers_.size()));
    x = norm_layer(weights_.norm("layernorm"), std::move(x), rows);
    enter_head();
    Tensor first = slice(x, plan_.batch * width);
    Linear classifier = weights_.linear("classifier");
    if (!classifier) classifier = weights_.linear("pooler.dense");
    Tensor logits = apply(classifier, std::move(first), false);
    return cross_entropy(std::move(logits), plan_.batch, false);
  }

 private:
  struct LayerWeights {
    NormWeights norm1, norm2;
    Linear qkv, q, k, v, o, up, down;
  };

  Tensor run_layer(int number, std::span<Tensor> inputs) override {
    const LayerWeights& w = layers_[static_cast<std::size_t>(number)];
    const Count rows = plan_.batch * tokens_;
    Tensor x = inputs[0];
    Tensor residual = x;
    x = norm_layer(w.norm1, std::move(x), rows);
    x = attention(std::move(x), w);
    x = dropout(std::move(x), shape_.dropout);
    x = add(std::move(x), residual);
    residual = x;
    x = norm_layer(w.norm2, std::move(x), rows);
    x = apply(w.up, std::move(x));
    x = activate(std::move(x));
    x = apply(w.down, std::move(x));
    x = dropout(std::move(x), shape_.dropout);
    return add(std::move(x), residual);
  }

  Tensor attention(Tensor given, const LayerWeights& w) {
    Tensor x = std::move(given);
    AttentionShape shape = attention_shape();
    shape.tokens = tokens_;
    Tensor q, k, v;
    if (w.qkv) {
      // torch.nn.MultiheadAttention puts q, k and v behind one another by a copy.
      Tensor packed = copy_both_ways(apply(w.qkv, x));
      const Count each = packed.elements / 3;
      q = select(packed, each);
      k = select(packed, each);
      v = select(packed, each);
      q.layout = k.layout = v.layout = Layout::kHeads;
      packed.reset();
      return apply(w.o, merge_heads(fused_attention(q, k, v, shape)));
    }
    q = split_heads(apply(w.q, x));
    k = split_heads(apply(w.k, x));
    v = split_heads(apply(w.v, x));
    return apply(w.o, attend(q, k, v, shape));
  }

  std::vector<LayerWeights> layers_;
  Count tokens_ = 0, patches_ = 0;
  Tensor images_, labels_;
};

}  // namespace

ModelPtr make_vit(Recorder& recorder, const model::ModelShape& shape, const Plan& plan) {
  return std::make_unique<Vit>(recorder, shape, plan);
}

}  // namespace rightsize::memory::tape
