#include "model/inventory.h"

#include <algorithm>
#include <utility>

namespace rightsize::model {

void Inventory::begin_block(std::int64_t repeats) {
  // Several inventories may fill one list in turn, so block numbers must stay distinct.
  for (const Weight& weight : weights_) last_block_ = std::max(last_block_, weight.block);
  block_ = ++last_block_;
  repeats_ = repeats;
}

void Inventory::end_block() {
  block_ = 0;
  repeats_ = 1;
}

WeightRef Inventory::add(Weight weight) {
  // A block that never occurs has no weights; leaving it out keeps zero-sized weights out of every later sum.
  if (repeats_ <= 0) return {};
  weight.block = block_;
  weight.scale = scale_;
  weight.copies = repeats_ * weight.per_block;
  weights_.push_back(std::move(weight));
  return {static_cast<std::int32_t>(weights_.size() - 1), block_ == 0 ? std::int32_t{0} : WeightRef::kOfLayer};
}

namespace {

Weight plain(std::string name, WeightRole role, std::int64_t rows, std::int64_t cols = 1, bool bias = false) {
  Weight weight;
  weight.name = std::move(name);
  weight.role = role;
  weight.rows = rows;
  weight.cols = cols;
  weight.has_bias = bias;
  return weight;
}

Weight matrix(std::string name, WeightRole role, std::int64_t rows, std::int64_t cols, bool bias, Split split) {
  Weight weight = plain(std::move(name), role, rows, cols, bias);
  weight.linear = true;
  weight.split = split;
  return weight;
}

}  // namespace

WeightRef Inventory::linear(std::string name, WeightRole role, std::int64_t outputs, std::int64_t inputs, bool bias) {
  const bool divided = role == WeightRole::kAttention || role == WeightRole::kMlp;
  return add(matrix(std::move(name), role, outputs, inputs, bias, divided ? Split::kColumns : Split::kWhole));
}

WeightRef Inventory::output(std::string name, WeightRole role, std::int64_t outputs, std::int64_t inputs, bool bias) {
  return add(matrix(std::move(name), role, outputs, inputs, bias, Split::kRows));
}

WeightRef Inventory::keys(std::string name, std::int64_t outputs, std::int64_t inputs, bool bias, std::int64_t unit) {
  Weight weight = matrix(std::move(name), WeightRole::kAttention, outputs, inputs, bias, Split::kColumns);
  weight.unit = unit;
  return add(std::move(weight));
}

WeightRef Inventory::experts(std::string name, std::int64_t count, std::int64_t outputs, std::int64_t inputs, bool bias,
                             Split split, int joined) {
  Weight weight = matrix(std::move(name), WeightRole::kExpert, outputs, inputs, bias, split);
  weight.per_block = count;
  weight.stacked = true;
  weight.joined = joined;
  return add(std::move(weight));
}

WeightRef Inventory::router(std::string name, std::int64_t outputs, std::int64_t inputs, bool bias) {
  return add(plain(std::move(name), WeightRole::kRouter, outputs, inputs, bias));
}

WeightRef Inventory::norm(std::string name, std::int64_t width, bool bias) {
  return add(plain(std::move(name), WeightRole::kNorm, width, 1, bias));
}

WeightRef Inventory::vector(std::string name, WeightRole role, std::int64_t size) {
  return add(plain(std::move(name), role, size));
}

WeightRef Inventory::embedding(std::string name, WeightRole role, std::int64_t rows, std::int64_t width) {
  Weight weight = plain(std::move(name), role, rows, width);
  if (role == WeightRole::kTokenEmbedding) weight.split = Split::kColumns;
  return add(std::move(weight));
}

WeightRef Inventory::conv(std::string name, std::int64_t outputs, std::int64_t inputs, int kernel,
                          const ConvOptions& options) {
  const std::int64_t cols = inputs / options.groups * kernel * (options.over_time ? 1 : kernel);
  Weight weight = plain(std::move(name), WeightRole::kConv, outputs, cols, options.bias);
  weight.kernel = kernel;
  weight.stride = options.stride;
  weight.groups = static_cast<int>(options.groups);
  if (options.divided) weight.split = Split::kColumns;
  return add(std::move(weight));
}

WeightRef Inventory::logits(std::string name, std::int64_t outputs, std::int64_t inputs, bool bias) {
  return add(matrix(std::move(name), WeightRole::kHead, outputs, inputs, bias, Split::kColumns));
}

WeightRef Inventory::logits_bias(std::string name, std::int64_t outputs) {
  Weight weight = plain(std::move(name), WeightRole::kHead, outputs);
  weight.split = Split::kColumns;
  return add(std::move(weight));
}

}  // namespace rightsize::model
