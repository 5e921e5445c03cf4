// Writes a Forward: a family calls one function per operation, in the framework's order, and the lifetimes of its C++
// values become the lifetimes of the tensors.
//
//   Tracer f(shape);
//   Value x = f.embedding(kResidual, table, shape.hidden);
//   Value y = f.linear(q, x);              // x stays alive: it was copied
//   y = f.activate(std::move(y), silu);    // the operation releases the old y
//
// Values are passed by value: pass a copy of a value that is still needed, and move one that is not.
#pragma once

#include <initializer_list>
#include <span>
#include <utility>

#include "model/forward.h"
#include "model/model_shape.h"

namespace rightsize::model {

class Tracer;

// A reference-counted handle of a value while the forward pass is written.
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

  // Returns the forward pass; trace nothing after it. Values that still have handles live to the end of the pass.
  Forward finish(Value result);

  Forward& forward() { return forward_; }

  // --- programs and layers

  // A separate program: `body` uses inputs of these sizes.
  template <class Body>
  std::int32_t program(std::initializer_list<Size> inputs, const Body& body) {
    const std::int32_t outer = begin_program(inputs, false);
    {
      std::array<Value, 4> values = program_inputs();
      end_program(body(values));
    }
    return close_program(outer);
  }
  // Attention as separate operations. `body` gets q, k and v, which may end inside, and returns the result and the
  // probabilities, which stay alive.
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
  // The next layers of a stack: one program per occurrence of the block of weights that begins at `first`.
  void add_layers(std::int32_t stack, WeightRef first, std::vector<std::int32_t> programs);
  void add_layers(std::int32_t stack, WeightRef first, int count, std::int32_t program) {
    add_layers(stack, first, std::vector<std::int32_t>(static_cast<std::size_t>(count), program));
  }
  Value layers(std::int32_t stack, Value x, Value second = {}, Value third = {});
  // One checkpointed segment that uses the repeat-th occurrence of its block of weights.
  Value segment(std::int32_t program, int repeat, Value x, Value second = {});

  // --- places
  void start() { add({OpKind::kStart}); }
  void end() { add({OpKind::kEnd}); }
  void head() { add({OpKind::kHead}); }
  // The result of `body` on the first pipeline stage; on other stages it is received from the previous stage.
  template <class Body>
  Value first_stage(const Body& body) {
    add({OpKind::kFirstStage});
    Value x = body();
    add({.kind = OpKind::kEndStage, .in = {look(x)}});
    return x;
  }
  template <class Body>
  Value last_stage(Value x, const Body& body) {
    add({.kind = OpKind::kLastStage, .in = {look(x)}});
    Value y = body(std::move(x));
    add({.kind = OpKind::kEndStage, .in = {look(y)}});
    return y;
  }
  void want_gradient(const Value& x) { add({.kind = OpKind::kWantGradient, .in = {look(x)}}); }
  // Makes a value visible to every program until release_shared().
  Value share(Value x);
  void release_shared() { add({OpKind::kReleaseShared}); }
  Value input(const Size& size, Width width);

  // --- tensors without history
  Value make(const Size& size, Width width) { return emit({.kind = OpKind::kMake, .width = width}, size); }
  // In the width of `like`.
  Value make_like(const Size& size, const Value& like) {
    return emit({.kind = OpKind::kMake, .in = {look(like)}}, size);
  }
  Value parameter(WeightRef weight);
  // A parameter repeated into `size` elements without a copy.
  Value parameter_as(WeightRef weight, const Size& size) {
    return emit({.kind = OpKind::kParameter, .flag = true, .weight = weight}, size);
  }
  Value embedding(const Size& rows, WeightRef table, std::int64_t width) {
    return emit({.kind = OpKind::kEmbedding, .weight = table}, rows.times(width));
  }

  // --- products
  // `reshaped`: the input has more than two dimensions, so its gradient is a view.
  Value linear(WeightRef weight, Value x, bool reshaped = true);
  Value convolution(WeightRef weight, Value x);
  // The same with an explicit output grid.
  Value convolution(WeightRef weight, Value x, const Size& positions);
  // Over time, with the kernel's columns along one axis.
  Value convolution_over_time(WeightRef weight, Value x, const Size& positions);
  // Batched, of two activations; `multiplies` counts its multiply-adds.
  Value product(Value a, Value b, const Size& size, const Size& multiplies) {
    return binary({.kind = OpKind::kProduct, .rows = multiplies}, std::move(a), std::move(b), size);
  }
  Value attention(Value q, Value k, Value v, const AttentionOp& how, Value bias = {});
  // The second value holds the probabilities if attention runs as separate operations.
  std::pair<Value, Value> attention_keeping(Value q, Value k, Value v, const AttentionOp& how);
  Value experts(Value x, const ExpertsOp& how);
  // `x`: the vectors that write and read the state, side by side; `steps`: its decay, one or two numbers per head.
  Value scan(Value x, Value steps, const ScanOp& how);
  RotaryTables rotary_tables(std::int64_t dim, const Value& like);
  Value rotate(Value x, const RotaryTables& tables);
  Value relative_bias(WeightRef table, const Size& size) {
    return emit({.kind = OpKind::kRelativeBias, .weight = table}, size);
  }
  void probe_mask(const Size& size) { add({.kind = OpKind::kProbeMask, .rows = size}); }
  // The values that `body` makes exist only if attention runs as separate operations.
  template <class Body>
  void unfused(const Body& body) {
    const std::size_t begin = current().ops.size();
    body();
    for (std::size_t i = begin; i < current().ops.size(); ++i) current().ops[i].unfused = true;
  }

  // --- elementwise
  Value norm(NormKind kind, WeightRef weight, Value x, const Size& rows) {
    return unary({.kind = OpKind::kNorm, .norm = kind, .weight = weight, .rows = rows}, std::move(x));
  }
  // `gate`: of a gated MLP, which fused kernels compute together with the product.
  Value activate(Value x, Activation activation, bool gate = false) {
    return unary({.kind = OpKind::kActivate, .activation = activation, .flag = gate}, std::move(x));
  }
  // CopyKind::kBothWays marks an activation in place.
  Value activate_in_place(Value x, Activation activation) {
    return unary({.kind = OpKind::kActivate, .activation = activation, .copy = CopyKind::kBothWays}, std::move(x));
  }
  Value add(Value a, Value b, Width width = Width::kAsIs) {
    return elementwise({.kind = OpKind::kAdd, .width = width}, std::move(a), std::move(b));
  }
  Value add_in_place(Value a, Value b) { return elementwise({OpKind::kAddInPlace}, std::move(a), std::move(b)); }
  Value add_constant(Value x) { return unary({OpKind::kAddConstant}, std::move(x)); }
  Value scale(Value x) { return unary({OpKind::kScale}, std::move(x)); }
  Value multiply(Value a, Value b) { return elementwise({OpKind::kMultiply}, std::move(a), std::move(b)); }
  Value gate(Value activated, Value up, bool up_first = false);
  Value dropout(Value x, double p);
  Value masked_fill(Value x, Value mask);
  Value softmax(Value x, Width width) { return unary({.kind = OpKind::kSoftmax, .width = width}, std::move(x)); }
  Value cast(Value x, Width width) { return unary({.kind = OpKind::kCast, .width = width}, std::move(x)); }
  Value cast_for_product(Value x) { return unary({OpKind::kCastForProduct}, std::move(x)); }

  // --- shapes
  Value split_heads(Value x) { return unary({OpKind::kSplitHeads}, std::move(x)); }
  Value as_heads(Value x) { return unary({OpKind::kAsHeads}, std::move(x)); }
  Value slice(Value x, const Size& size) { return resized({OpKind::kSlice}, std::move(x), size); }
  Value select(Value x, const Size& size) { return resized({OpKind::kSelect}, std::move(x), size); }
  std::array<Value, 3> split(Value x, const Size& a, const Size& b, const Size& c = {0, 0});
  std::array<Value, 2> halves(Value x);
  Value cat(Value a, Value b);
  // Saves `ids` if the gradient needs them.
  Value index(Value x, const Size& size, Value ids = {}) {
    return binary({OpKind::kIndex}, std::move(x), std::move(ids), size);
  }
  Value expand(Value x, const Size& size, ExpandKind how = ExpandKind::kForProduct) {
    return resized({.kind = OpKind::kExpand, .expand = how}, std::move(x), size);
  }
  Value copy(Value x, CopyKind how = CopyKind::kForward) {
    return unary({.kind = OpKind::kCopy, .copy = how}, std::move(x));
  }
  Value view_copied_back(Value x) { return unary({OpKind::kViewCopiedBack}, std::move(x)); }
  Value gather_rows(Value x);
  Value scatter_rows(Value x);
  Value max_pool(Value x, const Size& size) { return resized({OpKind::kMaxPool}, std::move(x), size); }
  Value average_pool(Value x, const Size& size) { return resized({OpKind::kAveragePool}, std::move(x), size); }

  // --- losses
  struct LanguageLoss {
    WeightRef weight, bias;
    bool causal = true;  // labels are shifted and logits cast to 32 bits
    bool scaled_logits = false;
  };
  Value language_loss(Value x, const LanguageLoss& loss) {
    return resized({.kind = OpKind::kLanguageLoss,
                    .flag = loss.causal,
                    .aux = loss.scaled_logits ? 1 : 0,
                    .weight = loss.weight,
                    .bias = loss.bias},
                   std::move(x), kOnce);
  }
  Value class_loss(Value logits, const Size& rows) {
    return resized({.kind = OpKind::kClassLoss, .rows = rows}, std::move(logits), kOnce);
  }
  Value squared_loss(Value x) { return resized({OpKind::kSquaredLoss}, std::move(x), kOnce); }

 private:
  friend class Value;

  Program& current() { return forward_.programs[program_]; }
  std::int32_t begin_program(std::initializer_list<Size> inputs, bool owned);
  std::array<Value, 4> program_inputs();
  void end_program(Value result, Value kept = {});
  std::int32_t close_program(std::int32_t outer);
  void add(const Op& op) { current().ops.push_back(op); }
  const Weight& at(WeightRef weight) const { return shape_.weights[static_cast<std::size_t>(weight.index)]; }
  // Adds to a list of the Forward that operations refer to by number.
  template <class T>
  static std::int32_t added(std::vector<T>& list, const T& entry) {
    list.push_back(entry);
    return static_cast<std::int32_t>(list.size() - 1);
  }
  std::int32_t add_shared(const Size& size);

  Value new_value(const Size& size);
  // Takes the operand out of `x`; this is the last use if no other name refers to the value.
  Operand take(Value& x);
  Operand look(const Value& x) const { return {x ? x.id_ : kNoValue, false}; }
  Value emit(Op op, const Size& size);
  Value resized(Op op, Value x, const Size& size);
  Value unary(Op op, Value x);
  Value binary(Op op, Value a, Value b, const Size& size);
  Value elementwise(Op op, Value a, Value b);

  ModelShape& shape_;
  Forward forward_;
  std::size_t program_ = 0;
  bool finished_ = false;
  std::vector<std::vector<int>> references_{1};  // by program and value
  std::vector<Size> shared_sizes_;
};

}  // namespace rightsize::model
