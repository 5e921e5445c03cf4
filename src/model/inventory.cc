#include "model/inventory.h"

#include <algorithm>
#include <utility>

namespace rightsize::model {

void Inventory::begin_block(std::int64_t repeats) {
  // Several inventories may fill one list in turn; numbers must not meet.
  for (const Weight& weight : weights_) last_block_ = std::max(last_block_, weight.block);
  block_ = ++last_block_;
  repeats_ = repeats;
}

void Inventory::end_block() {
  block_ = 0;
  repeats_ = 1;
}

Weight& Inventory::add(Weight weight) {
  weight.block = block_;
  weight.scale = scale_;
  weight.copies = repeats_ * weight.per_block;
  // A block that never occurs holds nothing; dropping it keeps zero-sized weights out of every later sum.
  if (repeats_ > 0) return weights_.emplace_back(std::move(weight));
  static thread_local Weight dropped;
  return dropped = std::move(weight);
}

Weight& Inventory::linear(std::string name, WeightRole role, std::int64_t outputs, std::int64_t inputs, bool bias) {
  Weight weight;
  weight.name = std::move(name);
  weight.role = role;
  weight.rows = outputs;
  weight.cols = inputs;
  weight.has_bias = bias;
  weight.linear = true;
  return add(std::move(weight));
}

Weight& Inventory::experts(std::string name, std::int64_t count, std::int64_t outputs, std::int64_t inputs, bool bias) {
  Weight weight;
  weight.name = std::move(name);
  weight.role = WeightRole::kExpert;
  weight.rows = outputs;
  weight.cols = inputs;
  weight.has_bias = bias;
  weight.linear = true;
  weight.per_block = count;
  weight.stacked = true;
  return add(std::move(weight));
}

Weight& Inventory::norm(std::string name, std::int64_t width, bool bias) {
  Weight weight;
  weight.name = std::move(name);
  weight.role = WeightRole::kNorm;
  weight.rows = width;
  weight.has_bias = bias;
  return add(std::move(weight));
}

Weight& Inventory::vector(std::string name, WeightRole role, std::int64_t size) {
  Weight weight;
  weight.name = std::move(name);
  weight.role = role;
  weight.rows = size;
  return add(std::move(weight));
}

Weight& Inventory::embedding(std::string name, WeightRole role, std::int64_t rows, std::int64_t width) {
  Weight weight;
  weight.name = std::move(name);
  weight.role = role;
  weight.rows = rows;
  weight.cols = width;
  return add(std::move(weight));
}

Weight& Inventory::conv(std::string name, std::int64_t outputs, std::int64_t inputs, int kernel,
                        const ConvOptions& options) {
  Weight weight;
  weight.name = std::move(name);
  weight.role = WeightRole::kConv;
  weight.rows = outputs;
  weight.cols = inputs / options.groups * kernel * kernel;
  weight.has_bias = options.bias;
  weight.kernel = kernel;
  weight.stride = options.stride;
  weight.groups = static_cast<int>(options.groups);
  return add(std::move(weight));
}

}  // namespace rightsize::model
