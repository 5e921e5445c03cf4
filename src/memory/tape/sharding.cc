#include <algorithm>

#include "memory/tape/session.h"

namespace rightsize::memory::tape {

Sharding::Sharding(Recorder& recorder, const GpuWeights& weights, const GpuPlan& plan)
    : recorder_(recorder), weights_(weights), plan_(plan) {
  const std::vector<ParameterInfo>& infos = weights.infos();
  int layers = 0;
  for (const ParameterInfo& info : infos) layers = std::max(layers, info.layer + 1);
  leaves_.resize(static_cast<std::size_t>(layers) + 1);
  gathered_.resize(leaves_.size());
  shards_.resize(infos.size());
  for (std::size_t i = 0; i < infos.size(); ++i) {
    leaves_[slot(infos[i].layer)].push_back(static_cast<int>(i));
    if (infos[i].layer < 0) largest_end_ = std::max(largest_end_, infos[i].elements);
  }
}

Count Sharding::gathered_elements(int layer) const {
  Count sum = 0;
  for (int leaf : leaves_[slot(layer)]) sum += weights_.infos()[static_cast<std::size_t>(leaf)].elements;
  return sum;
}

void Sharding::gather(int layer) {
  if (!plan_.gathers() || layer < 0 || slot(layer) >= gathered_.size() || gathered_[slot(layer)]) return;
  const std::uint8_t width = plan_.autocast ? kSingle : plan_.width;
  gathered_[slot(layer)] = recorder_.make(gathered_elements(layer), width, Layout::kPlain, Part::kBuffers);
}

void Sharding::release(int layer) {
  if (layer >= 0 && slot(layer) < gathered_.size()) gathered_[slot(layer)].reset();
}

// Gathers the embedding, or the head.
void Sharding::before_forward() {
  if (plan_.gathers()) end_matrix_ = recorder_.make(largest_end_, plan_.width, Layout::kPlain, Part::kBuffers);
}

void Sharding::before_layer(int layer) {
  if (layer == 0) end_matrix_.reset();
  gather(layer);
  gather(layer + 1);
}

void Sharding::after_layer(int layer) { release(layer); }

void Sharding::before_head() { before_forward(); }

void Sharding::backward_moves(int from, int to) {
  release(from);
  reduce(from);
  if (from < 0) end_matrix_.reset();
  gather(to);
  gather(to - 1);
}

// The full gradients of a layer go into one buffer, which is summed over the GPUs; each GPU receives its share.
void Sharding::reduce(int layer) {
  if (!plan_.sharded_gradients() && !plan_.offload_parameters) return;
  if (slot(layer) >= leaves_.size()) return;  // U-Nets number their segments differently
  Count sum = 0;
  for (int leaf : leaves_[slot(layer)]) {
    const Tensor& gradient = recorder_.gradient(leaf);
    if (gradient) sum += gradient.elements;
  }
  if (sum == 0) return;
  const std::uint8_t width = plan_.gradient_width != 0 ? plan_.gradient_width : plan_.width;
  in_transit_ = recorder_.make(sum, width, Layout::kPlain, Part::kBuffers);
  for (int leaf : leaves_[slot(layer)]) {
    Tensor& gradient = recorder_.gradient(leaf);
    if (!gradient) continue;
    const Count elements = weights_.sharded(weights_.infos()[static_cast<std::size_t>(leaf)], gradient.elements);
    gradient.reset();
    Tensor& shard = shards_[static_cast<std::size_t>(leaf)];
    if (!shard && !plan_.offload_parameters && !plan_.optimizer_in_backward)
      shard = recorder_.make(elements, width, Layout::kPlain, Part::kGradients);
  }
  reduced_ = true;
}

void Sharding::after_backward() {
  for (int layer = static_cast<int>(leaves_.size()) - 2; layer >= -1; --layer) reduce(layer);
  for (Tensor& gathered : gathered_) gathered.reset();
  end_matrix_.reset();
  in_transit_.reset();
}

void Sharding::drop_gradients() {
  for (Tensor& shard : shards_) shard.reset();
  reduced_ = false;
}

}  // namespace rightsize::memory::tape
