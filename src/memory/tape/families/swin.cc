// Swin: attention within windows, written out, with a position bias per window.
#include <algorithm>
#include <cmath>
#include <utility>

#include "memory/tape/families/builders.h"
#include "memory/tape/families/image_ops.h"

namespace rightsize::memory::tape {
namespace {

class Swin : public Model {
 public:
  Swin(Recorder& recorder, const model::ModelShape& shape, const Plan& plan) : Model(recorder, shape, plan) {
    layers_ = weights_.layers();
  }

  Tensor make_inputs() override {
    const Count pixels = Count{shape_.channels} * shape_.image_size * shape_.image_size;
    images_ = recorder_.make(plan_.batch * pixels, kSingle, Layout::kPlain, Part::kBuffers);
    return images_;
  }

  Tensor forward() override {
    recorder_.enter(Zone::kStart, -1);
    recorder_.set_part(Part::kActivations);
    Tensor x = images_;
    if (plan_.width == kHalf) x = cast(std::move(x), kHalf);
    const Linear patches = weights_.linear("embeddings.patch_embeddings.projection");
    const Count first = positions(shape_.patch_size);
    const Count padded = x.elements / shape_.channels * 8;
    x = convolution(std::move(x), parameter(patches.weight), parameter(patches.bias),
                    first * shape_.stages.front().channels, padded);
    x = norm_layer(weights_.norm("embeddings.norm"), std::move(x), first);
    x = run_stages(std::move(x));
    x = norm_layer(weights_.norm("layernorm"), std::move(x), positions(shape_.stages.back().scale));
    enter_head();
    x = average_pool(std::move(x), plan_.batch * shape_.hidden);
    x = apply(weights_.linear("classifier"), std::move(x), false);
    return cross_entropy(cast(std::move(x), kSingle), plan_.batch, false);
  }

 private:
  Count positions(int scale) const {
    const Count side = (shape_.image_size + scale - 1) / scale;
    return plan_.batch * side * side;
  }

  Tensor run_stages(Tensor given) {
    Tensor x = std::move(given);
    for (std::size_t i = 0; i < layers_.size(); ++i) {
      recorder_.enter(Zone::kMiddle, static_cast<int>(i));
      if (i > 0 && layers_[i].repeat == 0) x = merge_patches(std::move(x), layers_[i].begin);
      TensorArray inputs;
      inputs[0] = x;
      const std::span<Tensor> span(inputs.data(), 1);
      x = plan_.checkpoints() ? recorder_.checkpoint(*this, static_cast<int>(i), span)
                              : run_layer(static_cast<int>(i), span);
    }
    recorder_.enter(Zone::kEnd, -1);
    return x;
  }

  // Four neighbours joined (a copy), normed, and reduced to twice the width.
  Tensor merge_patches(Tensor given, std::size_t block) {
    Tensor x = copy_both_ways(std::move(given));
    const Count rows = positions(shape_.weights[block - 1].scale);
    x = norm_layer(weights_.norm_at(block - 1), std::move(x), rows);
    return apply(weights_.linear_at(block - 2), std::move(x));
  }

  Tensor run_layer(int number, std::span<Tensor> inputs) override {
    const Layer& layer = layers_[static_cast<std::size_t>(number)];
    const model::Weight& first = shape_.weights[layer.begin];
    const Count rows = positions(first.scale);
    Tensor x = inputs[0];
    Tensor residual = x;
    x = norm_layer(weights_.norm(layer, "layernorm_before"), std::move(x), rows);
    x = windows(std::move(x), layer, rows, layer.repeat % 2 == 1);
    x = add(residual, std::move(x));
    residual = x;
    x = norm_layer(weights_.norm(layer, "layernorm_after"), std::move(x), rows);
    x = apply(weights_.linear(layer, "intermediate.dense"), std::move(x));
    x = gelu(std::move(x));
    x = apply(weights_.linear(layer, "output.dense"), std::move(x));
    return add(residual, std::move(x));
  }

  Tensor windows(Tensor given, const Layer& layer, Count rows, bool shifted) {
    const Linear bias = weights_.linear(layer, "attention.relative_position_bias_table");
    Tensor table = parameter(bias.weight);
    const model::Weight& shape = shape_.weights[layer.begin + 1];
    const Count side = static_cast<Count>(std::lround((std::sqrt(static_cast<double>(shape.rows)) + 1) / 2));
    const Count window = side * side, head_count = shape.cols, scores = rows * window * head_count;
    Tensor x = std::move(given);
    if (shifted) x = copy_both_ways(std::move(x));  // roll
    x = copy_both_ways(std::move(x));               // partition
    x = recorder_.cast_for_product(std::move(x));   // once: torchvision has one matrix for q, k and v
    Tensor q = copy_both_ways(apply(weights_.linear(layer, "attention.query"), x));
    Tensor k = copy_both_ways(apply(weights_.linear(layer, "attention.key"), x));
    Tensor v = copy_both_ways(apply(weights_.linear(layer, "attention.value"), x));
    q = multiply_constant(std::move(q));
    Tensor weights = batched_product(q, k, scores);
    weights = add(std::move(weights), index(std::move(table), window * window * head_count));
    if (shifted) weights = add_constant(std::move(weights));
    const std::uint8_t width = weights.width;
    weights = softmax(std::move(weights), width);
    Tensor out = batched_product(weights, v, v.elements);
    out = copy_both_ways(std::move(out));
    out = apply(weights_.linear(layer, "attention.output.dense"), std::move(out));
    out = copy_both_ways(std::move(out));               // back from windows
    if (shifted) out = copy_both_ways(std::move(out));  // roll back
    return out;
  }

  std::vector<Layer> layers_;
  Tensor images_;
};

}  // namespace

ModelPtr make_swin(Recorder& recorder, const model::ModelShape& shape, const Plan& plan) {
  return std::make_unique<Swin>(recorder, shape, plan);
}

}  // namespace rightsize::memory::tape
