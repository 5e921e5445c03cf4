#include "model/tracer.h"

#include <algorithm>

namespace rightsize::model {
namespace {

bool is_local(std::int32_t id) { return id >= 0 && id < kFirstShared; }

// What a linear layer makes of `x`: columns that are divided, or whole ones.
Size linear_size(const Weight& weight, const Size& x) {
  Size size = x;
  size.split = weight.split == Split::kColumns;
  // Rows are what the input has beyond the columns it is multiplied by.
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
    if (--left == 0) {
      Op op;
      op.kind = OpKind::kFree;
      op.in[0] = {id_, true};
      tracer_->current().ops.push_back(op);
    }
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
    // One for the array, and one that never ends where the caller keeps its own.
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
  Op op;
  op.kind = OpKind::kLayers;
  op.aux = stack;
  const Size size = x.size();
  op.in = {take(x), take(second), take(third), Operand{}};
  return emit(op, size);
}

Value Tracer::segment(std::int32_t program, int repeat, Value x, Value second) {
  Op op;
  op.kind = OpKind::kSegment;
  op.aux = program;
  op.weight.repeat = static_cast<std::int32_t>(repeat);
  op.in = {take(x), take(second), Operand{}, Operand{}};
  const Program& body = forward_.programs[static_cast<std::size_t>(program)];
  return emit(op, body.sizes[static_cast<std::size_t>(body.results[0])]);
}

// ---------------------------------------------------------------- places

void Tracer::place(OpKind kind) {
  Op op;
  op.kind = kind;
  current().ops.push_back(op);
}

Op Tracer::ended(const Value& x) const {
  Op op;
  op.kind = OpKind::kEndStage;
  op.in[0] = look(x);
  return op;
}

void Tracer::want_gradient(const Value& x) {
  Op op;
  op.kind = OpKind::kWantGradient;
  op.in[0] = look(x);
  current().ops.push_back(op);
}

Value Tracer::share(Value x) {
  const std::int32_t id = static_cast<std::int32_t>(kFirstShared + static_cast<std::int32_t>(shared_sizes_.size()));
  shared_sizes_.push_back(x.size());
  Op op;
  op.kind = OpKind::kMake;
  op.flag = true;  // moves its operand into the shared value
  op.in[0] = take(x);
  op.out[0] = id;
  current().ops.push_back(op);
  return Value(this, id);
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
  current().ops.push_back(op);
  return result;
}

Value Tracer::unary(OpKind kind, Value x) {
  Op op;
  op.kind = kind;
  const Size size = x.size();
  op.in[0] = take(x);
  return emit(op, size);
}

Value Tracer::resized(OpKind kind, Value x, const Size& size) {
  Op op;
  op.kind = kind;
  op.in[0] = take(x);
  return emit(op, size);
}

Value Tracer::make(const Size& size, Width width) {
  Op op;
  op.kind = OpKind::kMake;
  op.width = width;
  return emit(op, size);
}

Value Tracer::make_like(const Size& size, const Value& like, Width width) {
  Op op;
  op.kind = OpKind::kMake;
  op.width = width;
  op.in[0] = look(like);
  return emit(op, size);
}

Value Tracer::parameter(WeightRef weight) {
  if (!weight) return {};
  Op op;
  op.kind = OpKind::kParameter;
  op.weight = weight;
  const Weight& found = shape_.weights[static_cast<std::size_t>(weight.index)];
  return emit(op, kOnce.times(found.rows * found.cols));
}

Value Tracer::parameter_as(WeightRef weight, const Size& size) {
  Op op;
  op.kind = OpKind::kParameter;
  op.weight = weight;
  op.flag = true;
  return emit(op, size);
}

Value Tracer::embedding(const Size& rows, WeightRef table, std::int64_t width) {
  Op op;
  op.kind = OpKind::kEmbedding;
  op.weight = table;
  return emit(op, rows.times(width));
}

// ---------------------------------------------------------------- products

Value Tracer::linear(WeightRef weight, Value x, bool reshaped) {
  if (!weight) return x;  // a model without this matrix
  Op op;
  op.kind = OpKind::kLinear;
  op.weight = weight;
  op.flag = reshaped;
  const Size size = linear_size(shape_.weights[static_cast<std::size_t>(weight.index)], x.size());
  op.in[0] = take(x);
  return emit(op, size);
}

Value Tracer::convolution(WeightRef weight, Value x) {
  const int scale = shape_.weights[static_cast<std::size_t>(weight.index)].scale;
  const std::int64_t side = scale > 0 ? (shape_.image_size + scale - 1) / scale : 1;
  return convolution(weight, std::move(x), kSamples.times(side * side));
}

Value Tracer::convolution(WeightRef weight, Value x, const Size& positions) {
  Op op;
  op.kind = OpKind::kConvolution;
  op.weight = weight;
  op.in[0] = take(x);
  return emit(op, positions.times(shape_.weights[static_cast<std::size_t>(weight.index)].rows));
}

Value Tracer::convolution_over_time(WeightRef weight, Value x, const Size& positions) {
  Op op;
  op.kind = OpKind::kConvolution;
  op.weight = weight;
  op.flag = true;
  op.in[0] = take(x);
  const Weight& w = shape_.weights[static_cast<std::size_t>(weight.index)];
  return emit(op, w.split == Split::kColumns ? positions.split_into(w.rows, 1) : positions.times(w.rows));
}

Value Tracer::product(Value a, Value b, const Size& size, const Size& multiplies) {
  Op op;
  op.kind = OpKind::kProduct;
  op.rows = multiplies;
  op.in[0] = take(a);
  op.in[1] = take(b);
  return emit(op, size);
}

Value Tracer::attention(Value q, Value k, Value v, const AttentionOp& how, Value bias) {
  Op op;
  op.kind = OpKind::kAttention;
  op.aux = static_cast<std::int32_t>(forward_.attentions.size());
  forward_.attentions.push_back(how);
  Size size = q.size();
  if (how.value_dim != how.head_dim) size = size.divided(how.head_dim).times(how.value_dim);
  op.in = {take(q), take(k), take(v), take(bias)};
  return emit(op, size);
}

std::pair<Value, Value> Tracer::attention_keeping(Value q, Value k, Value v, const AttentionOp& how) {
  Value out = attention(std::move(q), std::move(k), std::move(v), how);
  Value kept = new_value(kOnce);
  current().ops.back().out[1] = kept.id_;
  return {std::move(out), std::move(kept)};
}

Value Tracer::experts(Value x, const ExpertsOp& how) {
  Op op;
  op.kind = OpKind::kExperts;
  op.aux = static_cast<std::int32_t>(forward_.experts.size());
  forward_.experts.push_back(how);
  const Size size = x.size();
  op.in[0] = take(x);
  return emit(op, size);
}

Value Tracer::scan(Value x, Value steps, const ScanOp& how) {
  Op op;
  op.kind = OpKind::kScan;
  op.aux = static_cast<std::int32_t>(forward_.scans.size());
  forward_.scans.push_back(how);
  op.in = {take(x), take(steps)};
  return emit(op, kTokens.split_into(how.heads, how.head_dim));
}

RotaryTables Tracer::rotary_tables(std::int64_t dim, const Value& like) {
  Op op;
  op.kind = OpKind::kRotaryTables;
  op.rows = kPositions.times(dim);
  op.in[0] = look(like);
  RotaryTables tables;
  const std::int32_t id = static_cast<std::int32_t>(kFirstShared + static_cast<std::int32_t>(shared_sizes_.size()));
  op.out = {id, static_cast<std::int32_t>(id + 1), kNoValue};
  shared_sizes_.insert(shared_sizes_.end(), 2, op.rows);
  current().ops.push_back(op);
  tables.cosine = Value(this, id);
  tables.sine = Value(this, static_cast<std::int32_t>(id + 1));
  return tables;
}

Value Tracer::rotate(Value x, const RotaryTables& tables) {
  if (!tables.cosine) return x;
  Op op;
  op.kind = OpKind::kRotate;
  const Size size = x.size();
  op.in = {take(x), look(tables.cosine), look(tables.sine), Operand{}};
  return emit(op, size);
}

Value Tracer::relative_bias(WeightRef table, const Size& size) {
  Op op;
  op.kind = OpKind::kRelativeBias;
  op.weight = table;
  return emit(op, size);
}

void Tracer::probe_mask(const Size& size) {
  Op op;
  op.kind = OpKind::kProbeMask;
  op.rows = size;
  current().ops.push_back(op);
}

// ---------------------------------------------------------------- elementwise

Value Tracer::norm(NormKind kind, WeightRef weight, Value x, const Size& rows) {
  Op op;
  op.kind = OpKind::kNorm;
  op.norm = kind;
  op.weight = weight;
  op.rows = rows;
  const Size size = x.size();
  op.in[0] = take(x);
  return emit(op, size);
}

Value Tracer::activate(Value x, Activation activation, bool gate) {
  Op op;
  op.kind = OpKind::kActivate;
  op.activation = activation;
  op.flag = gate;
  const Size size = x.size();
  op.in[0] = take(x);
  return emit(op, size);
}

Value Tracer::activate_in_place(Value x, Activation activation) {
  Value y = activate(std::move(x), activation);
  current().ops.back().copy = CopyKind::kBothWays;  // in place
  return y;
}

Value Tracer::add(Value a, Value b, Width width) {
  Op op;
  op.kind = OpKind::kAdd;
  op.width = width;
  const Size size = a.size().each() >= b.size().each() ? a.size() : b.size();
  op.in[0] = take(a);
  op.in[1] = take(b);
  return emit(op, size);
}

Value Tracer::add_in_place(Value a, Value b) {
  Value y = add(std::move(a), std::move(b));
  current().ops.back().kind = OpKind::kAddInPlace;
  return y;
}

Value Tracer::multiply(Value a, Value b) {
  Value y = add(std::move(a), std::move(b));
  current().ops.back().kind = OpKind::kMultiply;
  return y;
}

Value Tracer::gate(Value activated, Value up, bool up_first) {
  Value y = up_first ? multiply(std::move(up), std::move(activated)) : multiply(std::move(activated), std::move(up));
  current().ops.back().flag = true;
  current().ops.back().aux = up_first ? 1 : 0;  // where the gate stands
  return y;
}

Value Tracer::dropout(Value x, double p) {
  if (!(p > 0)) return x;
  Value y = unary(OpKind::kDropout, std::move(x));
  current().ops.back().p = p;
  return y;
}

Value Tracer::masked_fill(Value x, Value mask) {
  Op op;
  op.kind = OpKind::kMaskedFill;
  const Size size = x.size();
  op.in[0] = take(x);
  op.in[1] = take(mask);
  return emit(op, size);
}

Value Tracer::softmax(Value x, Width width) {
  Value y = unary(OpKind::kSoftmax, std::move(x));
  current().ops.back().width = width;
  return y;
}

Value Tracer::cast(Value x, Width width) {
  Value y = unary(OpKind::kCast, std::move(x));
  current().ops.back().width = width;
  return y;
}

// ---------------------------------------------------------------- shapes

std::array<Value, 3> Tracer::split(Value x, const Size& a, const Size& b, const Size& c) {
  Op op;
  op.kind = OpKind::kSplit;
  op.in[0] = take(x);
  std::array<Value, 3> parts = {new_value(a), new_value(b), new_value(c)};
  for (std::size_t i = 0; i < 3; ++i) op.out[i] = parts[i].id_;
  current().ops.push_back(op);
  return parts;
}

std::array<Value, 2> Tracer::halves(Value x) {
  Op op;
  op.kind = OpKind::kSplit;
  op.flag = true;
  const Size half = x.size().divided(2);
  op.in[0] = take(x);
  std::array<Value, 2> parts = {new_value(half), new_value(half)};
  for (std::size_t i = 0; i < 2; ++i) op.out[i] = parts[i].id_;
  current().ops.push_back(op);
  return parts;
}

Value Tracer::cat(Value a, Value b) {
  Op op;
  op.kind = OpKind::kCat;
  Size size = a.size();
  const Size& other = b.size();
  if (size.count == other.count) {
    size.per += other.per;
  } else {
    size.per = size.count * size.per + other.count * other.per;
    size.count = 1;
  }
  op.in[0] = take(a);
  op.in[1] = take(b);
  return emit(op, size);
}

Value Tracer::index(Value x, const Size& size, Value ids) {
  Op op;
  op.kind = OpKind::kIndex;
  op.in[0] = take(x);
  op.in[1] = take(ids);
  return emit(op, size);
}

Value Tracer::expand(Value x, const Size& size, ExpandKind how) {
  Value y = resized(OpKind::kExpand, std::move(x), size);
  current().ops.back().expand = how;
  return y;
}

Value Tracer::copy(Value x, CopyKind how) {
  Value y = unary(OpKind::kCopy, std::move(x));
  current().ops.back().copy = how;
  return y;
}

Value Tracer::gather_rows(Value x) {
  if (!x.size().residual) return x;  // a family that knows no sequence parallelism
  Size size = x.size();
  size.residual = false;
  return resized(OpKind::kGatherRows, std::move(x), size);
}

Value Tracer::scatter_rows(Value x) {
  Size size = x.size();
  size.residual = true;
  return resized(OpKind::kScatterRows, std::move(x), size);
}

// ---------------------------------------------------------------- losses

Value Tracer::language_loss(Value x, const LanguageLoss& loss) {
  Op op;
  op.kind = OpKind::kLanguageLoss;
  op.weight = loss.weight;
  op.bias = loss.bias;
  op.flag = loss.causal;
  op.aux = loss.scaled_logits ? 1 : 0;
  op.in[0] = take(x);
  return emit(op, kOnce);
}

Value Tracer::class_loss(Value logits, const Size& rows) {
  Op op;
  op.kind = OpKind::kClassLoss;
  op.rows = rows;
  op.in[0] = take(logits);
  return emit(op, kOnce);
}

Value Tracer::squared_loss(Value x) { return resized(OpKind::kSquaredLoss, std::move(x), kOnce); }

}  // namespace rightsize::model
