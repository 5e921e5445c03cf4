#include "model/tracer.h"

#include <algorithm>

namespace rightsize::model {
namespace {

bool is_local(std::int32_t id) { return id >= 0 && id < kFirstShared; }

// The size of a linear layer's result. Tensor parallelism divides its columns or leaves them whole.
Size linear_size(const Weight& weight, const Size& x) {
  Size size = x;
  size.split = weight.split == Split::kColumns;
  // The input has this many rows of weight.cols elements.
  const std::int64_t rows = std::max<std::int64_t>(1, x.count * x.per / std::max<std::int64_t>(1, weight.cols));
  size.count = size.split ? weight.rows : 1;
  size.per = rows * (size.split ? 1 : weight.rows);
  return size;
}

}  // namespace

Value::Value(const Value& other) : tracer_(other.tracer_), id_(other.id_) {
  if (tracer_ && is_local(id_)) ++tracer_->references_[tracer_->program_][static_cast<std::size_t>(id_)];
}

void Value::reset() {
  if (tracer_ && !tracer_->finished_ && is_local(id_)) {
    int& left = tracer_->references_[tracer_->program_][static_cast<std::size_t>(id_)];
    if (--left == 0) tracer_->add({.kind = OpKind::kFree, .in = {Operand{id_, true}}});
  }
  tracer_ = nullptr;
}

const Size& Value::size() const {
  if (id_ >= kFirstInput) return tracer_->forward_.inputs[static_cast<std::size_t>(id_ - kFirstInput)].size;
  if (id_ >= kFirstShared) return tracer_->shared_sizes_[static_cast<std::size_t>(id_ - kFirstShared)];
  return tracer_->current().sizes[static_cast<std::size_t>(id_)];
}

// ---------------------------------------------------------------- programs

std::int32_t Tracer::begin_program(std::initializer_list<Size> inputs, bool owned) {
  const std::int32_t outer = static_cast<std::int32_t>(program_);
  program_ = forward_.programs.size();
  forward_.programs.emplace_back();
  current().owns_inputs = owned;
  references_.emplace_back();
  for (const Size& size : inputs) {
    current().inputs.push_back(static_cast<std::int32_t>(current().sizes.size()));
    current().sizes.push_back(size);
    references_[program_].push_back(0);
  }
  return outer;
}

std::array<Value, 4> Tracer::program_inputs() {
  std::array<Value, 4> values;
  for (std::size_t i = 0; i < current().inputs.size(); ++i) {
    const std::int32_t id = current().inputs[i];
    // One reference for the array, and one more that never ends if the caller keeps the input.
    references_[program_][static_cast<std::size_t>(id)] += current().owns_inputs ? 1 : 2;
    values[i] = Value(this, id);
  }
  return values;
}

void Tracer::end_program(Value result, Value kept) {
  current().results = {result ? result.id_ : kNoValue, kept ? kept.id_ : kNoValue};
  // Results outlive the program: the interpreter takes them.
  if (result && is_local(result.id_)) references_[program_][static_cast<std::size_t>(result.id_)] += 1;
  if (kept && is_local(kept.id_)) references_[program_][static_cast<std::size_t>(kept.id_)] += 1;
}

std::int32_t Tracer::close_program(std::int32_t outer) {
  const std::int32_t made = static_cast<std::int32_t>(program_);
  program_ = static_cast<std::size_t>(outer);
  return made;
}

Forward Tracer::finish(Value result) {
  end_program(std::move(result));
  finished_ = true;
  forward_.shared = static_cast<std::int32_t>(shared_sizes_.size());
  if (forward_.inputs.empty()) forward_.inputs.push_back({kTokens, Width::kLong});
  return std::move(forward_);
}

std::int32_t Tracer::add_stack(bool second) {
  forward_.stacks.push_back({{}, second});
  return static_cast<std::int32_t>(forward_.stacks.size() - 1);
}

void Tracer::add_layers(std::int32_t stack, WeightRef first, std::vector<std::int32_t> programs) {
  if (programs.empty()) return;
  forward_.stacks[static_cast<std::size_t>(stack)].runs.push_back({first.index, std::move(programs)});
}

Value Tracer::layers(std::int32_t stack, Value x, Value second, Value third) {
  const Size size = x.size();
  return emit({.kind = OpKind::kLayers, .aux = stack, .in = {take(x), take(second), take(third), Operand{}}}, size);
}

Value Tracer::segment(std::int32_t program, int repeat, Value x, Value second) {
  const Program& body = forward_.programs[static_cast<std::size_t>(program)];
  Op op{.kind = OpKind::kSegment, .aux = program};
  op.weight.repeat = static_cast<std::int32_t>(repeat);
  return binary(op, std::move(x), std::move(second), body.sizes[static_cast<std::size_t>(body.results[0])]);
}

// ---------------------------------------------------------------- places

Value Tracer::share(Value x) {
  const std::int32_t id = add_shared(x.size());
  // kMake with its flag moves the operand into the shared value.
  add({.kind = OpKind::kMake, .flag = true, .in = {take(x)}, .out = {id, kNoValue, kNoValue}});
  return Value(this, id);
}

std::int32_t Tracer::add_shared(const Size& size) {
  shared_sizes_.push_back(size);
  return static_cast<std::int32_t>(kFirstShared + static_cast<std::int32_t>(shared_sizes_.size()) - 1);
}

Value Tracer::input(const Size& size, Width width) {
  forward_.inputs.push_back({size, width});
  return Value(this, static_cast<std::int32_t>(kFirstInput + static_cast<std::int32_t>(forward_.inputs.size() - 1)));
}

// ---------------------------------------------------------------- values

Value Tracer::new_value(const Size& size) {
  const std::int32_t id = static_cast<std::int32_t>(current().sizes.size());
  current().sizes.push_back(size);
  references_[program_].push_back(1);
  return Value(this, id);
}

Operand Tracer::take(Value& x) {
  if (!x) return {};
  Operand operand{x.id_, false};
  if (is_local(x.id_)) {
    int& left = references_[program_][static_cast<std::size_t>(x.id_)];
    operand.last = --left == 0;
  }
  x.tracer_ = nullptr;
  return operand;
}

Value Tracer::emit(Op op, const Size& size) {
  Value result = new_value(size);
  op.out[0] = result.id_;
  add(op);
  return result;
}

Value Tracer::resized(Op op, Value x, const Size& size) {
  op.in[0] = take(x);
  return emit(op, size);
}

Value Tracer::unary(Op op, Value x) {
  const Size size = x.size();
  return resized(op, std::move(x), size);
}

Value Tracer::binary(Op op, Value a, Value b, const Size& size) {
  op.in[0] = take(a);
  op.in[1] = take(b);
  return emit(op, size);
}

Value Tracer::elementwise(Op op, Value a, Value b) {
  const Size size = a.size().each() >= b.size().each() ? a.size() : b.size();
  return binary(op, std::move(a), std::move(b), size);
}

Value Tracer::parameter(WeightRef weight) {
  if (!weight) return {};
  return emit({.kind = OpKind::kParameter, .weight = weight}, kOnce.times(at(weight).rows * at(weight).cols));
}

// ---------------------------------------------------------------- products

Value Tracer::linear(WeightRef weight, Value x, bool reshaped) {
  if (!weight) return x;  // a model without this matrix
  const Size size = linear_size(at(weight), x.size());
  return resized({.kind = OpKind::kLinear, .flag = reshaped, .weight = weight}, std::move(x), size);
}

Value Tracer::convolution(WeightRef weight, Value x) {
  const int scale = at(weight).scale;
  const std::int64_t side = scale > 0 ? (shape_.image_size + scale - 1) / scale : 1;
  return convolution(weight, std::move(x), kSamples.times(side * side));
}

Value Tracer::convolution(WeightRef weight, Value x, const Size& positions) {
  return resized({.kind = OpKind::kConvolution, .weight = weight}, std::move(x), positions.times(at(weight).rows));
}

Value Tracer::convolution_over_time(WeightRef weight, Value x, const Size& positions) {
  const std::int64_t rows = at(weight).rows;
  return resized({.kind = OpKind::kConvolution, .flag = true, .weight = weight}, std::move(x),
                 at(weight).split == Split::kColumns ? positions.split_into(rows, 1) : positions.times(rows));
}

Value Tracer::attention(Value q, Value k, Value v, const AttentionOp& how, Value bias) {
  Size size = q.size();
  if (how.value_dim != how.head_dim) size = size.divided(how.head_dim).times(how.value_dim);
  return emit({.kind = OpKind::kAttention,
               .aux = added(forward_.attentions, how),
               .in = {take(q), take(k), take(v), take(bias)}},
              size);
}

std::pair<Value, Value> Tracer::attention_keeping(Value q, Value k, Value v, const AttentionOp& how) {
  Value out = attention(std::move(q), std::move(k), std::move(v), how);
  Value kept = new_value(kOnce);
  current().ops.back().out[1] = kept.id_;
  return {std::move(out), std::move(kept)};
}

Value Tracer::experts(Value x, const ExpertsOp& how) {
  return unary({.kind = OpKind::kExperts, .aux = added(forward_.experts, how)}, std::move(x));
}

Value Tracer::scan(Value x, Value steps, const ScanOp& how) {
  return binary({.kind = OpKind::kScan, .aux = added(forward_.scans, how)}, std::move(x), std::move(steps),
                kTokens.split_into(how.heads, how.head_dim));
}

RotaryTables Tracer::rotary_tables(std::int64_t dim, const Value& like) {
  const Size size = kPositions.times(dim);
  const std::int32_t cosine = add_shared(size), sine = add_shared(size);
  add({.kind = OpKind::kRotaryTables, .in = {look(like)}, .out = {cosine, sine, kNoValue}, .rows = size});
  return {Value(this, cosine), Value(this, sine)};
}

Value Tracer::rotate(Value x, const RotaryTables& tables) {
  if (!tables.cosine) return x;
  return unary({.kind = OpKind::kRotate, .in = {Operand{}, look(tables.cosine), look(tables.sine)}}, std::move(x));
}

// ---------------------------------------------------------------- elementwise

Value Tracer::gate(Value activated, Value up, bool up_first) {
  Op op{.kind = OpKind::kMultiply, .flag = true, .aux = up_first ? 1 : 0};  // aux: the operand that is the gate
  return up_first ? elementwise(op, std::move(up), std::move(activated))
                  : elementwise(op, std::move(activated), std::move(up));
}

Value Tracer::dropout(Value x, double p) {
  if (!(p > 0)) return x;
  return unary({.kind = OpKind::kDropout, .p = p}, std::move(x));
}

Value Tracer::masked_fill(Value x, Value mask) {
  const Size size = x.size();
  return binary({OpKind::kMaskedFill}, std::move(x), std::move(mask), size);
}

// ---------------------------------------------------------------- shapes

std::array<Value, 3> Tracer::split(Value x, const Size& a, const Size& b, const Size& c) {
  Op op{.kind = OpKind::kSplit, .in = {take(x)}};
  std::array<Value, 3> parts = {new_value(a), new_value(b), new_value(c)};
  for (std::size_t i = 0; i < 3; ++i) op.out[i] = parts[i].id_;
  add(op);
  return parts;
}

std::array<Value, 2> Tracer::halves(Value x) {
  const Size half = x.size().divided(2);
  Op op{.kind = OpKind::kSplit, .flag = true, .in = {take(x)}};
  std::array<Value, 2> parts = {new_value(half), new_value(half)};
  for (std::size_t i = 0; i < 2; ++i) op.out[i] = parts[i].id_;
  add(op);
  return parts;
}

Value Tracer::cat(Value a, Value b) {
  Size size = a.size();
  const Size& other = b.size();
  if (size.count == other.count) {
    size.per += other.per;
  } else {
    size.per = size.count * size.per + other.count * other.per;
    size.count = 1;
  }
  return binary({OpKind::kCat}, std::move(a), std::move(b), size);
}

Value Tracer::gather_rows(Value x) {
  if (!x.size().residual) return x;  // a family without sequence parallelism
  Size size = x.size();
  size.residual = false;
  return resized({OpKind::kGatherRows}, std::move(x), size);
}

Value Tracer::scatter_rows(Value x) {
  Size size = x.size();
  size.residual = true;
  return resized({OpKind::kScatterRows}, std::move(x), size);
}

}  // namespace rightsize::model
