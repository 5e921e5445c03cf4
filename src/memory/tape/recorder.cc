#include "memory/tape/recorder.h"

#include <algorithm>
#include <utility>

namespace rightsize::memory::tape {
namespace {

constexpr Count kOffloadable = 1 << 20;  // smaller storages are not worth a transfer

}  // namespace

Recorder::Recorder(CachingAllocator* allocator, std::vector<AllocationEvent>* events)
    : allocator_(allocator), events_(events) {
  constexpr std::size_t kUsual = 4096;  // nodes of a model with some tens of layers
  for (auto* list : {&saved_, &gradients_}) list->reserve(kUsual);
  storages_.reserve(kUsual);
  unused_.reserve(kUsual);
  nodes_.reserve(kUsual);
  edges_.reserve(2 * kUsual);
  enter(TrainPhase::kForward);
}

Recorder::~Recorder() {
  // Handles inside the recorder must be released before its storages.
  gradients_.clear();
  saved_.clear();
  checkpoints_.clear();
  leaves_.clear();
}

// ---------------------------------------------------------------- storages

void Recorder::put_on_device(Storage& storage, Count bytes) {
  if (allocator_) {
    storage.block = allocator_->allocate(bytes);
    out_of_memory_ |= storage.block == CachingAllocator::kNone;
    storage.bytes = storage.block == CachingAllocator::kNone ? CachingAllocator::round_size(bytes)
                                                             : allocator_->block_bytes(storage.block);
  } else {
    storage.bytes = CachingAllocator::round_size(bytes);
  }
  if (events_) events_->push_back({storage.id, bytes});
  live_.total += storage.bytes;
  live_.part[static_cast<std::size_t>(storage.part)] += storage.bytes;
  note_peak();
}

void Recorder::note_peak() {
  if (live_.total > *zone_peak_) *zone_peak_ = live_.total;
  if (live_.total > peak_.total) {
    peak_.total = live_.total;
    peak_pending_ = true;
  }
}

void Recorder::take_off_device(Storage& storage) {
  if (storage.away) return;
  // The parts of a peak are copied when it ends, not at every step up.
  if (peak_pending_) {
    peak_.part = live_.part;
    peak_pending_ = false;
  }
  if (allocator_ && storage.block != CachingAllocator::kNone) allocator_->free(storage.block);
  if (events_) events_->push_back({storage.id, 0});
  live_.total -= storage.bytes;
  live_.part[static_cast<std::size_t>(storage.part)] -= storage.bytes;
}

void Recorder::free_storage(std::int32_t storage) {
  take_off_device(storages_[static_cast<std::size_t>(storage)]);
  unused_.push_back(storage);
}

std::int32_t Recorder::new_storage(Count bytes, Part part) {
  std::int32_t index = 0;
  if (unused_.empty()) {
    index = static_cast<std::int32_t>(storages_.size());
    storages_.emplace_back();
  } else {
    index = unused_.back();
    unused_.pop_back();
  }
  Storage& storage = storages_[static_cast<std::size_t>(index)];
  storage = Storage{};
  storage.references = 1;
  storage.part = part;
  storage.id = next_id_++;
  put_on_device(storage, bytes);
  return index;
}

Tensor Recorder::make(Count elements, std::uint8_t width, Layout layout) {
  return make(elements, width, layout, part_);
}

Tensor Recorder::make(Count elements, std::uint8_t width, Layout layout, Part part) {
  Tensor tensor;
  tensor.recorder_ = this;
  tensor.elements = elements;
  tensor.width = width;
  tensor.layout = layout;
  if (!discarding_ && elements > 0) tensor.storage_ = new_storage(elements * width, part);
  return tensor;
}

Tensor Recorder::alias(const Tensor& of, Count elements, Layout layout) const {
  Tensor tensor(of);
  static_cast<TensorFacts&>(tensor) = TensorFacts{};
  tensor.elements = elements;
  tensor.width = of.width;
  tensor.layout = layout;
  tensor.reshaped = of.reshaped;
  return tensor;
}

Tensor Recorder::make_product(Count elements, std::uint8_t width, Layout layout) {
  const bool in_checkpoint = products_ != nullptr && keep_products;
  if (!in_checkpoint || product_number_++ % keep_every_product != 0) return make(elements, width, layout);
  if (counting_) {
    Tensor product = make(elements, width, layout);
    products_->push_back(product);
    return product;
  }
  if (next_product_ >= products_->size()) return make(elements, width, layout);
  return alias((*products_)[next_product_++], elements, layout);
}

void Recorder::retag(const Tensor& tensor, Part part) {
  if (tensor.storage_ < 0) return;
  Storage& storage = storages_[static_cast<std::size_t>(tensor.storage_)];
  if (!storage.away) {
    live_.part[static_cast<std::size_t>(storage.part)] -= storage.bytes;
    live_.part[static_cast<std::size_t>(part)] += storage.bytes;
  }
  storage.part = part;
}

// ---------------------------------------------------------------- leaves

int Recorder::add_parameter(Count elements, std::uint8_t width, bool trainable) {
  return add_parameter(make(elements, width, Layout::kPlain, Part::kWeights), trainable);
}

int Recorder::add_parameter(Tensor value, bool trainable) {
  const int index = static_cast<int>(leaves_.size());
  Leaf& leaf = leaves_.emplace_back();
  leaf.value = std::move(value);
  leaf.value.is_parameter = true;
  leaf.value.needs_grad = trainable;
  leaf.value.leaf = index;
  leaf.trainable = trainable;
  parameters_ = index + 1;
  return index;
}

Tensor Recorder::parameter(int leaf) const { return leaves_[static_cast<std::size_t>(leaf)].value; }

void Recorder::set_gradient(int leaf, Tensor gradient) {
  retag(gradient, Part::kGradients);
  leaves_[static_cast<std::size_t>(leaf)].gradient = std::move(gradient);
}

void Recorder::drop_gradients() {
  for (int i = 0; i < parameters_; ++i) leaves_[static_cast<std::size_t>(i)].gradient.reset();
  drop_temporary_leaves();
}

void Recorder::settle_gradients() {
  for (int i = 0; i < parameters_; ++i) leaves_[static_cast<std::size_t>(i)].gradient.reshaped = false;
}

void Recorder::require_gradient(Tensor& tensor) {
  tensor.needs_grad = true;
  tensor.leaf = static_cast<std::int32_t>(leaves_.size());
  leaves_.emplace_back().temporary = true;
}

// Autocast makes the 16-bit copy of a trainable parameter once and keeps it until the forward pass ends.
Tensor Recorder::cast_for_product(Tensor tensor, bool cached) {
  if (!autocast || tensor.width != kSingle) return tensor;
  auto to_half = [this](const Tensor& from) {
    Tensor half = make(from.elements, kHalf, from.layout);
    OpState state;
    state.width[0] = from.width;
    record(
        [](BackwardCall& call) {
          const Tensor& gradient = call.grads[0];
          call.results[0] = call.recorder.make(gradient.elements, call.state.width[0], gradient.layout);
        },
        state, {&from}, {&half});
    return half;
  };
  if (!cached || !tensor.is_parameter || !tensor.needs_grad) return to_half(tensor);
  const int leaf = tensor.leaf;
  if (Tensor& cast = leaves_[static_cast<std::size_t>(leaf)].cast; cast) return cast;
  Tensor half = to_half(tensor);
  leaves_[static_cast<std::size_t>(leaf)].cast = half;
  cast_leaves_.push_back(leaf);
  return half;
}

void Recorder::forget_casts() {
  for (int leaf : cast_leaves_) leaves_[static_cast<std::size_t>(leaf)].cast.reset();
  cast_leaves_.clear();
}

// ---------------------------------------------------------------- the tape

void Recorder::keep(std::span<const Tensor* const> tensors) {
  if (!grad_enabled) return;
  int kept = 0;
  for (const Tensor* tensor : tensors) {
    if (tensor == nullptr || !*tensor) continue;
    ++kept;
    if (!counting_) saved_.push_back(*tensor);
  }
  if (kept == 0) return;
  pending_keeps_ += kept;
  if (counting_) counted_ += kept;
  if (still_needed_ >= 0 && !counting_) {
    still_needed_ = std::max(0, still_needed_ - kept);
    if (still_needed_ == 0) discarding_ = true;
  }
}

void Recorder::add_edge(const Tensor* input) {
  Edge edge;
  if (input != nullptr && *input && input->needs_grad) {
    edge.node = input->node;
    edge.leaf = input->node >= 0 ? -1 : input->leaf;
    edge.output = input->output;
    edge.width = input->width;
  }
  edges_.push_back(edge);
}

void Recorder::record(Backward function, const OpState& state, std::initializer_list<const Tensor*> inputs,
                      std::initializer_list<Tensor*> outputs) {
  const bool wanted = grad_enabled && std::ranges::any_of(inputs, [](const Tensor* input) {
                        return input != nullptr && *input && input->needs_grad;
                      });
  const int keeps = std::exchange(pending_keeps_, 0);
  if (!wanted) {
    saved_.resize(pending_saved_);
    return;
  }
  Node& node = add_node(inputs.size(), {outputs.begin(), outputs.size()});
  node.backward = function;
  node.state = state;
  node.keeps = static_cast<std::uint8_t>(keeps);
  for (const Tensor* input : inputs) add_edge(input);
}

Recorder::Node& Recorder::add_node(std::size_t inputs, std::span<Tensor* const> outputs) {
  Node& node = nodes_.emplace_back();
  node.edges = static_cast<std::uint32_t>(edges_.size());
  node.saved = static_cast<std::uint32_t>(pending_saved_);
  node.gradients = static_cast<std::uint32_t>(gradients_.size());
  node.inputs = static_cast<std::uint8_t>(inputs);
  node.outputs = static_cast<std::uint8_t>(outputs.size());
  node.part = part_;
  node.zone = zone_;
  node.layer = static_cast<std::int16_t>(layer_);
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    outputs[i]->needs_grad = true;
    outputs[i]->node = static_cast<std::int32_t>(nodes_.size() - 1);
    outputs[i]->output = static_cast<std::uint8_t>(i);
  }
  gradients_.resize(gradients_.size() + outputs.size());
  pending_saved_ = saved_.size();
  return node;
}

bool Recorder::has_gradient(const Node& node) const {
  for (std::uint32_t i = 0; i < node.outputs; ++i) {
    if (gradients_[node.gradients + i]) return true;
  }
  return false;
}

void Recorder::pop_node() {
  const Node& node = nodes_.back();
  edges_.resize(node.edges);
  saved_.resize(node.saved);
  gradients_.resize(node.gradients);
  pending_saved_ = node.saved;
  nodes_.pop_back();
}

Tensor Recorder::seed_gradient(const Tensor& result) {
  Tensor seed = make(result.elements, result.width);
  if (result.node >= 0) gradients_[nodes_[static_cast<std::size_t>(result.node)].gradients + result.output] = seed;
  return seed;
}

void Recorder::backward(std::size_t floor, bool stop_at_saved) {
  while (nodes_.size() > floor) {
    const Node& node = nodes_.back();
    const bool reached = has_gradient(node);
    if (stop_at_saved && reached && node.keeps > 0) return;
    if (!reached) {
      pop_node();
      continue;
    }
    move_to(node);
    node.checkpoint >= 0 ? run_checkpoint() : run_node();
  }
}

void Recorder::move_to(const Node& node) {
  if (node.layer != layer_) {
    const int from = std::exchange(layer_, node.layer);
    if (offloads_) bring_back(node.layer);
    if (watcher_) watcher_->backward_moves(from, node.layer);
  }
  part_ = node.part;
  enter(node.zone, node.layer);
}

void Recorder::run_node() {
  const Node& node = nodes_.back();  // stays valid: plain operations add no nodes in their backward
  TensorArray grads, results;
  std::array<Edge, kMostInputs> edges{};
  BackwardCall call{*this, node.state, grads, results, saved_.data() + node.saved};
  for (std::size_t i = 0; i < node.outputs; ++i) grads[i] = std::move(gradients_[node.gradients + i]);
  for (std::size_t i = 0; i < node.inputs; ++i) {
    edges[i] = edges_[node.edges + i];
    if (edges[i].width != 0) call.wanted = static_cast<std::uint8_t>(call.wanted | 1U << i);
  }
  node.backward(call);
  const std::size_t inputs = node.inputs;
  for (std::size_t i = 0; i < inputs; ++i) {
    Tensor& result = results[i];
    if (result && edges[i].width != 0 && result.width != edges[i].width)
      result = make(result.elements, edges[i].width, result.layout);
  }
  for (Tensor& gradient : grads) gradient.reset();
  pop_node();
  for (std::size_t i = 0; i < inputs; ++i) {
    if (results[i] && edges[i].width != 0) deliver(edges[i], std::move(results[i]));
  }
}

void Recorder::deliver(const Edge& edge, Tensor arrived) {
  Tensor gradient = std::move(arrived);
  if (edge.node >= 0) {
    Tensor& slot = gradients_[nodes_[static_cast<std::size_t>(edge.node)].gradients + edge.output];
    if (slot) {
      add_into(slot);
    } else {
      slot = std::move(gradient);
    }
    return;
  }
  if (edge.leaf < 0) return;
  Leaf& leaf = leaves_[static_cast<std::size_t>(edge.leaf)];
  if (leaf.consumed) return;
  if (!leaf.gradient) {
    leaf.gradient = std::move(gradient);
  } else {
    add_into(leaf.gradient);
  }
  if (!leaf.temporary) retag(leaf.gradient, Part::kGradients);
}

// The engine adds a second gradient to the first in place if no other tensor shares the storage, and makes a new tensor
// otherwise.
void Recorder::add_into(Tensor& slot) {
  const bool alone = slot.storage_ < 0 || storages_[static_cast<std::size_t>(slot.storage_)].references == 1;
  if (!slot.reshaped && alone) return;
  Tensor sum = make(slot.elements, slot.width, slot.layout);
  slot = std::move(sum);
}

// ---------------------------------------------------------------- offloading

template <class Use>
void Recorder::for_each_saved(const Node& node, const Use& use) {
  const auto use_storage = [&](const Tensor& tensor) {
    if (tensor && tensor.storage_ >= 0) use(storages_[static_cast<std::size_t>(tensor.storage_)]);
  };
  const std::size_t end = &node == &nodes_.back() ? saved_.size() : (&node + 1)->saved;
  for (std::size_t i = node.saved; i < end; ++i) use_storage(saved_[i]);
  if (node.checkpoint < 0) return;
  for (const Tensor& held : checkpoints_[static_cast<std::size_t>(node.checkpoint)].held) use_storage(held);
}

void Recorder::offload_saved(int layer) {
  offloads_ = true;
  for (const Node& node : nodes_) {
    if (node.layer != layer) continue;
    for_each_saved(node, [&](Storage& storage) {
      if (storage.away || storage.part != Part::kActivations || storage.bytes < kOffloadable) return;
      take_off_device(storage);
      storage.away = true;
    });
  }
}

void Recorder::bring_back(int layer) {
  for (std::size_t n = nodes_.size(); n-- > 0 && nodes_[n].layer == layer;) {
    for_each_saved(nodes_[n], [&](Storage& storage) {
      if (!storage.away) return;
      storage.away = false;
      put_on_device(storage, storage.bytes);
    });
  }
}

// ---------------------------------------------------------------- peaks

void Recorder::enter(TrainPhase phase) {
  phase_ = phase;
  enter(zone_, layer_);
}

void Recorder::enter(Zone zone, int layer) {
  zone_ = zone;
  layer_ = layer;
  zone_peak_ = &zone_peaks_[static_cast<std::size_t>(phase_)][static_cast<std::size_t>(zone)];
  if (live_.total > *zone_peak_) *zone_peak_ = live_.total;
}

Count Recorder::peak_in(TrainPhase phase) const {
  const auto& zones = zone_peaks_[static_cast<std::size_t>(phase)];
  return *std::ranges::max_element(zones);
}

Count Recorder::peak_in(TrainPhase phase, Zone zone) const {
  return zone_peaks_[static_cast<std::size_t>(phase)][static_cast<std::size_t>(zone)];
}

void Recorder::raise_peaks(TrainPhase phase, Count bytes) {
  for (Count& peak : zone_peaks_[static_cast<std::size_t>(phase)])
    if (peak > 0) peak += bytes;
}

void Recorder::reset_peaks() {
  for (auto& zones : zone_peaks_) zones.fill(0);
  peak_ = live_;
  peak_pending_ = false;
  enter(zone_, layer_);
}

}  // namespace rightsize::memory::tape
