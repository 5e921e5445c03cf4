// Writes a Forward: a family calls one function an operation, in the framework's order, and the lives of the C++ values
// it holds become the lives of the tensors.
//
//   Tracer f(shape);
//   Value x = f.embedding(kResidual, table, shape.hidden);
//   Value y = f.linear(q, x);              // x lives on: it was copied
//   y = f.activate(std::move(y), silu);    // the old y is handed over and ends inside the operation
//
// Values go in by value: pass a copy of what is still needed and move what is not, as Python's names would.
#pragma once

#include <initializer_list>
#include <span>
#include <utility>

#include "model/forward.h"
#include "model/model_shape.h"

namespace rightsize::model {

class Tracer;

// A reference-counted name of a value while the forward pass is written.
class Value {
 public:
  Value() = default;
  Value(const Value& other);
  Value(Value&& other) noexcept : tracer_(other.tracer_), id_(other.id_) { other.tracer_ = nullptr; }
  Value& operator=(Value other) noexcept {
    std::swap(tracer_, other.tracer_);
    std::swap(id_, other.id_);
    return *this;
  }
  ~Value() { reset(); }

  void reset();
  explicit operator bool() const { return tracer_ != nullptr; }
  const Size& size() const;
  std::int32_t id() const { return id_; }

 private:
  friend class Tracer;
  Value(Tracer* tracer, std::int32_t id) : tracer_(tracer), id_(id) {}
  Tracer* tracer_ = nullptr;
  std::int32_t id_ = kNoValue;
};

struct RotaryTables {
  Value cosine, sine;
};

class Tracer {
 public:
  explicit Tracer(ModelShape& shape) : shape_(shape) { forward_.programs.emplace_back(); }

  // The list; nothing may be traced after. Values that are still named live to the end of the pass.
  Forward finish(Value result);

  Forward& forward() { return forward_; }

  // --- programs and layers

  // A program of its own: inputs of these sizes, `body` their use.
  template <class Body>
  std::int32_t program(std::initializer_list<Size> inputs, const Body& body) {
    const std::int32_t outer = begin_program(inputs, false);
    {
      std::array<Value, 4> values = program_inputs();
      end_program(body(values));
    }
    return close_program(outer);
  }
  // How attention is written out: q, k and v come in and may end inside; the result, and probabilities that live on.
  template <class Body>
  std::int32_t written_attention(const Size& q, const Size& kv, const Body& body) {
    const std::int32_t outer = begin_program({q, kv, kv}, true);
    {
      std::array<Value, 4> values = program_inputs();
      auto [result, kept] = body(values);
      end_program(std::move(result), std::move(kept));
    }
    return close_program(outer);
  }

  std::int32_t add_stack(bool second = false);
  // The next layers of a stack: the block of weights that begins at `first`, one program an occurrence.
  void add_layers(std::int32_t stack, WeightRef first, std::vector<std::int32_t> programs);
  void add_layers(std::int32_t stack, WeightRef first, int count, std::int32_t program) {
    add_layers(stack, first, std::vector<std::int32_t>(static_cast<std::size_t>(count), program));
  }
  Value layers(std::int32_t stack, Value x, Value second = {}, Value third = {});
  // One checkpointed stretch; `repeat` of its weights' block.
  Value segment(std::int32_t program, int repeat, Value x, Value second = {});

  // --- places
  void start() { place(OpKind::kStart); }
  void end() { place(OpKind::kEnd); }
  void head() { place(OpKind::kHead); }
  // What `body` makes where the first layers are, and what is received from the stage before elsewhere.
  template <class Body>
  Value first_stage(const Body& body) {
    place(OpKind::kFirstStage);
    Value x = body();
    current().ops.push_back(ended(x));
    return x;
  }
  template <class Body>
  Value last_stage(Value x, const Body& body) {
    place(OpKind::kLastStage);
    current().ops.back().in[0] = look(x);
    Value y = body(std::move(x));
    current().ops.push_back(ended(y));
    return y;
  }
  void want_gradient(const Value& x);
  // Makes a value visible to every program, until release_shared().
  Value share(Value x);
  void release_shared() { place(OpKind::kReleaseShared); }
  Value input(const Size& size, Width width);

  // --- tensors without history
  Value make(const Size& size, Width width);
  Value make_like(const Size& size, const Value& like, Width width = Width::kAsIs);
  Value parameter(WeightRef weight);
  // A parameter repeated into `size` elements without a copy.
  Value parameter_as(WeightRef weight, const Size& size);
  Value embedding(const Size& rows, WeightRef table, std::int64_t width);

  // --- products
  // `reshaped`: the input had more than two dimensions, so that its gradient comes out of a view.
  Value linear(WeightRef weight, Value x, bool reshaped = true);
  Value convolution(WeightRef weight, Value x);
  // The same onto a grid of its own.
  Value convolution(WeightRef weight, Value x, const Size& positions);
  // Over time, with the kernel's columns along one axis.
  Value convolution_over_time(WeightRef weight, Value x, const Size& positions);
  // Batched, of two activations; `multiplies` counts its multiply-adds.
  Value product(Value a, Value b, const Size& size, const Size& multiplies);
  Value attention(Value q, Value k, Value v, const AttentionOp& how, Value bias = {});
  // The second value holds the probabilities where they are written out.
  std::pair<Value, Value> attention_keeping(Value q, Value k, Value v, const AttentionOp& how);
  Value experts(Value x, const ExpertsOp& how);
  // `x`: what the state is fed with and read by, side by side; `steps`: how far it decays, a number or two a head.
  Value scan(Value x, Value steps, const ScanOp& how);
  RotaryTables rotary_tables(std::int64_t dim, const Value& like);
  Value rotate(Value x, const RotaryTables& tables);
  Value relative_bias(WeightRef table, const Size& size);
  void probe_mask(const Size& size);
  // What `body` makes exists only where attention is written out.
  template <class Body>
  void unfused(const Body& body) {
    const std::size_t begin = current().ops.size();
    body();
    for (std::size_t i = begin; i < current().ops.size(); ++i) current().ops[i].unfused = true;
  }

  // --- elementwise
  Value norm(NormKind kind, WeightRef weight, Value x, const Size& rows);
  // `gate`: of a gated MLP, which fused kernels compute with the product.
  Value activate(Value x, Activation activation, bool gate = false);
  Value add(Value a, Value b, Width width = Width::kAsIs);
  Value add_in_place(Value a, Value b);
  Value add_constant(Value x) { return unary(OpKind::kAddConstant, std::move(x)); }
  Value scale(Value x) { return unary(OpKind::kScale, std::move(x)); }
  Value multiply(Value a, Value b);
  Value gate(Value activated, Value up, bool up_first = false);
  Value dropout(Value x, double p);
  Value masked_fill(Value x, Value mask);
  Value softmax(Value x, Width width);
  Value cast(Value x, Width width);
  Value cast_for_product(Value x) { return unary(OpKind::kCastForProduct, std::move(x)); }
  Value activate_in_place(Value x, Activation activation);

  // --- shapes
  Value split_heads(Value x) { return unary(OpKind::kSplitHeads, std::move(x)); }
  Value merge_heads(Value x) { return unary(OpKind::kMergeHeads, std::move(x)); }
  Value as_heads(Value x) { return unary(OpKind::kAsHeads, std::move(x)); }
  Value slice(Value x, const Size& size) { return resized(OpKind::kSlice, std::move(x), size); }
  Value select(Value x, const Size& size) { return resized(OpKind::kSelect, std::move(x), size); }
  std::array<Value, 3> split(Value x, const Size& a, const Size& b, const Size& c = {0, 0});
  std::array<Value, 2> halves(Value x);
  Value cat(Value a, Value b);
  // Saves `ids` where the gradient needs them.
  Value index(Value x, const Size& size, Value ids = {});
  Value expand(Value x, const Size& size, ExpandKind how = ExpandKind::kForProduct);
  Value copy(Value x, CopyKind how = CopyKind::kForward);
  Value view_copied_back(Value x) { return unary(OpKind::kViewCopiedBack, std::move(x)); }
  Value gather_rows(Value x);
  Value scatter_rows(Value x);
  Value max_pool(Value x, const Size& size) { return resized(OpKind::kMaxPool, std::move(x), size); }
  Value average_pool(Value x, const Size& size) { return resized(OpKind::kAveragePool, std::move(x), size); }

  // --- losses
  struct LanguageLoss {
    WeightRef weight, bias;
    bool causal = true;  // labels are shifted and logits go to 32 bits
    bool scaled_logits = false;
  };
  Value language_loss(Value x, const LanguageLoss& loss);
  Value class_loss(Value logits, const Size& rows);
  Value squared_loss(Value x);

 private:
  friend class Value;

  Program& current() { return forward_.programs[program_]; }
  std::int32_t begin_program(std::initializer_list<Size> inputs, bool owned);
  std::array<Value, 4> program_inputs();
  void end_program(Value result, Value kept = {});
  std::int32_t close_program(std::int32_t outer);
  void place(OpKind kind);
  Op ended(const Value& x) const;

  Value new_value(const Size& size);
  // Takes the operand out of `x`; `last` when no other name is left.
  Operand take(Value& x);
  Operand look(const Value& x) const { return {x ? x.id_ : kNoValue, false}; }
  Value emit(Op op, const Size& size);
  Value unary(OpKind kind, Value x);
  Value resized(OpKind kind, Value x, const Size& size);

  ModelShape& shape_;
  Forward forward_;
  std::size_t program_ = 0;
  bool finished_ = false;
  std::vector<std::vector<int>> references_{1};  // by program and value
  std::vector<Size> shared_sizes_;
};

}  // namespace rightsize::model
