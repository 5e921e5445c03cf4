#include "perf/stacks/eager_layer.h"

#include <cmath>

namespace rightsize::perf {
namespace {

using model::AttentionOp;
using model::NormKind;
using model::OpKind;

// Walks the operations and adds their costs. Forward and backward bytes are what the kernels read and write; `e` is the
// width of a narrow or residual element.
class EagerWalk {
 public:
  EagerWalk(const GpuSpeed& gpu, const EagerConstants& constants, const EagerMode& mode, const ModelWork& work,
            const EagerBatch& batch)
      : c_(constants), ops_(gpu, constants, mode, cost_), mode_(mode), work_(work), batch_(batch) {}

  void walk(const std::vector<WorkOp>& ops) {
    for (const WorkOp& op : ops) {
      if (mode_.compiled && add_compiled(op)) continue;
      add(op);
      if (op.joins > 0 && !mode_.compiled) joins(at(op.elements), bytes_of(op.out), op.joins);
    }
  }
  void joins(double n, double e, double times) {
    if (mode_.compiled) return;  // sums of gradients are part of the kernel that reads them
    for (int i = 0; i < static_cast<int>(times); ++i) ops_.accumulate(n, e);
  }
  void views(double n) { ops_.views(n); }
  const EagerCost& cost() const { return cost_; }
  double residual_bytes() const { return bytes_of(Wideness::kResidual); }

 private:
  double at(const Extent& extent) const { return extent.at(batch_.batch, batch_.sequence); }
  double bytes_of(Wideness width) const {
    return width == Wideness::kWide ? 4 : width == Wideness::kResidual ? mode_.residual_bytes() : 2;
  }

  void add(const WorkOp& op) {
    const double n = at(op.elements), e = bytes_of(op.in), out = bytes_of(op.out), whole = at(op.whole);
    switch (op.kind) {
      case OpKind::kLinear:
        return ops_.linear(at(op.rows), op.inputs, op.outputs, op.bias, e,
                           op.of_attention ? mode_.lora_attention : mode_.lora_other);
      case OpKind::kConvolution:  // over time, in audio models: computed as a product over its columns
        if (op.groups > 1) return ops_.pass(n, 2 * e, 4 * e, 1, 2);  // one channel at a time
        return ops_.linear(at(op.rows), op.inputs * op.kernel, op.outputs, op.bias, e, 0);
      case OpKind::kProduct:
        return ops_.batched_product(at(op.rows));
      case OpKind::kAttention:
        return attention(op);
      case OpKind::kExperts:
        return ops_.expert_mlp(batch_.tokens(), work_.mixtures[static_cast<std::size_t>(op.aux)]);
      case OpKind::kScan:
        return ops_.scan(work_.scans[static_cast<std::size_t>(op.aux)], batch_.tokens());
      case OpKind::kNorm:
        return norm(op, n, e);
      case OpKind::kRotate:
        return ops_.rotary(n, bytes_of(Wideness::kResidual));
      case OpKind::kActivate:
        return activate(op, n, e);
      case OpKind::kAdd:
      case OpKind::kAddInPlace:
        ops_.pass(n, e + bytes_of(op.other) + out, 0, 1, 0);
        if (e != bytes_of(op.other)) ops_.backward_bytes((2 + out) * n, 1);  // the narrow side's gradient is cast
        return;
      case OpKind::kAddConstant:
        return ops_.pass(n, 2 * e, 0, 1, 0);
      case OpKind::kScale:
        return ops_.pass(n, 2 * e, 2 * e);
      case OpKind::kMultiply:
        return ops_.multiply(n, out);
      case OpKind::kDropout:
        if (mode_.gradients) ops_.pass(n, 2 * e + 1, 2 * e + 1);
        return;
      case OpKind::kMaskedFill:
        return ops_.pass(n, 2 * e + 1, 2 * e + 1);
      case OpKind::kSoftmax:
        return ops_.pass(n, e + out, 3 * out);
      case OpKind::kCast:
        return ops_.cast(n, e, out);
      case OpKind::kCopy:
        return ops_.pass(n, 2 * e, op.copy == model::CopyKind::kForward ? 0 : 2 * e);
      case OpKind::kExpand:
        return ops_.pass(1, e * (n + whole), e * (n + whole));
      case OpKind::kCat:
        return ops_.pass(n, 2 * e, 0, 1, 0);
      case OpKind::kSlice:
      case OpKind::kSelect:  // the gradient is a zero tensor of the whole, with this part filled in
        ops_.views(1);
        return ops_.backward_bytes(e * whole + 2 * e * n, 2);
      case OpKind::kSplit:  // one cat
        ops_.views(3);
        return ops_.backward_bytes(2 * e * whole, 1);
      case OpKind::kIndex:
        return ops_.pass(1, 2 * e * n, e * whole + 2 * e * n, 1, 2);
      case OpKind::kSplitHeads:
        return ops_.views(2);
      case OpKind::kEmbedding:
        return embedding(op, n, out);
      case OpKind::kLanguageLoss:
        return language_loss(op, e);
      case OpKind::kClassLoss:
        return ops_.pass(whole, 8, 8, 6, 6);
      default:
        return;
    }
  }

  // Operations that torch.compile fuses: tensors that products, attention and norms need (memory/tape/ops.h has the
  // same list) are read and written once. False if the operation runs as in eager mode.
  bool add_compiled(const WorkOp& op) {
    const double n = at(op.elements), e = bytes_of(op.in), out = bytes_of(op.out);
    switch (op.kind) {
      case OpKind::kNorm:  // in the kernel of the sum before it; both gradients read the input again
        ops_.pass(n, 2, 2 + 3 * e + (mode_.weights ? 2 + e : 0), 1, 2);
        return true;
      case OpKind::kRotate:
        ops_.pass(n, 4 * c_.compiled_rotary, 4 * c_.compiled_rotary);
        return true;
      case OpKind::kActivate:  // of a gate: fused with the product below
        if (!op.flag) ops_.pass(n, 4, 6);
        return true;
      case OpKind::kMultiply:
        ops_.pass(n, op.flag ? 6 : 4, op.flag ? 10 : 6);
        return true;
      case OpKind::kAdd:
      case OpKind::kAddInPlace:
        ops_.pass(n, e + bytes_of(op.other) + out, 0, 0, 0);
        return true;
      case OpKind::kAddConstant:
      case OpKind::kScale:
      case OpKind::kDropout:
      case OpKind::kMaskedFill:
      case OpKind::kCast:
      case OpKind::kCopy:
      case OpKind::kSlice:
      case OpKind::kSelect:
      case OpKind::kSplit:
      case OpKind::kCat:
        return true;
      default:
        return false;
    }
  }

  void norm(const WorkOp& op, double n, double e) {
    switch (op.norm) {
      case NormKind::kLayer:
        ops_.layer_norm(n, e);
        return;
      case NormKind::kLayerWide:
        ops_.cast(n, e, 4);
        ops_.layer_norm(n, 4);
        ops_.cast(n, 4, e);
        return;
      case NormKind::kLayerSpelled:
        ops_.pass(n, 12, 16, 2, 3);  // the mean, and its subtraction
        ops_.rms_norm(n, e, false);
        return;
      case NormKind::kBatch:
      case NormKind::kGroup:
        ops_.pass(n, 3 * e, 5 * e, 2, 2);
        return;
      default:
        ops_.rms_norm(n, e, op.norm == NormKind::kRmsPlusOne);
    }
  }

  // GELU written out in Python takes eight kernels forward and thirteen backward; as an autograd function, twelve.
  void activate(const WorkOp& op, double n, double e) {
    using model::Activation;
    switch (op.activation) {
      case Activation::kGeluNew:
        return ops_.pass(n, 18 * e, 31 * e, 8, 13);
      case Activation::kGeluFunction:
        return ops_.pass(n, 18 * e, 30 * e, 8, 12);
      case Activation::kQuickGelu:
        return ops_.pass(n, 7 * e, 12 * e, 3, 5);
      case Activation::kSquaredRelu:
        return ops_.pass(n, 4 * e, 6 * e, 2, 2);
      default:
        return ops_.pass(n, 2 * e, 3 * e);
    }
  }

  void attention(const WorkOp& op) {
    const AttentionOp& how = work_.attentions[static_cast<std::size_t>(op.aux)];
    EagerAttention a;
    a.batch = batch_.batch;
    a.sequence = how.query_tokens > 0 ? static_cast<double>(how.query_tokens) : batch_.sequence;
    a.keys = how.key_tokens > 0 ? static_cast<double>(how.key_tokens) : batch_.sequence;
    a.heads = static_cast<double>(how.heads);
    a.kv_heads = static_cast<double>(how.kv_heads);
    a.head_dim = static_cast<double>(how.head_dim);
    a.value_dim = static_cast<double>(how.value_dim);
    a.causal = how.causal;
    a.sinks = how.sinks;
    if (how.kernel == AttentionOp::Kernel::kMath || mode_.captured) return ops_.math_attention(a);
    if (op.written >= 0) return walk(work_.written[static_cast<std::size_t>(op.written)]);
    // PyTorch's fused attention does not support sinks.
    const bool unfused = how.sinks && mode_.attention == model::Attention::kSdpa;
    if (mode_.attention == model::Attention::kEager || unfused) return ops_.eager_attention(a);
    // Sequences longer than the window need an additive mask, as do ALiBi and Falcon with grouped heads.
    const bool beyond = how.window > 0 && batch_.sequence > static_cast<double>(how.window);
    // While torch.compile traces, transformers cannot omit the causal mask.
    a.masked = beyond || how.masked || how.alibi || (mode_.compiled && how.causal);
    if (beyond) ops_.pass(0, 0, 0, 2, 2);
    ops_.flash_attention(a);
  }

  // The gradient of a table is dense: zeroed, scattered into, and added to the head's if they are tied. torch.compile
  // sums it in 32 bits and then narrows it.
  void embedding(const WorkOp& op, double n, double e) {
    ops_.pass(n, 2 * e, 2 * e, 1, 1);
    if (!mode_.weights) return;
    const bool tied = work_.tied && op.outputs == work_.vocabulary;
    const double alone = mode_.compiled && e < 4 ? 8 + e : e;
    ops_.backward_bytes(op.inputs * op.outputs * (tied ? alone + 3 * e : alone), tied ? 3 : 2);
  }

  void language_loss(const WorkOp& op, double e) {
    if (!mode_.gradients) return;
    const double tokens = batch_.tokens(), logits = tokens * op.outputs;
    ops_.linear(tokens, op.inputs, op.outputs, op.bias, e, 0);
    if (mode_.compiled) {
      return ops_.pass(logits, c_.compiled_loss, 1.5 * c_.compiled_loss, 1, 3);
    }
    if (op.aux == 1) ops_.pass(logits, 4, 4);
    if (work_.logit_softcap) ops_.pass(logits, 12, 16, 3, 4);
    const bool wide = op.flag || mode_.amp;  // causal losses are computed in 32 bits
    if (wide) ops_.cast(logits, 2, 4);
    ops_.pass(logits, wide ? 12 : 6, wide ? 12 : 6, 2, 2);
  }

  const EagerConstants& c_;
  EagerCost cost_;
  EagerOps ops_;
  const EagerMode& mode_;
  const ModelWork& work_;
  const EagerBatch& batch_;
};

}  // namespace

EagerCost eager_layer(const GpuSpeed& gpu, const EagerConstants& constants, const EagerMode& mode,
                      const ModelWork& work, const LayerWork& layer, const EagerBatch& batch) {
  EagerWalk walk(gpu, constants, mode, work, batch);
  walk.views(4);
  walk.walk(layer.ops);
  walk.joins(batch.tokens() * work.hidden, walk.residual_bytes(), layer.input_joins);
  return walk.cost();
}

EagerCost eager_ends(const GpuSpeed& gpu, const EagerConstants& constants, const EagerMode& mode, const ModelWork& work,
                     const EagerBatch& batch) {
  EagerWalk walk(gpu, constants, mode, work, batch);
  walk.walk(work.ends);
  return walk.cost();
}

Seconds device_time(const EagerCost::Direction& d, const GpuSpeed& gpu, const EagerConstants& constants,
                    double bandwidth_share) {
  return d.matmul + d.attention + d.lora + traffic_time(gpu, d.traffic, bandwidth_share) +
         constants.kernel_launch * (d.kernels + d.casts);
}

}  // namespace rightsize::perf
