#include "memory/tape/model.h"

#include <algorithm>
#include <utility>

namespace rightsize::memory::tape {
namespace {

using model::Attention;
using model::CrossEntropy;
using model::Recompute;
using model::Stack;

}  // namespace

Model::Model(Recorder& recorder, const model::ModelShape& shape, const Plan& plan)
    : recorder_(recorder), shape_(shape), plan_(plan), weights_(recorder, shape, plan) {}

Count Model::heads() const { return std::max<Count>(1, (shape_.heads + plan_.tensor - 1) / plan_.tensor); }
Count Model::kv_heads() const { return std::max<Count>(1, (shape_.kv_heads + plan_.tensor - 1) / plan_.tensor); }
Count Model::vocabulary() const { return (shape_.vocabulary + plan_.tensor - 1) / plan_.tensor; }

Tensor Model::make_inputs() { return recorder_.make(plan_.rows(), kLong, Layout::kPlain, Part::kBuffers); }

Tensor Model::run_layers(Tensor given, int first, int count, std::span<const Tensor> others, bool second) {
  Tensor x = std::move(given);
  for (int i = 0; i < count; ++i) {
    const int index = first + i;
    const Zone zone = i == 0           ? (second ? Zone::kSecondFirst : Zone::kFirst)
                      : i + 1 == count ? (second ? Zone::kSecondLast : Zone::kLast)
                                       : (second ? Zone::kSecondMiddle : Zone::kMiddle);
    recorder_.enter(zone, index);
    if (hooks_) hooks_->before_layer(index);
    TensorArray inputs;
    inputs[0] = x;
    for (std::size_t k = 0; k < others.size(); ++k) inputs[k + 1] = others[k];
    const std::span<Tensor> span(inputs.data(), others.size() + 1);
    x = plan_.checkpoints() ? recorder_.checkpoint(*this, index, span) : run_layer(index, span);
    if (hooks_) hooks_->after_layer(index);
    // The layer before is done with; its transfers had a layer's time.
    if (plan_.offload_activations && i > 0) recorder_.offload_saved(index - 1);
  }
  recorder_.enter(Zone::kEnd, -1);
  return x;
}

void Model::finish_layers() {
  if (!plan_.checkpoints()) release_shared();
}

Tensor Model::received() {
  Tensor x = recorder_.make(plan_.residual_rows() * shape_.hidden, plan_.autocast ? kHalf : plan_.width);
  recorder_.require_gradient(x);
  return x;
}

void Model::start_gradient(Tensor& x) {
  if (plan_.lora_rank > 0 && plan_.checkpoints()) recorder_.require_gradient(x);
}

Tensor Model::apply(const Linear& layer, Tensor given, bool reshaped_gradient) {
  Tensor x = std::move(given);
  if (!layer) return x;  // a family that has no such matrix
  LinearOptions options;
  options.outputs = layer.outputs;
  options.reshaped_gradient = reshaped_gradient;
  options.cached_cast = cached_casts_;
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

Tensor Model::activate(Tensor x) const {
  switch (shape_.activation) {
    case model::Activation::kSilu:
      return silu(std::move(x));
    case model::Activation::kRelu:
      return relu(std::move(x));
    case model::Activation::kGeluNew:
      return gelu_new(std::move(x));
    case model::Activation::kQuickGelu:
      return quick_gelu(std::move(x));
    default:
      return gelu(std::move(x));
  }
}

Tensor Model::gather(Tensor x) {
  if (!plan_.sequence_split) return x;
  const Count n = x.elements * plan_.tensor;
  // Megatron saves a GPU's own rows and gathers them again in the backward; DTensor saves what was gathered.
  if (plan_.stack == Stack::kMegatron) gathered_from_ = x;
  Tensor whole = gather_rows(std::move(x), n);
  gathered_ = whole.storage();
  return whole;
}

Tensor Model::scatter(Tensor x) {
  if (!plan_.sequence_split) return x;
  gathered_from_.reset();
  const Count n = x.elements / plan_.tensor;
  return scatter_rows(std::move(x), n);
}

AttentionShape Model::attention_shape() const {
  AttentionShape attention;
  attention.batch = plan_.batch;
  attention.heads = heads();
  attention.kv_heads = kv_heads();
  attention.tokens = plan_.tokens;
  attention.head_dim = shape_.head_dim;
  return attention;
}

Tensor Model::attend(Tensor given_q, Tensor given_k, Tensor given_v, const AttentionShape& attention) {
  Tensor q = std::move(given_q), k = std::move(given_k), v = std::move(given_v);
  Tensor ring;  // context parallelism: the keys and values being received
  if (plan_.tokens != plan_.all_tokens) {
    ring = recorder_.make(2 * (k.elements + v.elements), k.width, Layout::kPlain, Part::kBuffers);
  }
  if (plan_.attention == Attention::kEager) {
    if (plan_.recompute == Recompute::kSelective && plan_.stack == Stack::kMegatron) {
      return merge_heads(recomputed_attention(q, k, v, attention));
    }
    return eager_attention(q, k, v, attention, shape_.attention_dropout);
  }
  Tensor out = fused_attention(q, k, v, attention);
  return merge_heads(out);
}

void Model::enter_head() {
  recorder_.enter(Zone::kEnd, -1);
  recorder_.set_part(Part::kLogits);
  if (hooks_) hooks_->before_head();
}

Tensor Model::head_loss(Tensor given, int weight_leaf, int bias_leaf, bool causal, bool scaled_logits) {
  Tensor x = std::move(given);
  enter_head();
  const Count rows = plan_.rows();
  Tensor weight = parameter(weight_leaf);
  LinearOptions options;
  options.outputs = vocabulary();
  const bool softcapped = shape_.logit_softcap > 0 || scaled_logits;
  if (plan_.cross_entropy == CrossEntropy::kFused && !softcapped && bias_leaf < 0) {
    return fused_linear_cross_entropy(x, weight, rows, vocabulary());
  }
  if (plan_.cross_entropy != CrossEntropy::kEager) {
    return chunked_linear_cross_entropy(x, weight, parameter(bias_leaf), rows, vocabulary(), plan_.fused_kernels);
  }
  Tensor logits = linear(x, std::move(weight), parameter(bias_leaf), options);
  if (!causal) x.reset();  // was a temporary of the expression
  if (scaled_logits) logits = multiply_constant(std::move(logits));
  if (shape_.logit_softcap > 0) {
    logits = multiply_constant(std::move(logits));
    logits = tanh(std::move(logits));
    logits = multiply_constant(std::move(logits));
  }
  // torchtitan's training loop still has a name for the logits when the backward begins.
  if (plan_.stack == Stack::kTorchTitan) held_logits_ = logits;
  if (plan_.stack == Stack::kMegatron) return vocabulary_parallel_cross_entropy(logits, rows);
  return causal ? causal_cross_entropy(logits, rows) : cross_entropy(logits, rows, false);
}

}  // namespace rightsize::memory::tape
