// The operations of models. Each models the torch operation named in its comment: its allocations, the tensors that
// autograd saves, and the allocations of its backward, in torch's order. Checked against recorded allocations of torch
// 2.11 and transformers 5.
//
// Tensors are passed by value and released when the operation returns (see Tensor).
#pragma once

#include "memory/tape/recorder.h"

namespace rightsize::memory::tape {

// --- shapes and copies

// .to(dtype): copies the tensor, and later its gradient; does nothing if the width is the same.
Tensor cast(Tensor x, std::uint8_t width);
// x[..., :n]: a view; the gradient is a zero tensor of the whole with n elements filled in.
Tensor slice(Tensor x, Count n);
// x.select / an indexed view: like slice, but recorded even if it takes everything.
Tensor select(Tensor x, Count n);
// .contiguous(): a copy, with a gradient that passes through, unless the tensor is already contiguous.
Tensor contiguous(Tensor x);
// .view(b, s, heads, d).transpose(1, 2): free; a gradient with another layout is copied.
Tensor split_heads(Tensor x);
// The reverse after fused attention: free if the kernel wrote (b, s, heads, d), a copy otherwise.
Tensor merge_heads(Tensor x);
// reshape or contiguous that must copy, with a gradient that is a view.
Tensor copy(Tensor x);
// The same with a gradient that must be copied too.
Tensor copy_both_ways(Tensor x);
// A copy per head for a batched product (a view in a batch of one); `view_back`: the gradient is a view.
Tensor copy_per_head(Tensor x, bool view_back);
// expand + copy to n elements; the gradient is summed back. In a batch of one the product reads the view itself.
enum class Expand : std::uint8_t { kForProduct, kAlways, kNever };
Tensor expand_copy(Tensor x, Count n, Expand how = Expand::kForProduct);
// A view in the forward pass; its gradient must be copied.
Tensor view_copied_back(Tensor x);
// torch.cat of two; the gradients are views.
Tensor cat(Tensor a, Tensor b);
// .split / .chunk: views; the gradient is one cat.
std::array<Tensor, 3> split3(Tensor x, Count a, Count b, Count c);
std::array<Tensor, 2> split2(Tensor x);
// x[index], torch.gather: a copy; the gradient is a zero tensor scattered into. Saves the index when given.
Tensor index(Tensor x, Count n, Tensor index = {});
// Sequence parallelism: every GPU's rows collected into n elements, the gradient summed and scattered, and the reverse.
Tensor gather_rows(Tensor x, Count n);
Tensor scatter_rows(Tensor x, Count n);
// repeat_kv: every key/value head copied for its group, the gradient summed.
Tensor repeat_heads(Tensor x, Count n);

// --- elementwise

Tensor add(Tensor a, Tensor b, std::uint8_t width = 0);
Tensor add_in_place(Tensor a, Tensor b);
Tensor add_constant(Tensor x);       // gradient passes through
Tensor multiply_constant(Tensor x);  // gradient is a new tensor
// Saves each operand if the other one needs a gradient. The smaller operand is broadcast.
Tensor multiply(Tensor a, Tensor b);
Tensor power(Tensor x);
Tensor mean(Tensor x, Count rows);
Tensor rsqrt(Tensor x);
Tensor silu(Tensor x);
Tensor gelu(Tensor x);
Tensor relu(Tensor x);
Tensor tanh(Tensor x);
// ReLU in place saves its result, which the next layer reads too.
Tensor relu_in_place(Tensor x);
// SiLU and Hardswish in place still save their input: a copy is made.
Tensor silu_in_place(Tensor x);
// NewGELUActivation: 0.5 x (1 + tanh(sqrt(2/pi) (x + 0.044715 x^3))), written out in Python.
Tensor gelu_new(Tensor x);
// BLOOM's autograd function: saves only x.
Tensor bloom_gelu(Tensor x);
// QuickGELU: x * sigmoid(1.702 x).
Tensor quick_gelu(Tensor x);
// Saves a mask of one byte per element; nothing at p = 0.
Tensor dropout(Tensor x, double p);
Tensor masked_fill(Tensor x, Tensor mask);
// Saves its result. Under autocast in 32 bits.
Tensor softmax(Tensor x, std::uint8_t width);
Tensor sum_groups(Tensor x, Count n);
// silu(gate) * up in one kernel (Liger, Apex, torch.compile): saves both inputs.
Tensor fused_gate(Tensor gate, Tensor up);

// --- torch.compile
//
// Chains of elementwise operations become one kernel. The min-cut partitioner saves the inputs of products, attention
// and norms and recomputes the rest (checked against the saved tensors of compiled models, torch 2.11). Under autocast,
// inputs of products are written in 16 bits directly.

// Any norm over rows: saves its input and one number per row.
Tensor compiled_norm(Tensor x, Tensor weight, Count rows);
// Gradients of rows are summed in 32 bits before they are cast to the table's width (an H200 with Mistral Nemo and
// Hermes, torch 2.11).
Tensor compiled_embedding(Count rows, Tensor table, Count width);
// An operation that saves nothing: rotary positions, dropout from its seed.
Tensor compiled_rotate(Tensor x);
// tanh(x / cap) * cap: saves x.
Tensor compiled_softcap(Tensor x);
// The loss from 16-bit logits: saves them and two numbers per row; its backward needs two gradients of their size.
Tensor compiled_cross_entropy(Tensor logits, Count rows);

// --- norms

Tensor layer_norm(Tensor x, Tensor weight, Tensor bias, Count rows);
// LlamaRMSNorm, written out: in 32 bits, back, times the weight.
Tensor rms_norm(Tensor x, Tensor weight, Count rows);
// Gemma's: times (1 + weight) in 32 bits, then back.
Tensor gemma_norm(Tensor x, Tensor weight, Count rows);
// OLMo 2's: the weight before the cast back.
Tensor olmo_norm(Tensor x, Tensor weight, Count rows);
// Cohere's layer norm, written out in 32 bits.
Tensor cohere_norm(Tensor x, Tensor weight, Count rows);
// T5LayerNorm.
Tensor t5_norm(Tensor x, Tensor weight, Count rows);
// One kernel: saves its input and one number per row.
Tensor fused_rms_norm(Tensor x, Tensor weight, Count rows);
// torch.nn.BatchNorm2d in training: saves its input and two numbers per channel.
Tensor batch_norm(Tensor x, Tensor weight, Tensor bias, Count channels);
// torch.nn.GroupNorm: saves its input and two numbers per group.
Tensor group_norm(Tensor x, Tensor weight, Tensor bias, Count groups);

// --- products

// Allocates and frees the scratch of the kernel that sums rows for the gradient of a bias or a norm's weight. From the
// launch heuristics of ATen's Reduce.cuh.
void row_sum_scratch(Recorder& recorder, Count columns, Count rows);

struct LinearOptions {
  Count outputs = 0;
  bool reshaped_gradient = true;  // the input has three dimensions, so its gradient is a view
  bool cached_cast = true;        // autocast keeps the 16-bit weight until the forward ends
  bool quantized = false;         // the weight is dequantized into a temporary for every use (bitsandbytes)
  const Tensor* saves = nullptr;  // saved instead of the input, which is recomputed from it (sequence parallelism)
};
// torch.nn.Linear, Conv1D: saves its input when the weight is trained, the weight's 16-bit copy when the input is.
Tensor linear(Tensor x, Tensor weight, Tensor bias, const LinearOptions& options);
// torch.bmm / matmul: saves both operands.
Tensor batched_product(Tensor a, Tensor b, Count n, bool autocast = true);
// The same if the gradient must be made contiguous first.
Tensor batched_product_raw(Tensor a, Tensor b, Count n);
// torch._grouped_mm over stacked experts.
Tensor grouped_product(Tensor x, Tensor weight, Count n, bool narrow = false);
// torch.nn.functional.embedding; the gradient is as large as the table.
Tensor embedding(Count rows, Tensor table, Count width);
// peft on stacked experts: computes W + B A in every forward pass.
Tensor merged_adapter(Tensor weight, Tensor a, Tensor b);

// --- attention

struct AttentionShape {
  Count batch = 1, heads = 1, tokens = 1, head_dim = 1;
  Count kv_tokens = 0;  // 0: tokens
  Count kv_heads = 0;   // 0: heads
  Count value_dim = 0;  // 0: head_dim
  Count mask = 0;       // elements of a boolean mask turned into an additive one and saved; 0: none
  bool sinks = false;   // one more score per row

  Count scores() const { return batch * heads * tokens * (kv_tokens ? kv_tokens : tokens); }
  Count outputs() const { return batch * heads * tokens * (value_dim ? value_dim : head_dim); }
};
// scaled_dot_product_attention in one kernel (cuDNN or flash): saves q, k, v, the result and one number per row.
Tensor fused_attention(Tensor q, Tensor k, Tensor v, const AttentionShape& shape);
// _scaled_dot_product_attention_math: everything in 32 bits, scores and probabilities saved. `bias` may be empty.
Tensor math_attention(Tensor q, Tensor k, Tensor v, const AttentionShape& shape, double dropout_p, Tensor bias);
// The eager attention of transformers: scores, scaling, mask, softmax in 32 bits, dropout, product.
Tensor eager_attention(Tensor q, Tensor k, Tensor v, const AttentionShape& shape, double dropout_p);
// The same with sinks (gpt-oss): a column is appended to the scores, the softmax runs in their width.
Tensor sink_attention(Tensor q, Tensor k, Tensor v, const AttentionShape& shape);
// The same with scores and probabilities recomputed in the backward pass (Megatron's selective recomputation).
Tensor recomputed_attention(Tensor q, Tensor k, Tensor v, const AttentionShape& shape);

// A chunked scan in one kernel (mamba_ssm, flash-linear-attention): saves its inputs and its result. The `states` at
// the ends of chunks, in 32 bits, are computed in the forward pass and again in the backward pass.
Tensor scan(Tensor x, Tensor steps, Count outputs, Count states);

// rotate_half and the two products of rotary positions.
Tensor rotate(Tensor x, const Tensor& cosine, const Tensor& sine);
// T5Attention.compute_bias: buckets from integer distances, then a lookup of n elements.
Tensor relative_bias(Tensor table, Count n, Count tokens);
struct Rotary {
  Tensor cosine, sine;
};
Rotary rotary_tables(Recorder& recorder, Count rows, Count dim, std::uint8_t width);
// transformers checks for packed sequences before it decides on a mask: a few vectors that are freed at once.
void probe_mask(Recorder& recorder, Count tokens);

// --- images and audio

// torch.nn.Conv2d to n outputs: saves its input and the weight's 16-bit copy. cuDNN works channels-last and converts
// its input and output in a workspace, with `padded_input` elements (channels in multiples of eight) for the input; 0:
// a depthwise convolution, which torch computes without one.
Tensor convolution(Tensor x, Tensor weight, Tensor bias, Count n, Count padded_input);
// torch.nn.Conv1d to n outputs: saves its input.
Tensor convolution_over_time(Tensor x, Tensor weight, Count n);
// torch.nn.MaxPool2d: saves the 64-bit indices of the maxima, and the input.
Tensor max_pool(Tensor x, Count n);
Tensor average_pool(Tensor x, Count n);

// --- losses

// The mean of -log_softmax: saves the log-probabilities. `shifted`: labels are padded and copied first (causal models).
Tensor cross_entropy(Tensor logits, Count rows, bool shifted);
// The loss of a causal model: logits to 32 bits, then cross_entropy.
Tensor causal_cross_entropy(Tensor logits, Count rows);
// Megatron: 32-bit logits become probabilities and then their own gradient in place.
Tensor vocabulary_parallel_cross_entropy(Tensor logits, Count rows);
// Head and loss in eight pieces (torchtune, torchtitan): 16-bit logits of all pieces stay until their turn in the
// backward pass; 32-bit logits exist for one piece at a time, once if the loss is compiled and twice if it is not.
Tensor chunked_linear_cross_entropy(Tensor x, Tensor weight, Tensor bias, Count rows, Count vocabulary, bool compiled);
// Mean squared error in 32 bits: the difference is saved.
Tensor squared_loss(Tensor x);
// Liger: head, loss and the gradients of both in the forward pass, a few rows of logits at a time.
Tensor fused_linear_cross_entropy(Tensor x, Tensor weight, Count rows, Count vocabulary);

}  // namespace rightsize::memory::tape
