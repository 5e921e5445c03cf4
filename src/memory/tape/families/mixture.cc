// Mixtures of experts as transformers 5 runs them: rows sorted by expert, one grouped product over stacked weights.
#include <utility>

#include "memory/tape/families/llama_like.h"

namespace rightsize::memory::tape {

Tensor LlamaLike::routed_experts(Tensor given, const LayerWeights& layer) {
  Tensor x = std::move(given);
  const model::Experts& experts = *shape_.experts;
  const Count rows = plan_.rows(), routed = rows * experts.per_token;
  const Count width = shape_.hidden, inner = experts.intermediate / plan_.tensor;
  const std::uint8_t entry_width = x.width;
  auto weight_of = [this](const Linear& linear) {
    Tensor weight = parameter(linear.weight);
    if (linear.adapter_a < 0) return weight;
    return merged_adapter(std::move(weight), parameter(linear.adapter_a), parameter(linear.adapter_b));
  };

  LinearOptions router_options;
  router_options.outputs = experts.count;
  Tensor router = weight_of(layer.router);
  Tensor logits = linear(x, std::move(router), parameter(layer.router.bias), router_options);
  Tensor probabilities = softmax(cast(logits, kSingle), kSingle);
  Tensor chosen = index(probabilities, routed, recorder_.make(routed, kLong));
  probabilities.reset();
  logits.reset();
  if (style_.narrow_router) chosen = cast(std::move(chosen), entry_width);
  Tensor out_weight = weight_of(layer.experts_out), in_weight = weight_of(layer.experts_in);

  Tensor ids = recorder_.make(routed, kLong), order = recorder_.make(routed, kLong),
         rows_of = recorder_.make(routed, kLong);
  Tensor selected = index(x, routed * width, rows_of);
  Tensor shares = index(chosen, routed, order);
  Tensor counts = recorder_.make(routed, kSingle), offsets = recorder_.make(experts.count, kSingle);
  Tensor unused = recorder_.make(routed, kByte);
  Tensor u = grouped_product(std::move(selected), std::move(in_weight), routed * 2 * inner);
  u = masked_fill(std::move(u), unused);
  {
    auto [gate, up] = split2(u);
    Tensor product;
    if (plan_.fused_kernels) {
      product = fused_gate(gate, up);
    } else {
      Tensor activated = activate(gate);
      product = multiply(std::move(activated), up);
    }
    gate.reset();
    up.reset();
    u = std::move(product);
  }
  u = grouped_product(std::move(u), std::move(out_weight), routed * width);
  u = masked_fill(std::move(u), unused);
  Tensor weighted = multiply(u, shares);
  Tensor inverse = recorder_.make(routed, kLong);
  weighted = index(std::move(weighted), routed * width, inverse);
  Tensor y = sum_groups(weighted, rows * width);
  return cast(std::move(y), entry_width);
}

Tensor LlamaLike::mixture(Tensor given, const LayerWeights& layer) {
  Tensor x = gather(std::move(given));
  Tensor y = routed_experts(x, layer);
  if (layer.shared_gate) {
    Tensor shared = dense_mlp(x, layer.shared_gate, layer.shared_up, layer.shared_down);
    if (layer.shared_switch) {
      Tensor share = tanh(apply(layer.shared_switch, x));  // a sigmoid: saves its result too
      shared = multiply(std::move(share), std::move(shared));
    }
    y = add(std::move(y), std::move(shared));
  }
  return scatter(std::move(y));
}

}  // namespace rightsize::memory::tape
