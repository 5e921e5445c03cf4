// The larger operations of a ModelRun with the job's settings: linear layers with adapters, norms, attention, experts,
// losses.
#include <algorithm>
#include <utility>

#include "memory/tape/model_run.h"

namespace rightsize::memory::tape {

using model::Attention;
using model::AttentionOp;
using model::CrossEntropy;
using model::NormKind;
using model::Op;
using model::Recompute;
using model::Stack;

// ---------------------------------------------------------------- products

Tensor ModelRun::apply(const Linear& layer, Tensor given, bool reshaped_gradient) {
  Tensor x = std::move(given);
  if (!layer) return x;  // on another stage
  LinearOptions options;
  options.outputs = layer.outputs;
  options.reshaped_gradient = reshaped_gradient;
  options.cached_cast = forward_.casts_are_cached;
  options.quantized = layer.quantized;
  if (gathered_from_ && x.storage() == gathered_) options.saves = &gathered_from_;
  Tensor y = linear(x, parameter(layer.weight), parameter(layer.bias), options);
  if (layer.adapter_a < 0) return y;

  const std::uint8_t width = y.width;
  Tensor a = parameter(layer.adapter_a), b = parameter(layer.adapter_b);
  const std::uint8_t adapter_width = a.width;
  x = cast(std::move(x), adapter_width);
  LinearOptions down, up;
  down.outputs = plan_.lora_rank;
  up.outputs = layer.outputs;
  down.reshaped_gradient = up.reshaped_gradient = reshaped_gradient;
  Tensor z = linear(x, std::move(a), {}, down);
  z = linear(std::move(z), std::move(b), {}, up);
  z = multiply_constant(std::move(z));
  y = add(std::move(y), std::move(z));
  return cast(std::move(y), width);
}

Tensor ModelRun::convolve(const Frame& frame, const Op& op, Tensor given, Count n) {
  Tensor x = std::move(given);
  const Linear conv = linear_of(frame, op.weight);
  if (op.flag) return convolution_over_time(std::move(x), parameter(conv.weight), n);
  const model::Weight& weight = shape_.weights[static_cast<std::size_t>(op.weight.index)];
  const Count inputs = weight.cols * weight.groups / (Count{weight.kernel} * weight.kernel);
  const bool channels_last = weight.groups == 1 && weight.scale != 0;
  const Count padded = channels_last ? x.elements / inputs * ((inputs + 7) / 8 * 8) : 0;
  return convolution(std::move(x), parameter(conv.weight), parameter(conv.bias), n, padded);
}

Tensor ModelRun::gather(Tensor x) {
  if (!plan_.sequence_split) return x;
  const Count n = x.elements * plan_.tensor;
  // Megatron saves a GPU's own rows and gathers them again in the backward pass; DTensor saves the gathered rows.
  if (plan_.stack == Stack::kMegatron) gathered_from_ = x;
  Tensor whole = gather_rows(std::move(x), n);
  gathered_ = whole.storage();
  return whole;
}

Tensor ModelRun::scatter(Tensor x) {
  if (!plan_.sequence_split) return x;
  gathered_from_.reset();
  const Count n = x.elements / plan_.tensor;
  return scatter_rows(std::move(x), n);
}

// ---------------------------------------------------------------- norms and activations

Tensor ModelRun::normalize(const Frame& frame, const Op& op, Tensor given) {
  Tensor x = std::move(given);
  const Linear found = linear_of(frame, op.weight);
  const Count rows = evaluate(op.rows);
  Tensor weight = parameter(found.weight), bias = parameter(found.bias);
  const bool rms = op.norm == NormKind::kRms || op.norm == NormKind::kRmsPlusOne || op.norm == NormKind::kRmsWide ||
                   op.norm == NormKind::kLayerSpelled;
  const bool rows_alone = op.norm != NormKind::kBatch && op.norm != NormKind::kGroup;
  if (plan_.compiled && rows_alone) return compiled_norm(std::move(x), std::move(weight), rows);
  if (rms && plan_.fused_kernels) return fused_rms_norm(std::move(x), std::move(weight), rows);
  switch (op.norm) {
    case NormKind::kLayerWide: {
      const std::uint8_t width = x.width;
      return cast(layer_norm(cast(std::move(x), kSingle), std::move(weight), std::move(bias), rows), width);
    }
    case NormKind::kLayerSpelled:
      return cohere_norm(std::move(x), std::move(weight), rows);
    case NormKind::kRms:
      return rms_norm(std::move(x), std::move(weight), rows);
    case NormKind::kRmsPlusOne:
      return gemma_norm(std::move(x), std::move(weight), rows);
    case NormKind::kRmsWide:
      return olmo_norm(std::move(x), std::move(weight), rows);
    case NormKind::kRmsHalf:
      return t5_norm(std::move(x), std::move(weight), rows);
    case NormKind::kBatch:
      return batch_norm(std::move(x), std::move(weight), std::move(bias), rows);
    case NormKind::kGroup:
      return group_norm(std::move(x), std::move(weight), std::move(bias), rows);
    case NormKind::kLayer:
      break;
  }
  return layer_norm(std::move(x), std::move(weight), std::move(bias), rows);
}

Tensor ModelRun::activate(const Op& op, Tensor x) const {
  using model::Activation;
  if (op.flag && plan_.fused_kernels) return x;  // computed with the gate's product
  if (op.copy == model::CopyKind::kBothWays) {   // in place
    return op.activation == Activation::kRelu ? relu_in_place(std::move(x)) : silu_in_place(std::move(x));
  }
  const bool one_kernel = plan_.compiled || plan_.stack == Stack::kMegatron;  // saves its input
  if (one_kernel) return op.activation == Activation::kRelu ? relu(std::move(x)) : gelu(std::move(x));
  switch (op.activation) {
    case Activation::kSilu:
      return silu(std::move(x));
    case Activation::kRelu:
      return relu(std::move(x));
    case Activation::kSquaredRelu:
      return power(relu(std::move(x)));
    case Activation::kGeluNew:
      return gelu_new(std::move(x));
    case Activation::kGeluFunction:
      return bloom_gelu(std::move(x));
    case Activation::kQuickGelu:
      return quick_gelu(std::move(x));
    case Activation::kSigmoid:  // saves its result, as tanh does
    case Activation::kTanh:
      return tanh(std::move(x));
    default:
      return gelu(std::move(x));
  }
}

// ---------------------------------------------------------------- attention

bool ModelRun::runs_fused_attention() const {
  // llm-foundry and Megatron run flash attention in cases where transformers computes the scores separately.
  const bool megatron = plan_.stack == Stack::kMegatron && plan_.attention != Attention::kEager;
  return megatron || plan_.stack == Stack::kLlmFoundry || plan_.attention == Attention::kFlash;
}

Tensor ModelRun::fused_or_eager(Tensor given_q, Tensor given_k, Tensor given_v, const AttentionShape& attention,
                                double dropout_p) {
  Tensor q = std::move(given_q), k = std::move(given_k), v = std::move(given_v);
  Tensor ring;  // context parallelism: the keys and values being received
  if (plan_.tokens != plan_.all_tokens)
    ring = recorder_.make(2 * (k.elements + v.elements), k.width, Layout::kPlain, Part::kBuffers);
  // PyTorch's fused attention has no sinks: transformers uses separate operations unless it has a flash kernel.
  const bool unfused = attention.sinks && plan_.stack == Stack::kHf && plan_.attention == Attention::kSdpa;
  if (plan_.attention == Attention::kEager || unfused) {
    if (plan_.recompute == Recompute::kSelective && plan_.stack == Stack::kMegatron)
      return merge_heads(recomputed_attention(q, k, v, attention));
    if (attention.sinks) return sink_attention(q, k, v, attention);
    return eager_attention(q, k, v, attention, dropout_p);
  }
  Tensor out = fused_attention(q, k, v, attention);
  return merge_heads(out);
}

Tensor ModelRun::attend(Frame& frame, const Op& op, Tensor given_q) {
  const AttentionOp& how = forward_.attentions[static_cast<std::size_t>(op.aux)];
  Tensor q = std::move(given_q), k = take(frame, op, 1), v = take(frame, op, 2), bias = take(frame, op, 3);
  auto divided = [&](std::int64_t n) { return std::max<Count>(1, (n + plan_.tensor - 1) / plan_.tensor); };
  if (how.kernel == AttentionOp::Kernel::kWritten && !runs_fused_attention()) {
    TensorArray inputs;
    inputs[0] = std::move(q), inputs[1] = std::move(k), inputs[2] = std::move(v);
    TensorArray made = run_program(how.written, frame.repeat, std::span(inputs.data(), 3));
    if (op.out[1] != model::kNoValue) slot(frame, op.out[1]) = std::move(made[1]);
    return std::move(made[0]);
  }
  AttentionShape shape;
  shape.batch = plan_.batch;
  shape.heads = divided(how.heads);
  shape.kv_heads = divided(how.kv_heads);
  shape.tokens = how.query_tokens > 0 ? how.query_tokens : plan_.tokens;
  shape.kv_tokens = how.key_tokens;
  shape.head_dim = how.head_dim;
  shape.sinks = how.sinks;
  if (how.value_dim != how.head_dim) shape.value_dim = how.value_dim;
  const bool sdpa = plan_.attention == Attention::kSdpa;
  if (how.kernel == AttentionOp::Kernel::kMath && (sdpa || bias))
    return copy(math_attention(q, k, v, shape, how.dropout, bias));
  if (how.kernel == AttentionOp::Kernel::kWritten) {
    q = split_heads(std::move(q));
    k = split_heads(std::move(k));
    v = split_heads(std::move(v));
  }
  if (sdpa && how.expanded_keys) {
    shape.kv_heads = shape.heads;
    if (how.masked) shape.mask = plan_.batch * plan_.tokens * plan_.tokens;
  }
  // If the sequence reaches a layer's window, the layer gets a mask: keys and values are repeated for all heads (a view
  // if there is only one), and the mask is saved in the width of q. While torch.compile traces, transformers cannot
  // tell that a causal mask is not needed, so all layers share one.
  const bool traced = plan_.compiled && how.causal;
  if (sdpa && (traced || (how.window > 0 && plan_.all_tokens >= how.window))) {
    if (shape.kv_heads != shape.heads) {
      const Expand expand = shape.kv_heads == 1 ? Expand::kNever : Expand::kAlways;
      k = expand_copy(std::move(k), q.elements, expand);
      v = expand_copy(std::move(v), q.elements, expand);
    }
    shape.kv_heads = shape.heads;
    if (!traced) shape.mask = plan_.batch * plan_.tokens * plan_.all_tokens;
    if (traced && !traced_mask_)
      traced_mask_ =
          recorder_.make(plan_.batch * plan_.tokens * plan_.all_tokens, kHalf, Layout::kPlain, Part::kBuffers);
  }
  return fused_or_eager(q, k, v, shape, how.dropout);
}

// ---------------------------------------------------------------- experts

namespace {

// gate.clamp() * sigmoid(alpha gate) * (up.clamp() + 1) of interleaved halves. A clamp saves its input, as silu does,
// and sigmoid its result, as tanh does.
Tensor clamped_gate(Tensor given) {
  Tensor u = std::move(given);
  const Count half = u.elements / 2;
  Tensor gate = silu(slice(u, half)), up = silu(slice(u, half));
  u.reset();
  Tensor open = tanh(multiply_constant(gate));
  Tensor gated = multiply(std::move(gate), std::move(open));
  return multiply(add_constant(std::move(up)), std::move(gated));
}

}  // namespace

// As transformers 5 runs them: rows sorted by expert, one grouped product over stacked weights. Megatron's experts
// receive the rows of their group of GPUs and weight them inside the activation, so their results are not kept
// (megatron/core/transformer/moe/experts.py, read 2026-11-17).
Tensor ModelRun::route(const Frame& frame, const model::ExpertsOp& how, Tensor given) {
  Tensor x = std::move(given);
  const bool megatron = plan_.stack == model::Stack::kMegatron;
  const Count rows = plan_.rows(), routed = rows * plan_.expert_tensor / plan_.tensor * how.per_token;
  const Count width = how.hidden, inner = how.intermediate / plan_.expert_tensor, sides = how.gated ? 2 : 1;
  const std::uint8_t entry_width = x.width;
  // peft merges adapters into stacked experts; other trainers run them as separate products.
  const bool merges = plan_.stack == model::Stack::kHf;
  auto weight_of = [&](const Linear& linear) {
    Tensor weight = parameter(linear.weight);
    if (linear.adapter_a < 0 || !merges) return weight;
    return merged_adapter(std::move(weight), parameter(linear.adapter_a), parameter(linear.adapter_b));
  };
  auto grouped = [&](Tensor selected, const Linear& linear, Tensor weight, Count n) {
    if (linear.adapter_a < 0 || merges) return grouped_product(std::move(selected), std::move(weight), n, megatron);
    Tensor y = grouped_product(selected, std::move(weight), n);
    Tensor z = grouped_product(std::move(selected), parameter(linear.adapter_a), routed * plan_.lora_rank);
    z = grouped_product(std::move(z), parameter(linear.adapter_b), n);
    return add(std::move(y), multiply_constant(std::move(z)));
  };
  Op activation;
  activation.activation = how.activation;

  const Linear router = linear_of(frame, how.router);
  LinearOptions router_options;
  router_options.outputs = how.count;
  Tensor router_weight = weight_of(router);
  Tensor logits = linear(x, std::move(router_weight), parameter(router.bias), router_options);
  Tensor probabilities = softmax(cast(logits, kSingle), kSingle);
  Tensor chosen = index(probabilities, routed, recorder_.make(routed, kLong));
  probabilities.reset();
  logits.reset();
  if (how.narrow_weights) chosen = cast(std::move(chosen), entry_width);
  Tensor out_weight = weight_of(linear_of(frame, how.out)), in_weight = weight_of(linear_of(frame, how.in));

  Tensor ids = recorder_.make(routed, kLong), order = recorder_.make(routed, kLong),
         rows_of = recorder_.make(routed, kLong);
  Tensor selected = index(x, routed * width, rows_of);
  Tensor shares = index(chosen, routed, order);
  Tensor counts = recorder_.make(routed, kSingle), offsets = recorder_.make(how.count, kSingle);
  Tensor unused = recorder_.make(routed, kByte);
  Tensor u = grouped(std::move(selected), linear_of(frame, how.in), std::move(in_weight), routed * sides * inner);
  if (!megatron) u = masked_fill(std::move(u), unused);
  auto add_bias = [&](Tensor y, const Linear& linear) {
    const Count n = y.elements;
    Tensor bias = parameter(linear.bias);
    return bias ? add(std::move(y), index(std::move(bias), n, ids)) : y;
  };
  u = add_bias(std::move(u), linear_of(frame, how.in));
  if (!how.gated) {
    u = activate(activation, std::move(u));
  } else if (how.clamped && !plan_.fused_kernels) {
    u = clamped_gate(std::move(u));
  } else {
    auto [gate, up] = split2(u);
    Tensor product;
    if (plan_.fused_kernels) {
      product = fused_gate(gate, up);
    } else {
      Tensor activated = activate(activation, gate);
      product = multiply(std::move(activated), up);
    }
    gate.reset();
    up.reset();
    u = std::move(product);
  }
  u = grouped(std::move(u), linear_of(frame, how.out), std::move(out_weight), routed * width);
  if (!megatron) u = masked_fill(std::move(u), unused);
  u = add_bias(std::move(u), linear_of(frame, how.out));
  Tensor weighted = megatron ? std::move(u) : multiply(u, shares);
  Tensor inverse = recorder_.make(routed, kLong);
  weighted = index(std::move(weighted), routed * width, inverse);
  Tensor y = sum_groups(weighted, rows * width);
  return cast(std::move(y), entry_width);
}

// ---------------------------------------------------------------- losses

Tensor ModelRun::language_loss(const Frame& frame, const Op& op, Tensor given) {
  Tensor x = std::move(given);
  enter_head();
  const Linear output = linear_of(frame, op.weight);
  const int bias_leaf = op.bias ? linear_of(frame, op.bias).weight : output.bias;
  const bool causal = op.flag, scaled_logits = op.aux == 1;
  const Count rows = plan_.rows(), vocabulary = output.outputs;
  Tensor weight = parameter(output.weight);
  LinearOptions options;
  options.outputs = vocabulary;
  const bool softcapped = forward_.logit_softcap > 0 || scaled_logits;
  if (plan_.cross_entropy == CrossEntropy::kFused && !softcapped && bias_leaf < 0)
    return fused_linear_cross_entropy(x, weight, rows, vocabulary);
  if (plan_.cross_entropy != CrossEntropy::kEager)
    return chunked_linear_cross_entropy(x, weight, parameter(bias_leaf), rows, vocabulary, plan_.fused_kernels);
  Tensor logits = linear(x, std::move(weight), parameter(bias_leaf), options);
  if (!causal) x.reset();  // was a temporary of the expression
  if (plan_.compiled) {
    if (softcapped) logits = compiled_softcap(std::move(logits));
    return compiled_cross_entropy(std::move(logits), rows);
  }
  if (scaled_logits) logits = multiply_constant(std::move(logits));
  if (forward_.logit_softcap > 0) {
    logits = multiply_constant(std::move(logits));
    logits = tanh(std::move(logits));
    logits = multiply_constant(std::move(logits));
  }
  // torchtitan's training loop still holds the logits when the backward pass begins.
  if (plan_.stack == Stack::kTorchTitan) held_logits_ = logits;
  if (plan_.stack == Stack::kMegatron) return vocabulary_parallel_cross_entropy(logits, rows);
  return causal ? causal_cross_entropy(logits, rows) : cross_entropy(logits, rows, false);
}

}  // namespace rightsize::memory::tape
