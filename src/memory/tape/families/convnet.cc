// Convolutional networks as torchvision runs them: ResNet, ConvNeXt, EfficientNet.
#include <utility>

#include "memory/tape/families/builders.h"
#include "memory/tape/families/image_ops.h"

namespace rightsize::memory::tape {
namespace {

class ConvNet : public Model {
 public:
  ConvNet(Recorder& recorder, const model::ModelShape& shape, const Plan& plan) : Model(recorder, shape, plan) {
    layers_ = weights_.layers();
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
    Tensor x = images_;
    if (plan_.width == kHalf) x = cast(std::move(x), kHalf);
    x = stem(std::move(x));
    x = run_all(std::move(x));
    enter_head();
    return head(std::move(x));
  }

 protected:
  virtual Tensor stem(Tensor x) = 0;
  virtual Tensor head(Tensor given) {
    Tensor x = average_pool(std::move(given), plan_.batch * shape_.hidden);
    x = apply(weights_.linear("classifier"), std::move(x), false);
    return cross_entropy(cast(std::move(x), kSingle), plan_.batch, false);
  }
  // What stands between stages.
  virtual Tensor before_layer(Tensor x, std::size_t) { return x; }

  Tensor run_all(Tensor given) {
    Tensor x = std::move(given);
    for (std::size_t i = 0; i < layers_.size(); ++i) {
      recorder_.enter(Zone::kMiddle, static_cast<int>(i));
      x = before_layer(std::move(x), i);
      TensorArray inputs;
      inputs[0] = x;
      const std::span<Tensor> span(inputs.data(), 1);
      x = plan_.checkpoints() ? recorder_.checkpoint(*this, static_cast<int>(i), span)
                              : run_layer(static_cast<int>(i), span);
    }
    return x;
  }

  Count grid(const model::Weight& weight) const {
    const Count side = weight.scale > 0 ? (shape_.image_size + weight.scale - 1) / weight.scale : 1;
    return plan_.batch * side * side;
  }

  const model::Weight& weight_of(const Layer& layer, std::string_view name) const {
    for (std::size_t i = layer.begin; i < layer.end; ++i) {
      if (shape_.weights[i].name == name) return shape_.weights[i];
    }
    return shape_.weights[layer.begin];
  }
  const model::Weight& weight_of(std::string_view name) const {
    for (const model::Weight& weight : shape_.weights) {
      if (weight.block == 0 && weight.name == name) return weight;
    }
    return shape_.weights.front();
  }

  Tensor convolve(const Linear& conv, const model::Weight& weight, Tensor x) {
    const Count inputs = weight.cols * weight.groups / (Count{weight.kernel} * weight.kernel);
    const Count padded = weight.groups > 1 || weight.scale == 0 ? 0 : x.elements / inputs * ((inputs + 7) / 8 * 8);
    return convolution(std::move(x), parameter(conv.weight), parameter(conv.bias), grid(weight) * weight.rows, padded);
  }
  Tensor normalize(const NormWeights& norm, const model::Weight& weight, Tensor x) {
    return batch_norm(std::move(x), parameter(norm.weight), parameter(norm.bias), weight.rows);
  }

  // Convolution and batch norm of a layer, or of the model's ends.
  Tensor conv_norm(const Layer& layer, const std::string& name, Tensor x) {
    const model::Weight& weight = weight_of(layer, name);
    Tensor y = convolve(weights_.linear(layer, name), weight, std::move(x));
    return normalize(weights_.norm(layer, name + ".normalization"), weight, std::move(y));
  }
  Tensor conv_norm(const std::string& name, Tensor x) {
    const model::Weight& weight = weight_of(name);
    Tensor y = convolve(weights_.linear(name), weight, std::move(x));
    return normalize(weights_.norm(name + ".normalization"), weight, std::move(y));
  }

  std::vector<Layer> layers_;
  Tensor images_, labels_;
};

class ResNet : public ConvNet {
 public:
  using ConvNet::ConvNet;

 private:
  Tensor stem(Tensor given) override {
    Tensor x = conv_norm("embedder", std::move(given));
    x = relu_in_place(std::move(x));
    const Count side = (shape_.image_size + 3) / 4;
    const Count width = weight_of("embedder").rows;
    return max_pool(std::move(x), plan_.batch * width * side * side);
  }

  Tensor run_layer(int number, std::span<Tensor> inputs) override {
    const Layer& layer = layers_[static_cast<std::size_t>(number)];
    Tensor x = inputs[0];
    Tensor y = relu_in_place(conv_norm(layer, "conv1", x));
    y = conv_norm(layer, "conv2", std::move(y));
    if (weights_.has(layer, "conv3")) y = conv_norm(layer, "conv3", relu_in_place(std::move(y)));
    Tensor shortcut = weights_.has(layer, "downsample") ? conv_norm(layer, "downsample", x) : x;
    y = add_in_place(std::move(y), std::move(shortcut));
    return relu_in_place(std::move(y));
  }
};

class EfficientNet : public ConvNet {
 public:
  using ConvNet::ConvNet;

 private:
  Tensor stem(Tensor given) override { return silu_in_place(conv_norm("embeddings.convolution", std::move(given))); }

  Tensor run_layer(int number, std::span<Tensor> inputs) override {
    const Layer& layer = layers_[static_cast<std::size_t>(number)];
    Tensor x = inputs[0];
    Tensor y = x;
    if (weights_.has(layer, "expansion")) y = silu_in_place(conv_norm(layer, "expansion", std::move(y)));
    y = silu_in_place(conv_norm(layer, "depthwise", std::move(y)));
    y = weigh_channels(layer, std::move(y));
    y = conv_norm(layer, "projection", std::move(y));
    if (y.elements != x.elements) return y;
    y = multiply_constant(std::move(y));  // stochastic depth
    return add_in_place(std::move(y), x);
  }

  Tensor weigh_channels(const Layer& layer, Tensor given) {
    Tensor x = std::move(given);
    const Count inner = weight_of(layer, "squeeze_excite.expand").rows * plan_.batch;
    Tensor pooled = average_pool(x, inner);
    pooled = convolve(weights_.linear(layer, "squeeze_excite.reduce"), weight_of(layer, "squeeze_excite.reduce"),
                      std::move(pooled));
    pooled = silu_in_place(std::move(pooled));
    pooled = convolve(weights_.linear(layer, "squeeze_excite.expand"), weight_of(layer, "squeeze_excite.expand"),
                      std::move(pooled));
    pooled = tanh(std::move(pooled));  // a sigmoid: saves its result too
    return multiply(std::move(pooled), std::move(x));
  }

  Tensor head(Tensor given) override {
    Tensor x = silu_in_place(conv_norm("encoder.top_conv", std::move(given)));
    return ConvNet::head(std::move(x));
  }
};

class ConvNext : public ConvNet {
 public:
  using ConvNet::ConvNet;

 private:
  Tensor stem(Tensor given) override {
    const model::Weight& weight = weight_of("embeddings.patch_embeddings");
    Tensor x = convolve(weights_.linear("embeddings.patch_embeddings"), weight, std::move(given));
    return norm_layer(weights_.norm("embeddings.layernorm"), std::move(x), grid(weight));
  }

  // The norms and convolutions between stages have one name; they are told apart by their order.
  Tensor before_layer(Tensor given, std::size_t i) override {
    Tensor x = std::move(given);
    if (i == 0 || layers_[i].repeat != 0) return x;
    std::size_t at = layers_[i].begin;
    while (at > 0 && shape_.weights[at].name != "downsampling_layer.conv") --at;
    const model::Weight& weight = shape_.weights[at];
    const Count rows = grid(shape_.weights[at - 1]);
    x = norm_layer(weights_.norm_at(at - 1), std::move(x), rows);
    return convolve(weights_.linear_at(at), weight, std::move(x));
  }

  Tensor run_layer(int number, std::span<Tensor> inputs) override {
    const Layer& layer = layers_[static_cast<std::size_t>(number)];
    const model::Weight& depthwise = weight_of(layer, "dwconv");
    Tensor x = inputs[0];
    Tensor y = convolve(weights_.linear(layer, "dwconv"), depthwise, x);
    y = norm_layer(weights_.norm(layer, "layernorm"), std::move(y), grid(depthwise));
    y = apply(weights_.linear(layer, "pwconv1"), std::move(y));
    y = gelu(std::move(y));
    y = apply(weights_.linear(layer, "pwconv2"), std::move(y));
    Tensor scale = parameter(weights_.linear(layer, "layer_scale_parameter").weight);
    if (scale) y = multiply(std::move(scale), std::move(y));
    y = multiply_constant(std::move(y));  // stochastic depth
    return add(std::move(y), x);
  }

  Tensor head(Tensor given) override {
    Tensor x = average_pool(std::move(given), plan_.batch * shape_.hidden);
    x = norm_layer(weights_.norm("layernorm"), std::move(x), plan_.batch);
    x = apply(weights_.linear("classifier"), std::move(x), false);
    return cross_entropy(cast(std::move(x), kSingle), plan_.batch, false);
  }
};

}  // namespace

ModelPtr make_convnet(Recorder& recorder, const model::ModelShape& shape, const Plan& plan) {
  if (shape.family == "convnext") return std::make_unique<ConvNext>(recorder, shape, plan);
  if (shape.family == "efficientnet") return std::make_unique<EfficientNet>(recorder, shape, plan);
  return std::make_unique<ResNet>(recorder, shape, plan);
}

}  // namespace rightsize::memory::tape
