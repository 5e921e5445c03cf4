#include "model/adapters.h"

#include <algorithm>

namespace rightsize::model {

bool adapts_experts(const ModelShape& shape) {
  return std::ranges::any_of(shape.weights, [](const Weight& weight) { return weight.stacked && !weight.spared; });
}

int adapter_ranks(const ModelShape& shape, const Weight& weight, LoraTargets targets, Stack stack) {
  if (targets != LoraTargets::kAllLinear) return weight.linear && weight.role == WeightRole::kAttention ? 1 : 0;
  const bool peft = stack == Stack::kHf;
  if (weight.stacked) return peft && weight.spared ? 0 : weight.joined;
  if (weight.role == WeightRole::kRouter) return weight.linear || !peft || adapts_experts(shape) ? 1 : 0;
  if (!weight.linear) return 0;
  if (weight.role == WeightRole::kMlp) return peft && adapts_experts(shape) ? 0 : 1;
  const bool output =
      weight.role == WeightRole::kHead && (weight.rows != shape.hidden || weight.rows == shape.vocabulary);
  return output ? 0 : 1;
}

}  // namespace rightsize::model
