// Activation checkpointing, as torch.utils.checkpoint does it without reentrance.
//
// The first run of a segment records nodes that save nothing and counts what they would have saved. The backward pass
// first runs the nodes after the last saved tensor. It then runs the segment again until that has saved as many tensors
// as the first run would have, and finally the remaining nodes.
#include <utility>

#include "memory/tape/recorder.h"

namespace rightsize::memory::tape {

Tensor Recorder::checkpoint(Segment& segment, int index, std::span<const Tensor> inputs) {
  Checkpoint point;
  point.segment = &segment;
  point.index = index;
  point.inner_begin = static_cast<std::uint32_t>(nodes_.size());
  point.autocast = autocast;
  point.inputs = static_cast<std::uint8_t>(inputs.size());
  point.first_leaf = static_cast<std::int32_t>(leaves_.size());
  leaves_.resize(leaves_.size() + inputs.size());
  TensorArray copies;
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    leaves_[static_cast<std::size_t>(point.first_leaf) + i].temporary = true;
    copies[i] = alias(inputs[i]);
    copies[i].needs_grad = inputs[i].needs_grad;
    copies[i].leaf = point.first_leaf + static_cast<std::int32_t>(i);
    point.facts[i] = copies[i];
  }

  counting_ = true;
  counted_ = 0;
  products_ = &point.products;
  product_number_ = 0;
  Tensor result = segment.run_segment(index, std::span(copies.data(), inputs.size()));
  counting_ = false;
  products_ = nullptr;
  point.keeps = counted_;
  for (Tensor& copy : copies) copy.reset();

  Tensor out = alias(result);
  if (!result.needs_grad) return out;
  point.result_node = result.node;
  point.result_output = result.output;
  result.reset();
  for (std::size_t i = 0; i < inputs.size(); ++i) point.held[i] = inputs[i];

  Tensor* outputs[] = {&out};
  Node& node = add_node(inputs.size(), outputs);
  node.checkpoint = static_cast<std::int32_t>(checkpoints_.size());
  for (const Tensor& input : inputs) add_edge(&input);
  checkpoints_.push_back(std::move(point));
  return out;
}

void Recorder::run_checkpoint() {
  const Node node = nodes_.back();
  std::array<Edge, kMostInputs> edges{};
  for (std::size_t i = 0; i < node.inputs; ++i) edges[i] = edges_[node.edges + i];
  Tensor gradient = std::move(gradients_[node.gradients]);
  pop_node();
  Checkpoint point = std::move(checkpoints_.back());
  checkpoints_.pop_back();

  const Node& last = nodes_[static_cast<std::size_t>(point.result_node)];
  gradients_[last.gradients + point.result_output] = std::move(gradient);
  backward(point.inner_begin, true);
  recompute(point);
  while (nodes_.size() > point.inner_begin) pop_node();

  for (std::size_t i = 0; i < node.inputs; ++i) {
    Tensor result = std::move(leaves_[static_cast<std::size_t>(point.first_leaf) + i].gradient);
    if (!result || edges[i].width == 0) continue;
    if (result.width != edges[i].width) result = make(result.elements, edges[i].width, result.layout);
    deliver(edges[i], std::move(result));
  }
  if (static_cast<std::size_t>(point.first_leaf) + point.inputs == leaves_.size())
    leaves_.resize(static_cast<std::size_t>(point.first_leaf));
  point.segment->segment_done(point.index);
}

void Recorder::recompute(Checkpoint& point) {
  const std::size_t begin = point.inner_begin, end = nodes_.size();
  TensorArray inputs;
  for (std::size_t i = 0; i < point.inputs; ++i) {
    inputs[i] = std::move(point.held[i]);
    static_cast<TensorFacts&>(inputs[i]) = point.facts[i];
  }
  still_needed_ = point.keeps;
  discarding_ = point.keeps == 0;
  products_ = &point.products;
  next_product_ = 0;
  product_number_ = 0;
  autocast = point.autocast;
  { Tensor result = point.segment->run_segment(point.index, std::span(inputs.data(), point.inputs)); }
  autocast = false;
  still_needed_ = -1;
  discarding_ = false;
  products_ = nullptr;
  forget_casts();

  // Gradients that the first run's remaining nodes received belong to the nodes of the second run.
  while (nodes_.size() > end + (end - begin)) pop_node();
  hand_over_gradients(begin, end);
  for (Tensor& input : inputs) input.reset();
  point.products.clear();
  backward(end, false);
}

void Recorder::hand_over_gradients(std::size_t from, std::size_t to) {
  for (std::size_t i = 0; i < to - from; ++i) {
    const Node& first = nodes_[from + i];
    const Node& second = nodes_[to + i];
    for (std::size_t k = 0; k < first.outputs; ++k)
      gradients_[second.gradients + k] = std::move(gradients_[first.gradients + k]);
  }
}

}  // namespace rightsize::memory::tape
