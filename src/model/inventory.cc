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

WeightRef Inventory::add(Weight weight) {
  // A block that never occurs holds nothing; dropping it keeps zero-sized weights out of every later sum.
  if (repeats_ <= 0) return {};
  weight.block = block_;
  weight.scale = scale_;
  weight.copies = repeats_ * weight.per_block;
  weights_.push_back(std::move(weight));
  return {static_cast<std::int32_t>(weights_.size() - 1), block_ == 0 ? std::int32_t{0} : WeightRef::kOfLayer};
}

WeightRef Inventory::add_matrix(std::string name, WeightRole role, std::int64_t rows, std::int64_t cols, bool bias,
                                Split split) {
  Weight weight;
  weight.name = std::move(name);
  weight.role = role;
  weight.rows = rows;
  weight.cols = cols;
  weight.has_bias = bias;
  weight.linear = true;
  weight.split = split;
  return add(std::move(weight));
}

WeightRef Inventory::linear(std::string name, WeightRole role, std::int64_t outputs, std::int64_t inputs, bool bias) {
  const bool divided = role == WeightRole::kAttention || role == WeightRole::kMlp;
  return add_matrix(std::move(name), role, outputs, inputs, bias, divided ? Split::kColumns : Split::kWhole);
}

WeightRef Inventory::output(std::string name, WeightRole role, std::int64_t outputs, std::int64_t inputs, bool bias) {
  return add_matrix(std::move(name), role, outputs, inputs, bias, Split::kRows);
}

WeightRef Inventory::keys(std::string name, std::int64_t outputs, std::int64_t inputs, bool bias, std::int64_t unit) {
  const WeightRef ref = linear(std::move(name), WeightRole::kAttention, outputs, inputs, bias);
  if (ref) weights_.back().unit = unit;
  return ref;
}

WeightRef Inventory::experts(std::string name, std::int64_t count, std::int64_t outputs, std::int64_t inputs, bool bias,
                             Split split, int joined) {
  Weight weight;
  weight.name = std::move(name);
  weight.role = WeightRole::kExpert;
  weight.rows = outputs;
  weight.cols = inputs;
  weight.has_bias = bias;
  weight.linear = true;
  weight.per_block = count;
  weight.stacked = true;
  weight.split = split;
  weight.joined = joined;
  return add(std::move(weight));
}

WeightRef Inventory::router(std::string name, std::int64_t outputs, std::int64_t inputs, bool bias) {
  const WeightRef ref = add_matrix(std::move(name), WeightRole::kRouter, outputs, inputs, bias, Split::kWhole);
  if (ref) weights_.back().linear = false;
  return ref;
}

WeightRef Inventory::norm(std::string name, std::int64_t width, bool bias) {
  Weight weight;
  weight.name = std::move(name);
  weight.role = WeightRole::kNorm;
  weight.rows = width;
  weight.has_bias = bias;
  return add(std::move(weight));
}

WeightRef Inventory::vector(std::string name, WeightRole role, std::int64_t size) {
  Weight weight;
  weight.name = std::move(name);
  weight.role = role;
  weight.rows = size;
  return add(std::move(weight));
}

WeightRef Inventory::embedding(std::string name, WeightRole role, std::int64_t rows, std::int64_t width) {
  Weight weight;
  weight.name = std::move(name);
  weight.role = role;
  weight.rows = rows;
  weight.cols = width;
  if (role == WeightRole::kTokenEmbedding) weight.split = Split::kColumns;
  return add(std::move(weight));
}

WeightRef Inventory::conv(std::string name, std::int64_t outputs, std::int64_t inputs, int kernel,
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

WeightRef Inventory::logits(std::string name, std::int64_t outputs, std::int64_t inputs, bool bias) {
  return add_matrix(std::move(name), WeightRole::kHead, outputs, inputs, bias, Split::kColumns);
}

WeightRef Inventory::logits_bias(std::string name, std::int64_t outputs) {
  const WeightRef ref = vector(std::move(name), WeightRole::kHead, outputs);
  if (ref) weights_.back().split = Split::kColumns;
  return ref;
}

}  // namespace rightsize::model
