#include "memory/tape/weights.h"

#include <algorithm>
#include <utility>

#include "memory/weight_bytes.h"
#include "model/adapters.h"

namespace rightsize::memory::tape {
namespace {

using model::Weight;
using model::WeightRole;

Count ceil_divide(Count n, Count by) { return (n + by - 1) / by; }

}  // namespace

GpuWeights::Local GpuWeights::local(const Weight& weight) const {
  Local local{weight.rows, weight.cols, weight.has_bias ? weight.rows : 0, weight.stacked ? weight.per_block : 1};
  const bool expert = weight.role == WeightRole::kExpert;
  const int tensor = expert ? plan_.expert_tensor : plan_.tensor;
  if (expert) local.copies = ceil_divide(local.copies, plan_.expert);
  if (tensor > 1 && weight.split == model::Split::kRows) local.cols = ceil_divide(local.cols, tensor);
  if (tensor > 1 && weight.split == model::Split::kColumns) {
    // A GPU holds a whole key or value head, even if there are fewer heads than GPUs.
    local.rows = std::max<Count>(ceil_divide(local.rows, tensor), weight.unit);
    local.biases = std::min(local.biases, local.rows);
  }
  return local;
}

void GpuWeights::add_leaf(Count elements, Count stored_bytes, const ParameterInfo& info, bool trainable) {
  Tensor stored = recorder_.make(stored_bytes, kByte, Layout::kPlain, Part::kWeights);
  Tensor value = recorder_.alias(stored, elements, Layout::kPlain);
  value.width = info.adapter ? (plan_.stack == model::Stack::kHf ? kSingle : plan_.width) : plan_.width;
  recorder_.add_parameter(std::move(value), trainable);
  infos_.push_back(info);
  adapters_.push_back(-1);
}

void GpuWeights::add_weight(const Weight& weight, int layer) {
  const Local size = local(weight);
  ParameterInfo info;
  info.role = weight.role;
  info.layer = layer;
  info.rows = size.rows * size.copies;
  info.cols = size.cols;
  info.elements = size.elements();
  info.shared = weight.role == WeightRole::kTokenEmbedding && model_.tied_embeddings;
  const bool quantized = plan_.quantized_base && weight.linear && weight.role != WeightRole::kHead;
  auto stored = [&](Count elements) {
    if (plan_.offload_parameters) return Count{1};
    const Count kept = plan_.sharded_parameters() ? sharded(info, elements) : elements;
    return std::max<Count>(1, kept * plan_.stored_width);
  };
  const std::int64_t tensors = weight.stacked ? 1 : weight.per_block;
  for (std::int64_t i = 0; i < tensors; ++i) {
    Count stored_bytes = stored(info.elements);
    if (quantized) {
      Weight matrix = weight;
      matrix.rows = size.rows;
      matrix.cols = size.cols;
      matrix.has_bias = false;
      matrix.copies = size.copies;
      const Count whole = static_cast<Count>(in_bytes(weight_bytes(matrix, model::Precision::kNf4, 1, false)));
      stored_bytes = plan_.offload_parameters ? 1 : plan_.sharded_parameters() ? sharded(info, whole) : whole;
    }
    add_leaf(info.elements, stored_bytes, info, plan_.train_weights);
    if (size.biases == 0) continue;
    ParameterInfo bias = info;
    bias.elements = bias.rows = size.biases * size.copies;
    bias.cols = 1;
    add_leaf(bias.elements, stored(bias.elements), bias, plan_.train_weights);
  }
}

// Layers beyond the plan's number are not on this GPU (pipeline stages, shortened tapes), and neither is the other end
// of the model, except that a tied head also needs the embedding on the last stage.
bool GpuWeights::is_here(std::size_t index, std::size_t first_block, std::size_t last_block) const {
  if (index < first_block)
    return plan_.first_stage || (model_.tied_embeddings && model_.weights[index].role == WeightRole::kTokenEmbedding);
  return index <= last_block || plan_.last_stage;
}

std::int64_t GpuWeights::repeats_here(std::size_t begin, int& skipped, int& layers_left) const {
  const Weight& first = model_.weights[begin];
  const std::int64_t repeats = first.copies / std::max<std::int64_t>(1, first.per_block);
  if (first.images_only) return repeats;
  const std::int64_t before = std::min<std::int64_t>(repeats, skipped);
  skipped -= static_cast<int>(before);
  const std::int64_t here = std::min<std::int64_t>(repeats - before, layers_left);
  layers_left -= static_cast<int>(here);
  return here;
}

void GpuWeights::add_block(std::size_t begin, std::size_t end, std::int64_t repeats) {
  const bool is_layer = model_.weights[begin].block != 0 && !model_.weights[begin].images_only;
  const int leaves_before = recorder_.parameters();
  for (std::int64_t r = 0; r < repeats; ++r) {
    if (is_layer) layers_.push_back({begin, end, static_cast<int>(r), static_cast<int>(layers_.size())});
    const int layer = is_layer ? static_cast<int>(layers_.size()) - 1 : -1;
    for (std::size_t i = begin; i < end; ++i) {
      if (r == 0) entries_[i].first_leaf = recorder_.parameters();
      add_weight(model_.weights[i], layer);
    }
    if (r != 0) continue;
    for (std::size_t i = begin; i < end; ++i) entries_[i].leaves_per_repeat = recorder_.parameters() - leaves_before;
  }
}

GpuWeights::GpuWeights(Recorder& recorder, const model::ModelShape& model, const GpuPlan& plan)
    : recorder_(recorder), model_(model), plan_(plan) {
  const std::vector<Weight>& weights = model.weights;
  entries_.resize(weights.size());
  std::size_t first_block = weights.size(), last_block = 0;
  for (std::size_t i = 0; i < weights.size(); ++i) {
    if (weights[i].block == 0) continue;
    first_block = std::min(first_block, i);
    last_block = i;
  }
  int layers_left = plan.layers, encoder_left = plan.encoder_layers, skipped = plan.skipped, none = 0;
  // If there are two stacks, the first is the encoder.
  const std::vector<model::LayerStack>& stacks = model.forward->stacks;
  const std::size_t decoder_begin = model.encoder_layers > 0 && stacks.size() > 1 && !stacks.back().runs.empty()
                                        ? static_cast<std::size_t>(stacks.back().runs.front().weight)
                                        : 0;
  for (std::size_t begin = 0; begin < weights.size();) {
    std::size_t end = begin + 1;
    while (weights[begin].block != 0 && end < weights.size() && weights[end].block == weights[begin].block) ++end;
    std::int64_t repeats = is_here(begin, first_block, last_block) ? 1 : 0;
    if (weights[begin].block != 0) {
      const bool encoder = begin < decoder_begin;
      repeats = repeats_here(begin, encoder ? none : skipped, encoder ? encoder_left : layers_left);
    }
    add_block(begin, end, repeats);
    begin = end;
  }
  if (plan.lora_rank > 0) add_adapters();
}

Count GpuWeights::adapter_rank(const Weight& weight) const {
  const model::LoraTargets targets =
      plan_.lora_attention_only ? model::LoraTargets::kAttention : model::LoraTargets::kAllLinear;
  return Count{plan_.lora_rank} * model::adapter_ranks(model_, weight, targets, plan_.stack);
}

void GpuWeights::add_adapter(std::size_t index, int repeat, int layer) {
  const Weight& weight = model_.weights[index];
  const Entry& entry = entries_[index];
  const Count rank = adapter_rank(weight);
  if (entry.first_leaf < 0 || rank == 0) return;
  const Local size = local(weight);
  const int leaf = entry.first_leaf + repeat * entry.leaves_per_repeat;
  adapters_[static_cast<std::size_t>(leaf)] = recorder_.parameters();
  const std::uint8_t width = plan_.stack == model::Stack::kHf ? kSingle : plan_.width;
  for (Count outer : {size.cols, size.rows}) {
    ParameterInfo info;
    info.role = weight.role;
    info.layer = layer;
    info.rows = outer;
    info.cols = rank * size.copies;
    info.elements = info.rows * info.cols;
    info.adapter = true;
    const Count kept = plan_.sharded_parameters() ? sharded(info) : info.elements;
    add_leaf(info.elements, kept * width, info, true);
  }
}

// peft adds its adapters when the model is complete, module by module.
void GpuWeights::add_adapters() {
  for (std::size_t begin = 0, next_layer = 0; begin < model_.weights.size();) {
    if (model_.weights[begin].block == 0 || next_layer >= layers_.size() || layers_[next_layer].begin != begin) {
      add_adapter(begin, 0, -1);
      ++begin;
      continue;
    }
    const std::size_t end = layers_[next_layer].end;
    for (; next_layer < layers_.size() && layers_[next_layer].begin == begin; ++next_layer) {
      const GpuLayer& layer = layers_[next_layer];
      for (std::size_t i = begin; i < end; ++i) add_adapter(i, layer.repeat, layer.index);
    }
    begin = end;
  }
}

Linear GpuWeights::linear_at(std::size_t index, int repeat) const {
  if (entries_[index].first_leaf < 0) return {};  // on another stage
  const Weight& weight = model_.weights[index];
  const Entry& entry = entries_[index];
  Linear linear;
  linear.weight = entry.first_leaf + repeat * entry.leaves_per_repeat;
  if (weight.has_bias) linear.bias = linear.weight + 1;
  linear.adapter_a = adapters_[static_cast<std::size_t>(linear.weight)];
  if (linear.adapter_a >= 0) linear.adapter_b = linear.adapter_a + 1;
  linear.outputs = local(weight).rows;
  linear.quantized = plan_.quantized_base && weight.linear && weight.role != WeightRole::kHead;
  return linear;
}

}  // namespace rightsize::memory::tape
