#include "memory/tape/model_run.h"

#include <algorithm>
#include <utility>

#include "memory/tape/ops_images.h"

namespace rightsize::memory::tape {

using model::Op;
using model::OpKind;
using model::WeightRef;
using model::Width;

ModelRun::ModelRun(Recorder& recorder, const model::ModelShape& shape, const Plan& plan)
    : recorder_(recorder), shape_(shape), forward_(*shape.forward), plan_(plan), weights_(recorder, shape, plan) {
  shared_.resize(static_cast<std::size_t>(forward_.shared));
  place_layers();
}

// Which program each layer on this GPU runs: by the block of weights it is an occurrence of.
void ModelRun::place_layers() {
  for (const model::LayerStack& stack : forward_.stacks) {
    stack_begin_.push_back(stretches_.size());
    for (const Layer& layer : weights_.layers()) {
      for (const model::LayerRun& run : stack.runs) {
        if (static_cast<std::size_t>(run.weight) != layer.begin) continue;
        stretches_.push_back({run.programs[static_cast<std::size_t>(layer.repeat)], layer.repeat});
      }
    }
  }
  stack_begin_.push_back(stretches_.size());
}

void ModelRun::make_inputs() {
  for (const model::Input& input : forward_.inputs) {
    inputs_.push_back(recorder_.make(evaluate(input.size), bytes_of(input.width, {}), Layout::kPlain, Part::kBuffers));
  }
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
    // The layer before is done with; its transfers had a layer's time.
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
  auto result = [&](Tensor made) { slot(frame, op.out[0]) = std::move(made); };
  auto elements = [&] { return evaluate(frame.program.sizes[static_cast<std::size_t>(op.out[0])]); };
  switch (op.kind) {
    case OpKind::kMake:
      if (op.flag) return result(take(frame, op, 0));
      return result(recorder_.make(elements(), bytes_of(op.width, take(frame, op, 0))));
    case OpKind::kParameter: {
      Tensor value = parameter(linear_of(frame, op.weight).weight);
      if (!op.flag) return result(std::move(value));
      Tensor repeated = recorder_.alias(value, elements(), Layout::kPlain);
      repeated.width = plan_.width;
      return result(std::move(repeated));
    }
    case OpKind::kEmbedding: {
      Tensor table = parameter(linear_of(frame, op.weight).weight);
      const model::Weight& weight = shape_.weights[static_cast<std::size_t>(op.weight.index)];
      const Count rows = elements() / weight.cols;
      return result(plan_.compiled ? compiled_embedding(rows, std::move(table), weight.cols)
                                   : embedding(rows, std::move(table), weight.cols));
    }
    case OpKind::kLinear:
      return result(apply(linear_of(frame, op.weight), take(frame, op, 0), op.flag));
    case OpKind::kConvolution:
      return result(convolve(frame, op, take(frame, op, 0), elements()));
    case OpKind::kProduct: {
      Tensor a = take(frame, op, 0), b = take(frame, op, 1);
      return result(batched_product(std::move(a), std::move(b), elements()));
    }
    case OpKind::kAttention:
      return result(attend(frame, op));
    case OpKind::kExperts:
      return result(route(frame, forward_.experts[static_cast<std::size_t>(op.aux)], take(frame, op, 0)));
    case OpKind::kScan: {
      const model::ScanOp& how = forward_.scans[static_cast<std::size_t>(op.aux)];
      const Count heads = (how.heads + plan_.tensor - 1) / plan_.tensor;
      const Count chunks = plan_.batch * ((plan_.tokens + how.chunk - 1) / how.chunk);
      Tensor x = take(frame, op, 0), steps = take(frame, op, 1);
      return result(scan(std::move(x), std::move(steps), elements(), chunks * heads * how.head_dim * how.state));
    }
    case OpKind::kRelativeBias:
      return result(relative_bias(parameter(linear_of(frame, op.weight).weight), elements(), plan_.tokens));
    case OpKind::kNorm:
      return result(normalize(frame, op, take(frame, op, 0)));
    case OpKind::kLanguageLoss:
      return result(language_loss(frame, op, take(frame, op, 0)));
    case OpKind::kClassLoss:
      return result(cross_entropy(take(frame, op, 0), evaluate(op.rows), false));
    case OpKind::kSquaredLoss:
      return result(squared_loss(take(frame, op, 0)));
    default:
      break;
  }
  if (op.kind < OpKind::kMake || op.kind == OpKind::kRotaryTables || op.kind == OpKind::kProbeMask) {
    run_place(frame, op);
  } else if (op.kind >= OpKind::kSplitHeads) {
    run_shape(frame, op);
  } else {
    run_elementwise(frame, op);
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
      // Adapters with checkpointing: the embeddings are asked for a gradient so that one reaches the layers.
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
      // Checkpoints still need what layers share; it goes with the first layer's backward pass.
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
    default:  // stage marks of stages that are here
      break;
  }
}

void ModelRun::run_elementwise(Frame& frame, const Op& op) {
  auto result = [&](Tensor made) { slot(frame, op.out[0]) = std::move(made); };
  switch (op.kind) {
    case OpKind::kRotate: {
      Tensor x = take(frame, op, 0);
      if (plan_.compiled) return result(compiled_rotate(std::move(x)));
      return result(rotate(std::move(x), slot(frame, op.in[1].value), slot(frame, op.in[2].value)));
    }
    case OpKind::kActivate:
      return result(activate(op, take(frame, op, 0)));
    case OpKind::kAdd: {
      Tensor a = take(frame, op, 0), b = take(frame, op, 1);
      return result(
          add(std::move(a), std::move(b), op.width == Width::kAsIs ? std::uint8_t{0} : bytes_of(op.width, {})));
    }
    case OpKind::kAddInPlace: {
      Tensor a = take(frame, op, 0), b = take(frame, op, 1);
      return result(add_in_place(std::move(a), std::move(b)));
    }
    case OpKind::kAddConstant:
      return result(add_constant(take(frame, op, 0)));
    case OpKind::kScale:
      return result(multiply_constant(take(frame, op, 0)));
    case OpKind::kMultiply: {
      Tensor a = take(frame, op, 0), b = take(frame, op, 1);
      if (!op.flag || !plan_.fused_kernels) return result(multiply(std::move(a), std::move(b)));
      return result(op.aux == 0 ? fused_gate(std::move(a), std::move(b)) : fused_gate(std::move(b), std::move(a)));
    }
    case OpKind::kDropout:
      if (plan_.compiled) return result(take(frame, op, 0));  // made again from its seed
      return result(dropout(take(frame, op, 0), op.p));
    case OpKind::kMaskedFill: {
      Tensor x = take(frame, op, 0), mask = take(frame, op, 1);
      return result(masked_fill(std::move(x), std::move(mask)));
    }
    case OpKind::kSoftmax: {
      Tensor x = take(frame, op, 0);
      const std::uint8_t width = bytes_of(op.width, x);
      return result(softmax(std::move(x), width));
    }
    case OpKind::kCast: {
      Tensor x = take(frame, op, 0);
      const std::uint8_t width = bytes_of(op.width, x);
      return result(cast(std::move(x), width));
    }
    default:
      return result(recorder_.cast_for_product(take(frame, op, 0)));
  }
}

void ModelRun::run_shape(Frame& frame, const Op& op) {
  auto result = [&](Tensor made) { slot(frame, op.out[0]) = std::move(made); };
  auto part = [&](std::size_t i) { return evaluate(frame.program.sizes[static_cast<std::size_t>(op.out[i])]); };
  Tensor x = take(frame, op, 0);
  switch (op.kind) {
    case OpKind::kSplitHeads:
      return result(split_heads(std::move(x)));
    case OpKind::kMergeHeads:
      return result(merge_heads(std::move(x)));
    case OpKind::kAsHeads:
      x.layout = Layout::kHeads;
      return result(std::move(x));
    case OpKind::kSlice:
      return result(slice(std::move(x), part(0)));
    case OpKind::kSelect:
      return result(select(std::move(x), part(0)));
    case OpKind::kSplit:
      if (op.flag) {
        auto parts = split2(std::move(x));
        for (std::size_t i = 0; i < 2; ++i) slot(frame, op.out[i]) = std::move(parts[i]);
      } else {
        auto parts = split3(std::move(x), part(0), part(1), part(2));
        for (std::size_t i = 0; i < 3; ++i) slot(frame, op.out[i]) = std::move(parts[i]);
      }
      return;
    case OpKind::kCat: {
      Tensor b = take(frame, op, 1);
      return result(cat(std::move(x), std::move(b)));
    }
    case OpKind::kIndex: {
      Tensor ids = take(frame, op, 1);
      return result(index(std::move(x), part(0), std::move(ids)));
    }
    case OpKind::kExpand:
      return result(expand_copy(std::move(x), part(0), static_cast<Expand>(op.expand)));
    case OpKind::kCopy:
      switch (op.copy) {
        case model::CopyKind::kForward:
          return result(copy(std::move(x)));
        case model::CopyKind::kBothWays:
          return result(copy_both_ways(std::move(x)));
        case model::CopyKind::kPerHead:
          return result(copy_per_head(std::move(x), false));
        case model::CopyKind::kPerHeadViewBack:
          return result(copy_per_head(std::move(x), true));
      }
      return;
    case OpKind::kViewCopiedBack:
      return result(view_copied_back(std::move(x)));
    case OpKind::kGatherRows:
      return result(gather(std::move(x)));
    case OpKind::kScatterRows:
      return result(scatter(std::move(x)));
    case OpKind::kMaxPool:
      return result(max_pool(std::move(x), part(0)));
    default:
      return result(average_pool(std::move(x), part(0)));
  }
}

}  // namespace rightsize::memory::tape
