#include "model/model_shape.h"

#include <algorithm>

namespace rightsize::model {
namespace {

void append_tensors(const Weight& weight, std::vector<std::int64_t>& sizes) {
  std::int64_t at_once = weight.stacked ? weight.per_block : 1;
  for (std::int64_t i = 0; i < weight.per_block; i += at_once) {
    sizes.push_back(weight.rows * weight.cols * at_once);
    if (weight.has_bias) sizes.push_back(weight.rows * at_once);
  }
}

}  // namespace

std::int64_t ModelShape::parameters() const {
  std::int64_t sum = 0;
  for (const Weight& weight : weights) sum += weight.elements();
  return sum;
}

std::int64_t ModelShape::active_parameters() const {
  std::int64_t sum = 0;
  for (const Weight& weight : weights) {
    bool routed = weight.role == WeightRole::kExpert && experts && experts->count > 0;
    // copies is a multiple of the number of experts, so this division is exact.
    sum +=
        routed ? weight.elements_per_copy() * (weight.copies / experts->count * experts->per_token) : weight.elements();
  }
  return sum;
}

std::vector<const ModelShape*> ModelShape::loaded_shapes() const {
  std::vector<const ModelShape*> all(static_cast<std::size_t>(pipeline ? pipeline->networks : 1), this);
  if (!pipeline) return all;
  for (const auto& encoder : pipeline->encoder_shapes) all.push_back(encoder.get());
  if (pipeline->decoder_shape) all.push_back(pipeline->decoder_shape.get());
  return all;
}

std::int64_t ModelShape::loaded_parameters() const {
  std::int64_t sum = 0;
  for (const ModelShape* shape : loaded_shapes()) sum += shape->parameters();
  return sum;
}

std::vector<std::int64_t> tensor_elements(const ModelShape& shape) {
  std::vector<std::int64_t> sizes;
  const std::vector<Weight>& weights = shape.weights;
  for (std::size_t begin = 0; begin < weights.size();) {
    std::size_t end = begin + 1;
    while (weights[begin].block != 0 && end < weights.size() && weights[end].block == weights[begin].block) ++end;
    std::int64_t repeats = weights[begin].copies / std::max<std::int64_t>(1, weights[begin].per_block);
    for (std::int64_t r = 0; r < repeats; ++r) {
      for (std::size_t i = begin; i < end; ++i) append_tensors(weights[i], sizes);
    }
    begin = end;
  }
  return sizes;
}

}  // namespace rightsize::model
