#include "memory/tape/model_run.h"

#include <algorithm>
#include <utility>

namespace rightsize::memory::tape {

using model::Op;
using model::OpKind;
using model::WeightRef;
using model::Width;

ModelRun::ModelRun(Recorder& recorder, const model::ModelShape& shape, const GpuPlan& plan)
    : recorder_(recorder), shape_(shape), forward_(*shape.forward), plan_(plan), weights_(recorder, shape, plan) {
  shared_.resize(static_cast<std::size_t>(forward_.shared));
  place_layers();
}

// Finds the program of each layer on this GPU by the block of weights that the layer repeats.
void ModelRun::place_layers() {
  for (const model::LayerStack& stack : forward_.stacks) {
    stack_begin_.push_back(stretches_.size());
    for (const GpuLayer& layer : weights_.layers()) {
      for (const model::LayerRun& run : stack.runs) {
        if (static_cast<std::size_t>(run.weight) != layer.begin) continue;
        stretches_.push_back({run.programs[static_cast<std::size_t>(layer.repeat)], layer.repeat});
      }
    }
  }
  stack_begin_.push_back(stretches_.size());
}

void ModelRun::make_inputs() {
  for (const model::Input& input : forward_.inputs)
    inputs_.push_back(recorder_.make(evaluate(input.size), bytes_of(input.width, {}), Layout::kPlain, Part::kBuffers));
}

Tensor ModelRun::forward() {
  recorder_.enter(Zone::kStart, -1);
  recorder_.set_part(Part::kActivations);
  next_stretch_ = stack_begin_.back();
  return std::move(run_program(0, 0, {})[0]);
}

// ---------------------------------------------------------------- programs and values

Count ModelRun::evaluate(const model::Size& size) const {
  Count rows = 1;
  for (int i = 0; i < size.batch; ++i) rows *= plan_.batch;
  for (int i = 0; i < size.tokens; ++i) rows *= plan_.tokens;
  for (int i = 0; i < size.keys; ++i) rows *= plan_.all_tokens;
  if (size.residual && plan_.sequence_split) rows /= plan_.tensor;
  const Count count =
      size.split ? std::max<Count>(1, (size.count + plan_.tensor - 1) / plan_.tensor) : Count{size.count};
  return rows * count * size.per;
}

Count ModelRun::elements(const Frame& frame, const Op& op, std::size_t result) const {
  const std::int32_t value = op.out[result];
  if (value < 0 || value >= model::kFirstShared) return 0;
  return evaluate(frame.program.sizes[static_cast<std::size_t>(value)]);
}

std::uint8_t ModelRun::bytes_of(Width width, const Tensor& like) const {
  switch (width) {
    case Width::kByte:
      return kByte;
    case Width::kHalf:
      return kHalf;
    case Width::kSingle:
      return kSingle;
    case Width::kLong:
      return kLong;
    case Width::kStored:
      return plan_.width;
    case Width::kProduct:
      return recorder_.autocast ? kHalf : plan_.width;
    case Width::kAsIs:
      break;
  }
  return like.width;
}

Tensor& ModelRun::slot(Frame& frame, std::int32_t value) {
  if (value >= model::kFirstInput) return inputs_[static_cast<std::size_t>(value - model::kFirstInput)];
  if (value >= model::kFirstShared) return shared_[static_cast<std::size_t>(value - model::kFirstShared)];
  return frame.values[static_cast<std::size_t>(value)];
}

Tensor ModelRun::take(Frame& frame, const Op& op, std::size_t input) {
  const model::Operand& operand = op.in[input];
  if (!operand) return {};
  Tensor& held = slot(frame, operand.value);
  return operand.last ? std::move(held) : held;
}

Linear ModelRun::linear_of(const Frame& frame, WeightRef ref) const {
  if (!ref) return {};
  return weights_.linear_at(static_cast<std::size_t>(ref.index),
                            ref.repeat == WeightRef::kOfLayer ? frame.repeat : ref.repeat);
}

TensorArray ModelRun::run_program(int number, int repeat, std::span<Tensor> inputs) {
  const model::Program& program = forward_.programs[static_cast<std::size_t>(number)];
  Frame frame{program, {}, repeat};
  frame.values.resize(program.sizes.size());
  for (std::size_t i = 0; i < program.inputs.size() && i < inputs.size(); ++i) {
    Tensor& value = frame.values[static_cast<std::size_t>(program.inputs[i])];
    value = program.owns_inputs ? std::move(inputs[i]) : inputs[i];
  }
  for (std::size_t i = 0; i < program.ops.size(); ++i) {
    const Op& op = program.ops[i];
    const bool skipped =
        (op.kind == OpKind::kFirstStage && !plan_.first_stage) || (op.kind == OpKind::kLastStage && !plan_.last_stage);
    if (skipped) {
      i = skip_stage(frame, i);
    } else if (!op.unfused || !runs_fused_attention()) {
      run(frame, op);
    }
  }
  TensorArray results;
  for (std::size_t i = 0; i < program.results.size(); ++i) {
    if (program.results[i] != model::kNoValue) results[i] = std::move(slot(frame, program.results[i]));
  }
  return results;
}

std::size_t ModelRun::skip_stage(Frame& frame, std::size_t begin) {
  const std::vector<Op>& ops = frame.program.ops;
  std::size_t end = begin;
  while (ops[end].kind != OpKind::kEndStage) ++end;
  Tensor passed = ops[begin].kind == OpKind::kFirstStage ? received() : std::move(slot(frame, ops[begin].in[0].value));
  slot(frame, ops[end].in[0].value) = std::move(passed);
  return end;
}

Tensor ModelRun::run_segment(int index, std::span<Tensor> inputs) {
  const Stretch stretch = stretches_[static_cast<std::size_t>(index)];
  return std::move(run_program(stretch.program, stretch.repeat, inputs)[0]);
}

Tensor ModelRun::run_stretch(int index, std::span<Tensor> inputs) {
  return plan_.checkpoints() ? recorder_.checkpoint(*this, index, inputs) : run_segment(index, inputs);
}

Tensor ModelRun::run_stack(Frame& frame, const Op& op) {
  const std::size_t stack = static_cast<std::size_t>(op.aux);
  const int first = static_cast<int>(stack_begin_[stack]), count = static_cast<int>(stack_begin_[stack + 1]) - first;
  const bool second = forward_.stacks[stack].second;
  Tensor x = take(frame, op, 0);
  std::array<Tensor, 2> others;
  std::size_t inputs_count = 1;
  for (std::size_t i = 1; i <= others.size(); ++i) {
    if (op.in[i]) others[inputs_count++ - 1] = take(frame, op, i);
  }
  for (int i = 0; i < count; ++i) {
    const int index = first + i;
    const Zone zone = i == 0           ? (second ? Zone::kSecondFirst : Zone::kFirst)
                      : i + 1 == count ? (second ? Zone::kSecondLast : Zone::kLast)
                                       : (second ? Zone::kSecondMiddle : Zone::kMiddle);
    recorder_.enter(zone, index);
    if (hooks_) hooks_->before_layer(index);
    TensorArray inputs;
    inputs[0] = x;
    for (std::size_t k = 1; k < inputs_count; ++k) inputs[k] = others[k - 1];
    x = run_stretch(index, std::span(inputs.data(), inputs_count));
    if (hooks_) hooks_->after_layer(index);
    // The previous layer is finished, and its transfers overlapped with one layer.
    if (plan_.offload_activations && i > 0) recorder_.offload_saved(index - 1);
  }
  recorder_.enter(Zone::kEnd, -1);
  return x;
}

void ModelRun::release_shared() {
  for (Tensor& tensor : shared_) tensor.reset();
}

Tensor ModelRun::received() {
  Tensor x = recorder_.make(plan_.residual_rows() * shape_.hidden, plan_.autocast ? kHalf : plan_.width);
  recorder_.require_gradient(x);
  return x;
}

void ModelRun::enter_head() {
  recorder_.enter(Zone::kEnd, -1);
  recorder_.set_part(Part::kLogits);
  if (hooks_) hooks_->before_head();
}

// ---------------------------------------------------------------- operations

void ModelRun::run(Frame& frame, const Op& op) {
  const bool place = op.kind < OpKind::kMake || op.kind == OpKind::kRotaryTables || op.kind == OpKind::kProbeMask;
  if (place) return run_place(frame, op);
  if (op.kind == OpKind::kSplit) {
    Tensor x = take(frame, op, 0);
    if (op.flag) {
      auto parts = split2(std::move(x));
      for (std::size_t i = 0; i < 2; ++i) slot(frame, op.out[i]) = std::move(parts[i]);
    } else {
      auto parts = split3(std::move(x), elements(frame, op, 0), elements(frame, op, 1), elements(frame, op, 2));
      for (std::size_t i = 0; i < 3; ++i) slot(frame, op.out[i]) = std::move(parts[i]);
    }
    return;
  }
  const bool shape = op.kind >= OpKind::kSplitHeads && op.kind < OpKind::kLanguageLoss;
  const bool elementwise = op.kind == OpKind::kRotate || (op.kind > OpKind::kNorm && op.kind < OpKind::kSplitHeads);
  Tensor made = shape ? reshape(frame, op) : elementwise ? combine(frame, op) : compute(frame, op);
  slot(frame, op.out[0]) = std::move(made);
}

Tensor ModelRun::compute(Frame& frame, const Op& op) {
  Tensor x = take(frame, op, 0);
  const Count n = elements(frame, op, 0);
  switch (op.kind) {
    case OpKind::kMake:
      return op.flag ? std::move(x) : recorder_.make(n, bytes_of(op.width, x));
    case OpKind::kParameter: {
      Tensor value = parameter(linear_of(frame, op.weight).weight);
      if (!op.flag) return value;
      Tensor repeated = recorder_.alias(value, n, Layout::kPlain);
      repeated.width = plan_.width;
      return repeated;
    }
    case OpKind::kEmbedding: {
      const Count width = shape_.weights[static_cast<std::size_t>(op.weight.index)].cols;
      return (plan_.compiled ? compiled_embedding : embedding)(n / width, parameter(linear_of(frame, op.weight).weight),
                                                               width);
    }
    case OpKind::kLinear:
      return apply(linear_of(frame, op.weight), std::move(x), op.flag);
    case OpKind::kConvolution:
      return convolve(frame, op, std::move(x), n);
    case OpKind::kProduct:
      return batched_product(std::move(x), take(frame, op, 1), n);
    case OpKind::kAttention:
      return attend(frame, op, std::move(x));
    case OpKind::kExperts:
      return route(frame, forward_.experts[static_cast<std::size_t>(op.aux)], std::move(x));
    case OpKind::kScan: {
      const model::ScanOp& how = forward_.scans[static_cast<std::size_t>(op.aux)];
      const Count heads = (how.heads + plan_.tensor - 1) / plan_.tensor;
      const Count chunks = plan_.batch * ((plan_.tokens + how.chunk - 1) / how.chunk);
      return scan(std::move(x), take(frame, op, 1), n, chunks * heads * how.head_dim * how.state);
    }
    case OpKind::kRelativeBias:
      return relative_bias(parameter(linear_of(frame, op.weight).weight), n, plan_.tokens);
    case OpKind::kNorm:
      return normalize(frame, op, std::move(x));
    case OpKind::kLanguageLoss:
      return language_loss(frame, op, std::move(x));
    case OpKind::kClassLoss:
      return cross_entropy(std::move(x), evaluate(op.rows), false);
    default:
      return squared_loss(std::move(x));
  }
}

void ModelRun::run_place(Frame& frame, const Op& op) {
  switch (op.kind) {
    case OpKind::kFree:
      slot(frame, op.in[0].value).reset();
      break;
    case OpKind::kStart:
      recorder_.enter(Zone::kStart, -1);
      break;
    case OpKind::kEnd:
      recorder_.enter(Zone::kEnd, -1);
      break;
    case OpKind::kHead:
      enter_head();
      break;
    case OpKind::kWantGradient:
      // Adapters with checkpointing need a gradient of the embeddings; otherwise no gradient reaches the layers.
      if (plan_.lora_rank > 0 && plan_.checkpoints()) recorder_.require_gradient(slot(frame, op.in[0].value));
      break;
    case OpKind::kLayers: {
      Tensor x = run_stack(frame, op);
      slot(frame, op.out[0]) = std::move(x);
      break;
    }
    case OpKind::kSegment: {
      const int index = static_cast<int>(next_stretch_);
      if (next_stretch_++ == stretches_.size()) stretches_.push_back({op.aux, op.weight.repeat});
      recorder_.enter(Zone::kMiddle, index);
      TensorArray inputs;
      inputs[0] = take(frame, op, 0);
      inputs[1] = take(frame, op, 1);
      Tensor x = run_stretch(index, std::span(inputs.data(), inputs[1] ? 2U : 1U));
      slot(frame, op.out[0]) = std::move(x);
      break;
    }
    case OpKind::kReleaseShared:
      // Checkpoints still need the shared values; the first layer's backward pass frees them.
      if (!plan_.checkpoints()) release_shared();
      break;
    case OpKind::kRotaryTables: {
      const Count rows = plan_.tokens;
      Rotary tables = rotary_tables(recorder_, rows, evaluate(op.rows) / rows, slot(frame, op.in[0].value).width);
      slot(frame, op.out[0]) = std::move(tables.cosine);
      slot(frame, op.out[1]) = std::move(tables.sine);
      break;
    }
    case OpKind::kProbeMask:
      probe_mask(recorder_, evaluate(op.rows));
      break;
    default:  // markers of stages on this GPU
      break;
  }
}

Tensor ModelRun::combine(Frame& frame, const Op& op) {
  Tensor x = take(frame, op, 0);
  switch (op.kind) {
    case OpKind::kRotate:
      if (plan_.compiled) return compiled_rotate(std::move(x));
      return rotate(std::move(x), slot(frame, op.in[1].value), slot(frame, op.in[2].value));
    case OpKind::kActivate:
      return activate(op, std::move(x));
    case OpKind::kAdd: {
      const std::uint8_t width = op.width == Width::kAsIs ? std::uint8_t{0} : bytes_of(op.width, {});
      return add(std::move(x), take(frame, op, 1), width);
    }
    case OpKind::kAddInPlace:
      return add_in_place(std::move(x), take(frame, op, 1));
    case OpKind::kAddConstant:
      return add_constant(std::move(x));
    case OpKind::kScale:
      return multiply_constant(std::move(x));
    case OpKind::kMultiply: {
      Tensor y = take(frame, op, 1);
      if (!op.flag || !plan_.fused_kernels) return multiply(std::move(x), std::move(y));
      return op.aux == 0 ? fused_gate(std::move(x), std::move(y)) : fused_gate(std::move(y), std::move(x));
    }
    case OpKind::kDropout:
      if (plan_.compiled) return x;  // recomputed from its seed
      return dropout(std::move(x), op.p);
    case OpKind::kMaskedFill:
      return masked_fill(std::move(x), take(frame, op, 1));
    case OpKind::kSoftmax: {
      const std::uint8_t width = bytes_of(op.width, x);
      return softmax(std::move(x), width);
    }
    case OpKind::kCast: {
      const std::uint8_t width = bytes_of(op.width, x);
      return cast(std::move(x), width);
    }
    default:
      return recorder_.cast_for_product(std::move(x));
  }
}

Tensor ModelRun::reshape(Frame& frame, const Op& op) {
  Tensor x = take(frame, op, 0);
  const Count n = elements(frame, op, 0);
  switch (op.kind) {
    case OpKind::kSplitHeads:
      return split_heads(std::move(x));
    case OpKind::kAsHeads:
      x.layout = Layout::kHeads;
      return x;
    case OpKind::kSlice:
      return slice(std::move(x), n);
    case OpKind::kSelect:
      return select(std::move(x), n);
    case OpKind::kCat:
      return cat(std::move(x), take(frame, op, 1));
    case OpKind::kIndex:
      return index(std::move(x), n, take(frame, op, 1));
    case OpKind::kExpand:
      return expand_copy(std::move(x), n, static_cast<Expand>(op.expand));
    case OpKind::kCopy:
      if (op.copy == model::CopyKind::kForward) return copy(std::move(x));
      if (op.copy == model::CopyKind::kBothWays) return copy_both_ways(std::move(x));
      return copy_per_head(std::move(x), op.copy == model::CopyKind::kPerHeadViewBack);
    case OpKind::kViewCopiedBack:
      return view_copied_back(std::move(x));
    case OpKind::kGatherRows:
      return gather(std::move(x));
    case OpKind::kScatterRows:
      return scatter(std::move(x));
    case OpKind::kMaxPool:
      return max_pool(std::move(x), n);
    default:
      return average_pool(std::move(x), n);
  }
}

}  // namespace rightsize::memory::tape
