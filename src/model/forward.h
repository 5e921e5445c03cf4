// The forward pass of a model: a list of operations with symbolic sizes. The model's family writes it through a Tracer,
// and interpreters that know nothing about families read it.
//
// A Forward describes what a framework computes, in its order, and how long each result lives. That is enough to replay
// every allocation of a training step (memory), to add up kernels (perf), to fuse and shard like a serving engine, or
// to draw a roofline. The interpreter applies the job's settings (autocast, adapters, parallelism, checkpointing, fused
// kernels).
//
// Programs are sequences of operations on values. A value is local to its program, shared by all programs (rotary
// tables, masks), or an input of the iteration. An operand marked `last` is moved into the operation, which may release
// it before it returns. kFree ends a value when its name goes out of scope between operations.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

namespace rightsize::model {

// count x per x batch^b x tokens^t x keys^k elements, with the job's batch and tokens. If `split`, tensor parallelism
// divides `count` (heads, columns) and rounds up.
struct Size {
  std::int64_t count = 1, per = 1;
  std::int8_t batch = 0, tokens = 0, keys = 0;
  bool split = false;
  bool residual = false;  // rows of the residual stream, which sequence parallelism divides

  constexpr Size times(std::int64_t n) const {
    Size size = *this;
    size.per *= n;
    return size;
  }
  constexpr Size divided(std::int64_t n) const {
    Size size = *this;
    (size.per % n == 0 ? size.per : size.count) /= n;
    return size;
  }
  // `n` parts of `width` elements each, divided among GPUs.
  constexpr Size split_into(std::int64_t n, std::int64_t width) const {
    Size size = *this;
    size.count *= n;
    size.per *= width;
    size.split = true;
    return size;
  }
  constexpr double each() const { return static_cast<double>(count) * static_cast<double>(per); }
};

inline constexpr Size kOnce{};
inline constexpr Size kSamples{1, 1, 1, 0, 0};
inline constexpr Size kPositions{1, 1, 0, 1, 0};  // of one sequence
inline constexpr Size kTokens{1, 1, 1, 1, 0};     // tokens of all sequences
inline constexpr Size kResidual{1, 1, 1, 1, 0, false, true};
inline constexpr Size kSquare{1, 1, 0, 2, 0};  // positions by positions
inline constexpr Size kSampleSquare{1, 1, 1, 2, 0};

// The width of an element, fixed or determined by the job.
enum class Width : std::uint8_t {
  kAsIs,  // of the operand
  kByte,
  kHalf,
  kSingle,
  kLong,
  kStored,   // of weights in operations
  kProduct,  // of the results of matrix products: 16 bits under autocast
};

enum class NormKind : std::uint8_t {
  kLayer,         // torch.nn.LayerNorm
  kLayerWide,     // the same in 32 bits, cast back
  kLayerSpelled,  // separate operations in 32 bits
  kRms,           // LlamaRMSNorm: in 32 bits, back, times the weight
  kRmsPlusOne,    // times (1 + weight) in 32 bits, then back
  kRmsWide,       // times the weight before the cast back
  kRmsHalf,       // T5LayerNorm
  kBatch,
  kGroup,
};

enum class Activation : std::uint8_t {
  kSilu,
  kGelu,
  kGeluTanh,
  kGeluNew,       // separate operations in Python
  kGeluFunction,  // an autograd function that saves its input only
  kRelu,
  kSquaredRelu,
  kQuickGelu,
  kSigmoid,
  kTanh,
};

enum class OpKind : std::uint8_t {
  // Lifetimes of values, and positions in the model.
  kFree,
  kStart,       // the beginning of a stack of layers
  kEnd,         // after the last of them
  kHead,        // logits and loss follow
  kFirstStage,  // runs up to its kEndStage on the first pipeline stage; other stages receive the value
  kLastStage,
  kEndStage,
  kWantGradient,  // the embeddings: adapters with checkpointing require their gradient
  kLayers,        // a stack, layer by layer
  kSegment,       // one checkpointed segment outside of stacks
  kReleaseShared,

  kMake,       // a tensor without history: masks, positions, ids
  kParameter,  // a weight as a tensor
  kEmbedding,

  kLinear,
  kConvolution,
  kProduct,  // batched, of two activations
  kAttention,
  kExperts,  // routing, the chosen experts, their weighted sum
  kScan,     // a recurrent state that every token reads and writes
  kRotaryTables,
  kRotate,
  kRelativeBias,
  kProbeMask,

  kNorm,
  kActivate,
  kAdd,
  kAddInPlace,
  kAddConstant,
  kScale,
  kMultiply,
  kDropout,
  kMaskedFill,
  kSoftmax,
  kCast,
  kCastForProduct,

  kSplitHeads,
  kAsHeads,  // the same memory, viewed with heads first
  kSlice,
  kSelect,
  kSplit,  // into up to three views
  kCat,
  kIndex,
  kExpand,
  kCopy,
  kViewCopiedBack,
  kGatherRows,   // sequence parallelism: all rows before a pair of matrices,
  kScatterRows,  // and a share of them after it
  kMaxPool,
  kAveragePool,

  kLanguageLoss,  // the output layer, logits and their loss
  kClassLoss,
  kSquaredLoss,
};

// kCopy: in which directions the copy takes memory.
enum class CopyKind : std::uint8_t {
  kForward,  // the gradient is a view
  kBothWays,
  kPerHead,          // for a batched product; a view in a batch of one
  kPerHeadViewBack,  // the same, and the gradient is a view
};
enum class ExpandKind : std::uint8_t { kForProduct, kAlways, kNever };

inline constexpr std::int32_t kNoValue = -1;
inline constexpr std::int32_t kFirstShared = 1 << 24;
inline constexpr std::int32_t kFirstInput = 1 << 25;

struct Operand {
  std::int32_t value = kNoValue;
  bool last = false;

  explicit operator bool() const { return value != kNoValue; }
};

// A weight of the model's inventory; `repeat` selects an occurrence of its block.
struct WeightRef {
  static constexpr std::int32_t kOfLayer = -1;  // the occurrence of the layer that runs
  std::int32_t index = -1;
  std::int32_t repeat = kOfLayer;

  explicit operator bool() const { return index >= 0; }
};

struct Op {
  OpKind kind = OpKind::kFree;
  Width width = Width::kAsIs;
  NormKind norm = NormKind::kLayer;
  Activation activation = Activation::kSilu;
  CopyKind copy = CopyKind::kForward;
  ExpandKind expand = ExpandKind::kForProduct;
  bool flag = false;      // by kind: see the Tracer's functions
  std::int32_t aux = -1;  // of Forward::attentions, ::experts, ::scans, ::stacks, ::programs
  WeightRef weight = {}, bias = {};
  std::array<Operand, 4> in{};
  std::array<std::int32_t, 3> out{kNoValue, kNoValue, kNoValue};
  Size rows = {};        // of a norm or loss; multiply-adds of a product; what kProbeMask and kRotaryTables make
  bool unfused = false;  // only if attention runs as separate operations
  double p = 0;          // of a dropout
};

struct Program {
  std::vector<Op> ops;
  std::vector<Size> sizes;  // by value
  std::vector<std::int32_t> inputs;
  bool owns_inputs = false;  // inputs are moved in and may end inside
  std::array<std::int32_t, 2> results{kNoValue, kNoValue};
};

struct AttentionOp {
  enum class Kernel : std::uint8_t {
    kFused,    // one kernel, unless the job uses eager attention
    kMath,     // torch's fallback in 32 bits
    kWritten,  // the program `written`, unless the job runs a fused kernel
  };
  Kernel kernel = Kernel::kFused;
  bool causal = true;
  bool masked = false;         // an additive mask of positions by positions is made and kept for each sample
  bool alibi = false;          // positions are a bias on the scores
  bool expanded_keys = false;  // keys were already repeated for every head
  bool sinks = false;          // one more logit per head: rows of scores are one longer than the keys
  std::int64_t heads = 1, kv_heads = 1, head_dim = 1, value_dim = 1;
  std::int64_t window = 0;        // 0: all positions
  std::int64_t query_tokens = 0;  // 0: the job's tokens
  std::int64_t key_tokens = 0;    // 0: the job's tokens
  std::int64_t latent_width = 0;  // cached elements per token if keys and values are compressed; 0: they are not
  bool cached = true;             // keys and values of past tokens are kept while decoding
  double dropout = 0;
  std::int32_t written = -1;  // program: q, k, v -> result, probabilities

  bool operator==(const AttentionOp&) const = default;
};

struct ExpertsOp {
  std::int64_t count = 0, per_token = 0, hidden = 0, intermediate = 0;
  WeightRef router, router_bias_vector, in, out;
  Activation activation = Activation::kSilu;
  bool gated = true;
  bool narrow_weights = true;  // routing weights are cast back to the hidden state's width before use
  bool clamped = false;        // biases, and clamped gates interleaved with the values they gate (gpt-oss)
};

// Recurrent layers: each head keeps a matrix of head_dim x state, which every token decays, adds to and reads. Long
// sequences are computed in chunks (Mamba-2: Dao and Gu 2024; the gated delta rule: Yang, Kautz, Hatamizadeh 2024).
struct ScanOp {
  std::int64_t heads = 1, head_dim = 1, state = 1;
  std::int64_t groups = 1;  // heads of a group share the vectors that write and read the state
  std::int64_t chunk = 128;
  bool delta = false;  // a write replaces the value of its key: one triangular system per chunk
  std::int64_t conv_width = 0, conv_kernel = 1;  // the short convolution before it remembers conv_kernel - 1 tokens

  std::int64_t state_elements() const { return heads * head_dim * state; }
  std::int64_t conv_elements() const { return conv_width * (conv_kernel - 1); }
  bool operator==(const ScanOp&) const = default;
};

// Layers with weights of the same shapes: one program per occurrence of the block that begins at `weight`.
struct LayerRun {
  std::int32_t weight = 0;
  std::vector<std::int32_t> programs;
};
struct LayerStack {
  std::vector<LayerRun> runs;
  bool second = false;  // the decoder of an encoder-decoder model
};

struct Input {
  Size size;
  Width width = Width::kLong;
};

struct Forward {
  std::vector<Program> programs;  // the first is the model
  std::vector<LayerStack> stacks;
  std::vector<AttentionOp> attentions;
  std::vector<ExpertsOp> experts;
  std::vector<ScanOp> scans;
  std::vector<Input> inputs;
  std::int32_t shared = 0;       // number of values that programs share
  bool casts_are_cached = true;  // false: products read weights through views, which autocast does not cache
  bool exact = true;             // false: not checked against recorded allocations
  double logit_softcap = 0;
};

}  // namespace rightsize::model
