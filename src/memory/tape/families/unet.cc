// The U-Nets of Stable Diffusion as diffusers trains them: residual blocks and transformers down to the coarsest grid
// and up again, where each block also reads what its twin left on the way down.
#include <algorithm>
#include <utility>

#include "memory/tape/families/builders.h"
#include "memory/tape/families/image_ops.h"

namespace rightsize::memory::tape {
namespace {

constexpr Count kGroups = 32;
constexpr Count kPromptTokens = 77;

class Unet : public Model {
 public:
  Unet(Recorder& recorder, const model::ModelShape& shape, const Plan& plan) : Model(recorder, shape, plan) {
    for (std::size_t i = 0; i < shape.weights.size(); ++i) {
      const std::string& name = shape.weights[i].name;
      if (name.ends_with("resnets.norm1")) units_.push_back({Kind::kResidual, i});
      if (name.ends_with("attentions.norm")) units_.push_back({Kind::kTransformer, i});
      if (name.ends_with("samplers.conv")) units_.push_back({Kind::kResample, i});
    }
    blocks_ = weights_.layers();
  }

  Tensor make_inputs() override {
    const Count pixels = plan_.batch * shape_.channels * shape_.image_size * shape_.image_size;
    target_ = recorder_.make(pixels, kSingle, Layout::kPlain, Part::kBuffers);
    prompt_ = recorder_.make(plan_.batch * kPromptTokens * prompt_width(), plan_.width, Layout::kPlain, Part::kBuffers);
    latents_ = recorder_.make(pixels, kSingle, Layout::kPlain, Part::kBuffers);
    return latents_;
  }

  Tensor forward() override {
    recorder_.enter(Zone::kStart, -1);
    recorder_.set_part(Part::kActivations);
    Tensor time = time_embedding();
    Tensor x = latents_;
    if (plan_.width == kHalf) x = cast(std::move(x), kHalf);
    x = convolve(find("conv_in"), std::move(x));
    skips_.push_back(x);
    for (std::size_t i = 0; i < units_.size(); ++i) x = run_unit(i, std::move(x), time);
    recorder_.enter(Zone::kEnd, -1);
    x = silu(normalize(find("conv_norm_out"), std::move(x)));
    x = convolve(find("conv_out"), std::move(x));
    // Mean squared error in 32 bits: the difference is saved.
    Tensor difference = add_constant(cast(std::move(x), kSingle));
    recorder_.keep({&difference});
    Tensor loss = recorder_.make(1, kSingle);
    OpState state;
    state.n[0] = difference.elements;
    recorder_.record([](BackwardCall& call) { call.results[0] = call.recorder.make(call.state.n[0], kSingle); }, state,
                     {&difference}, {&loss});
    return loss;
  }

 private:
  enum class Kind { kResidual, kTransformer, kResample };
  struct Unit {
    Kind kind;
    std::size_t weight;  // its first in the inventory
  };

  const model::Weight& at(std::size_t index) const { return shape_.weights[index]; }
  std::size_t find(std::string_view name) const {
    for (std::size_t i = 0; i < shape_.weights.size(); ++i) {
      if (at(i).name == name) return i;
    }
    return 0;
  }
  Count positions(std::size_t index) const {
    const int scale = std::max(1, at(index).scale);
    const Count side = (shape_.image_size + scale - 1) / scale;
    return plan_.batch * side * side;
  }
  Count prompt_width() const {
    for (const model::Weight& weight : shape_.weights) {
      if (weight.name.ends_with("attn2.to_k")) return weight.cols;
    }
    return 768;
  }

  Tensor convolve(std::size_t index, Tensor x) {
    const Linear conv = weights_.linear_at(index);
    const Count padded = x.elements;
    return convolution(std::move(x), parameter(conv.weight), parameter(conv.bias), positions(index) * at(index).rows,
                       padded);
  }
  Tensor normalize(std::size_t index, Tensor x) {
    const NormWeights norm = weights_.norm_at(index);
    return group_norm(std::move(x), parameter(norm.weight), parameter(norm.bias), plan_.batch * kGroups);
  }

  Tensor time_embedding() {
    const Count width = at(find("time_embedding.linear_1")).cols;
    Tensor t = recorder_.make(plan_.batch * width, plan_.width);
    t = silu(apply(weights_.linear("time_embedding.linear_1"), std::move(t), false));
    return apply(weights_.linear("time_embedding.linear_2"), std::move(t), false);
  }

  // Down blocks leave a copy after every residual block (and its transformer) and after resampling; up blocks take one.
  Tensor run_unit(std::size_t i, Tensor given, const Tensor& time) {
    Tensor x = std::move(given);
    const Unit& unit = units_[i];
    const std::string& name = at(unit.weight).name;
    const bool down = name.starts_with("down"), up = name.starts_with("up");
    recorder_.enter(Zone::kMiddle, static_cast<int>(i));
    if (unit.kind == Kind::kResample) {
      const Count doubled = x.elements * 4;
      if (up) x = expand_copy(std::move(x), doubled, Expand::kAlways);  // interpolation
      x = convolve(unit.weight, std::move(x));
      if (down) skips_.push_back(x);
      return x;
    }
    if (up && unit.kind == Kind::kResidual && !skips_.empty()) {
      Tensor skip = std::move(skips_.back());
      skips_.pop_back();
      x = cat(std::move(x), std::move(skip));
    }
    TensorArray inputs;
    inputs[0] = x;
    inputs[1] = time;
    const std::span<Tensor> span(inputs.data(), 2);
    x = plan_.checkpoints() ? recorder_.checkpoint(*this, static_cast<int>(i), span)
                            : run_layer(static_cast<int>(i), span);
    const bool transformer_follows = i + 1 < units_.size() && units_[i + 1].kind == Kind::kTransformer;
    if (down && !(unit.kind == Kind::kResidual && transformer_follows)) skips_.push_back(x);
    return x;
  }

  Tensor run_layer(int number, std::span<Tensor> inputs) override {
    const Unit& unit = units_[static_cast<std::size_t>(number)];
    return unit.kind == Kind::kResidual ? residual(unit.weight, inputs[0], inputs[1])
                                        : transformer(unit.weight, inputs[0]);
  }

  Tensor residual(std::size_t first, Tensor given, Tensor time) {
    Tensor x = std::move(given);
    Tensor y = silu(normalize(first, x));
    y = convolve(first + 1, std::move(y));
    Tensor shift = apply(weights_.linear_at(first + 2), silu(std::move(time)), false);
    y = add(std::move(y), std::move(shift));
    y = silu(normalize(first + 3, std::move(y)));
    y = convolve(first + 4, std::move(y));
    const bool shortcut = first + 5 < shape_.weights.size() && at(first + 5).name.ends_with("conv_shortcut");
    if (shortcut) x = convolve(first + 5, std::move(x));
    Tensor sum = add(x, std::move(y));
    return multiply_constant(std::move(sum));  // output_scale_factor
  }

  Tensor transformer(std::size_t first, Tensor given) {
    Tensor x = std::move(given);
    Tensor outer = x;
    x = copy(normalize(first, std::move(x)));
    x = apply(weights_.linear_at(first + 1), std::move(x));
    std::size_t end = first + 2;
    for (const Layer& block : blocks_) {
      if (block.begin != first + 2) continue;
      x = transformer_block(block, std::move(x));
      end = block.end;
    }
    x = apply(weights_.linear_at(end), std::move(x));
    return add(copy(std::move(x)), outer);
  }

  Tensor transformer_block(const Layer& block, Tensor given) {
    Tensor x = std::move(given);
    const std::string& first = at(block.begin).name;
    const std::string prefix = first.substr(0, first.size() - std::string_view("norm1").size());
    const Count rows = positions(block.begin);
    auto attention = [&](const char* norm, const std::string& name, bool cross) {
      Tensor normed = norm_layer(weights_.norm(block, prefix + norm), x, rows);
      Tensor source = cross ? prompt_ : normed;
      Tensor q = split_heads(apply(weights_.linear(block, prefix + name + ".to_q"), normed));
      Tensor k = split_heads(apply(weights_.linear(block, prefix + name + ".to_k"), source));
      Tensor v = split_heads(apply(weights_.linear(block, prefix + name + ".to_v"), source));
      AttentionShape shape;
      shape.batch = plan_.batch;
      shape.head_dim = shape_.head_dim;
      shape.tokens = rows / plan_.batch;
      shape.kv_tokens = cross ? kPromptTokens : 0;
      shape.heads = std::max<Count>(1, q.elements / (rows * shape.head_dim));
      Tensor out = apply(weights_.linear(block, prefix + name + ".to_out.0"), attend(q, k, v, shape));
      x = add(std::move(out), x);
    };
    attention("norm1", "attn1", false);
    attention("norm2", "attn2", true);
    Tensor normed = norm_layer(weights_.norm(block, prefix + "norm3"), x, rows);
    auto [value, gate] = split2(apply(weights_.linear(block, prefix + "ff.net.0.proj"), std::move(normed)));
    Tensor product = multiply(value, gelu(gate));
    Tensor fed = apply(weights_.linear(block, prefix + "ff.net.2"), std::move(product));
    return add(std::move(fed), x);
  }

  std::vector<Unit> units_;
  std::vector<Layer> blocks_;
  std::vector<Tensor> skips_;
  Tensor latents_, target_, prompt_;
};

}  // namespace

ModelPtr make_unet(Recorder& recorder, const model::ModelShape& shape, const Plan& plan) {
  return std::make_unique<Unet>(recorder, shape, plan);
}

}  // namespace rightsize::memory::tape
