// A miniature of torch.autograd that keeps no values, only the lifetimes of storages.
//
// A Recorder models one GPU process. Running a model's forward pass with the operations of ops.h creates tensors
// (storages with reference counts) and a tape of nodes. Each node holds what the torch operation of that name saves for
// the backward pass. Running the tape backwards creates and frees gradients as the torch engine does. The recorder sums
// the live bytes, in total and by part, and remembers the peak. With a CachingAllocator attached, every storage also
// goes through the allocator, and one pass gives allocated and reserved bytes.
//
//   Recorder recorder(&allocator);
//   Tensor w = recorder.parameter(recorder.add_parameter(h * h, 2, true));
//   Tensor y = linear(x, w, bias, options);             // ops.h
//   recorder.run_backward();
//
// Element counts and bytes are plain 64-bit integers: sums must be exact, and this is an inner loop.
#pragma once

#include <array>
#include <cstdint>
#include <initializer_list>
#include <span>
#include <vector>

#include "memory/memory.h"
#include "memory/tape/caching_allocator.h"

namespace rightsize::memory::tape {

using Count = std::int64_t;

// Bytes of an element.
inline constexpr std::uint8_t kByte = 1, kHalf = 2, kSingle = 4, kLong = 8;

// The memory layout of a tensor: in the order of its shape, or (batch, tokens, heads, width) viewed with heads first.
enum class Layout : std::uint8_t { kPlain, kHeads };

// The phases of a training iteration, and the zones of the model. Peaks are kept per pair, because each is an affine
// function of batch and layers while their maximum is not.
enum class TrainPhase : std::uint8_t { kForward, kBackward, kStep };
inline constexpr int kPhases = 3;
enum class Zone : std::uint8_t { kStart, kFirst, kMiddle, kLast, kEnd, kSecondFirst, kSecondMiddle, kSecondLast };
inline constexpr int kZones = 8;

class Recorder;

// The properties of a tensor besides its storage.
struct TensorFacts {
  Count elements = 0;
  std::int32_t node = -1;   // the node that produced it; -1: none
  std::int32_t leaf = -1;   // the leaf that collects its gradient if no node produced it
  std::uint8_t output = 0;  // of that node
  std::uint8_t width = 0;   // bytes of an element
  Layout layout = Layout::kPlain;
  bool reshaped = false;  // a gradient behind a view: the engine does not add to it in place
  bool needs_grad = false;
  bool is_parameter = false;

  Count bytes() const { return elements * width; }
};

// A reference-counted handle. Operations take tensors by value and release them when they return, as Python does with
// the arguments of a call: pass a copy of a tensor that is still needed, and move one that is not.
class Tensor : public TensorFacts {
 public:
  Tensor() = default;
  Tensor(const Tensor& other);
  Tensor(Tensor&& other) noexcept;
  Tensor& operator=(const Tensor& other);
  Tensor& operator=(Tensor&& other) noexcept;
  ~Tensor() { reset(); }

  void reset();
  explicit operator bool() const { return recorder_ != nullptr; }
  Recorder& recorder() const { return *recorder_; }
  // Identifies the storage during its lifetime.
  std::int32_t storage() const { return storage_; }

 private:
  friend class Recorder;
  Recorder* recorder_ = nullptr;
  std::int32_t storage_ = -1;  // -1: takes no memory
};

inline constexpr std::size_t kMostInputs = 4;
using TensorArray = std::array<Tensor, kMostInputs>;

// The state of a node for the backward pass, besides its saved tensors.
struct OpState {
  std::array<Count, 4> n{};
  std::array<std::uint8_t, 4> width{};
  std::array<Layout, 3> layout{};
  bool flag = false;
};

// `grads` are the gradients of the outputs, `results` those of the inputs; wants(i) tells which inputs need one.
struct BackwardCall {
  Recorder& recorder;
  const OpState& state;
  TensorArray& grads;
  TensorArray& results;
  Tensor* saved = nullptr;  // in the order they were kept
  std::uint8_t wanted = 0;

  bool wants(std::size_t input) const { return (wanted >> input & 1) != 0; }
};
using Backward = void (*)(BackwardCall& call);

// A part of a model that the backward pass runs again: one layer.
class Segment {
 public:
  virtual ~Segment() = default;
  virtual Tensor run_segment(int index, std::span<Tensor> inputs) = 0;
  // Called when the backward pass has left the segment and values shared by its layers can be freed.
  virtual void segment_done(int index) = 0;
};

// Called when the backward pass moves from one layer to another (-1: outside of all layers).
class LayerWatcher {
 public:
  virtual ~LayerWatcher() = default;
  virtual void backward_moves(int from, int to) = 0;
};

// One allocation (bytes > 0) or the end of one (bytes = 0). Ids count allocations.
struct AllocationEvent {
  Count id = 0, bytes = 0;
  bool operator==(const AllocationEvent&) const = default;
};

// Live bytes, in total and by part.
struct LiveBytes {
  Count total = 0;
  std::array<Count, kParts> part{};
};

class Recorder {
 public:
  // Without an allocator, sizes are rounded to 512 bytes and reserved bytes are unknown. `events` receives every
  // allocation and deallocation; it may be null.
  explicit Recorder(CachingAllocator* allocator = nullptr, std::vector<AllocationEvent>* events = nullptr);
  ~Recorder();
  Recorder(const Recorder&) = delete;
  Recorder& operator=(const Recorder&) = delete;

  // --- storages
  Tensor make(Count elements, std::uint8_t width, Layout layout = Layout::kPlain);
  Tensor make(Count elements, std::uint8_t width, Layout layout, Part part);
  // The same storage with another shape, without history.
  Tensor alias(const Tensor& of) const { return alias(of, of.elements, of.layout); }
  Tensor alias(const Tensor& of, Count elements, Layout layout) const;
  // The output of a matrix product, which selective recomputation keeps.
  Tensor make_product(Count elements, std::uint8_t width, Layout layout = Layout::kPlain);

  // --- parameters and other leaves
  int add_parameter(Count elements, std::uint8_t width, bool trainable);
  int add_parameter(Tensor value, bool trainable);
  Tensor parameter(int leaf) const;
  Tensor& gradient(int leaf) { return leaves_[static_cast<std::size_t>(leaf)].gradient; }
  void set_gradient(int leaf, Tensor gradient);
  void drop_gradients();
  void drop_temporary_leaves() { leaves_.resize(static_cast<std::size_t>(parameters_)); }
  // Call it after a micro-batch: further gradients are added in place.
  void settle_gradients();
  int parameters() const { return parameters_; }
  bool trainable(int leaf) const { return leaves_[static_cast<std::size_t>(leaf)].trainable; }
  // Gradients of this parameter are consumed when they arrive (optimizer in backward).
  void consume_gradient(int leaf) { leaves_[static_cast<std::size_t>(leaf)].consumed = true; }
  // Requires the gradient of an activation, as enable_input_require_grads() does for adapters with checkpointing.
  void require_gradient(Tensor& tensor);

  // --- the tape
  // Saves tensors for the operation's node, which record() adds. Null and empty entries are ignored.
  void keep(std::initializer_list<const Tensor*> tensors) { keep(std::span(tensors.begin(), tensors.size())); }
  void keep(std::span<const Tensor* const> tensors);
  void record(Backward function, const OpState& state, std::initializer_list<const Tensor*> inputs,
              std::initializer_list<Tensor*> outputs);
  // torch.utils.checkpoint (not reentrant) of one segment.
  Tensor checkpoint(Segment& segment, int index, std::span<const Tensor> inputs);
  // Gives `result` (a loss, or the output of a pipeline stage) its gradient, and returns the gradient.
  Tensor seed_gradient(const Tensor& result);
  // Runs the backward pass from there to the start of the tape.
  void run_backward() { backward(0, false); }

  // --- modes
  bool autocast = false;  // cast 32-bit operands of matrix products to 16 bits
  bool grad_enabled = true;
  bool keep_products = false;          // selective recomputation: a checkpoint keeps the outputs of matrix products
  int keep_every_product = 1;          // or every n-th of them
  std::uint8_t saved_input_width = 0;  // fp8: linear layers save their input in this width; 0: in its own
  bool single_sample = false;          // in a batch of one, some copies are views
  int multiprocessors = 132;           // of the GPU; the scratch of row sums grows with them
  Tensor cast_for_product(Tensor tensor, bool cached = true);
  void forget_casts();

  // --- position
  void enter(TrainPhase phase);
  void enter(Zone zone, int layer);
  void set_part(Part part) { part_ = part; }
  Part part() const { return part_; }
  void set_watcher(LayerWatcher* watcher) { watcher_ = watcher; }
  void retag(const Tensor& tensor, Part part);
  // Moves the saved tensors of a layer to host memory. They come back when the backward pass reaches the layer.
  void offload_saved(int layer);

  // --- results
  const LiveBytes& live() const { return live_; }
  const LiveBytes& peak() const { return peak_; }
  Count peak_in(TrainPhase phase) const;
  Count peak_in(TrainPhase phase, Zone zone) const;
  void reset_peaks();
  // Adds bytes that were live during the whole phase.
  void raise_peaks(TrainPhase phase, Count bytes);
  bool out_of_memory() const { return out_of_memory_; }

 private:
  friend class Tensor;

  struct Storage {
    Count bytes = 0;
    Count id = 0;
    std::int32_t references = 0;
    CachingAllocator::Handle block = CachingAllocator::kNone;
    Part part = Part::kActivations;
    bool away = false;  // offloaded
  };
  struct Leaf {
    Tensor value, gradient, cast;
    bool trainable = false, temporary = false, consumed = false;
  };
  struct Edge {
    std::int32_t node = -1, leaf = -1;
    std::uint8_t output = 0, width = 0;
  };
  struct Node {
    Backward backward = nullptr;
    OpState state;
    std::uint32_t edges = 0, saved = 0, gradients = 0;  // first index of each in the recorder's lists
    std::uint8_t inputs = 0, outputs = 0, keeps = 0;
    Part part = Part::kActivations;
    Zone zone = Zone::kStart;
    std::int16_t layer = -1;
    std::int32_t checkpoint = -1;
  };
  struct Checkpoint {
    Segment* segment = nullptr;
    int index = 0;
    std::uint32_t inner_begin = 0;  // first node of the forward run; these nodes save nothing
    int keeps = 0;
    bool autocast = false;
    std::array<TensorFacts, kMostInputs> facts{};
    TensorArray held;
    std::uint8_t inputs = 0;
    std::int32_t first_leaf = 0;
    std::int32_t result_node = -1;
    std::uint8_t result_output = 0;
    std::vector<Tensor> products;
  };

  void release(std::int32_t storage);
  void free_storage(std::int32_t storage);
  std::int32_t new_storage(Count bytes, Part part);
  void put_on_device(Storage& storage, Count bytes);
  void take_off_device(Storage& storage);
  void note_peak();

  Node& add_node(std::size_t inputs, std::span<Tensor* const> outputs);
  void add_edge(const Tensor* input);
  // Calls `use` for the storage of every tensor that the node saves.
  template <class Use>
  void for_each_saved(const Node& node, const Use& use);
  bool has_gradient(const Node& node) const;
  void pop_node();
  void backward(std::size_t floor, bool stop_at_saved);
  void move_to(const Node& node);
  void run_node();
  void run_checkpoint();
  void recompute(Checkpoint& point);
  void hand_over_gradients(std::size_t from, std::size_t to);
  void deliver(const Edge& edge, Tensor gradient);
  void add_into(Tensor& slot);
  void bring_back(int layer);

  CachingAllocator* allocator_;
  std::vector<Storage> storages_;
  std::vector<std::int32_t> unused_;
  std::vector<Leaf> leaves_;
  int parameters_ = 0;

  std::vector<Node> nodes_;
  std::vector<Edge> edges_;
  std::vector<Tensor> saved_;
  std::vector<Tensor> gradients_;
  std::vector<Checkpoint> checkpoints_;
  std::size_t pending_saved_ = 0;  // saved tensors from here on belong to no node yet
  int pending_keeps_ = 0;

  // Checkpointing: the first run only counts what would be saved. The second run stops after that many, because
  // autograd then has everything it needs; allocations after that point are discarded.
  bool counting_ = false;
  int counted_ = 0;
  int still_needed_ = -1;
  bool discarding_ = false;
  std::vector<Tensor>* products_ = nullptr;
  std::size_t next_product_ = 0;
  int product_number_ = 0;
  std::vector<int> cast_leaves_;  // with a cast in Leaf::cast

  TrainPhase phase_ = TrainPhase::kForward;
  Zone zone_ = Zone::kStart;
  int layer_ = -1;
  Part part_ = Part::kActivations;
  LayerWatcher* watcher_ = nullptr;
  LiveBytes live_, peak_;
  bool offloads_ = false;      // some storage is in host memory
  bool peak_pending_ = false;  // peak_.total is newer than its parts
  std::array<std::array<Count, kZones>, kPhases> zone_peaks_{};
  Count* zone_peak_ = nullptr;
  bool out_of_memory_ = false;
  Count next_id_ = 0;
  std::vector<AllocationEvent>* events_ = nullptr;
};

inline Tensor::Tensor(const Tensor& other) : TensorFacts(other), recorder_(other.recorder_), storage_(other.storage_) {
  if (storage_ >= 0) ++recorder_->storages_[static_cast<std::size_t>(storage_)].references;
}
inline Tensor::Tensor(Tensor&& other) noexcept
    : TensorFacts(other), recorder_(other.recorder_), storage_(other.storage_) {
  other.recorder_ = nullptr;
  other.storage_ = -1;
}
inline void Tensor::reset() {
  if (storage_ >= 0) recorder_->release(storage_);
  recorder_ = nullptr;
  storage_ = -1;
}
inline Tensor& Tensor::operator=(const Tensor& other) { return *this = Tensor(other); }
inline Tensor& Tensor::operator=(Tensor&& other) noexcept {
  if (this == &other) return *this;
  reset();
  static_cast<TensorFacts&>(*this) = other;
  recorder_ = other.recorder_;
  storage_ = other.storage_;
  other.recorder_ = nullptr;
  other.storage_ = -1;
  return *this;
}
inline void Recorder::release(std::int32_t storage) {
  if (--storages_[static_cast<std::size_t>(storage)].references == 0) free_storage(storage);
}

}  // namespace rightsize::memory::tape
