// The constants of each stack, as data/stacks.csv names them. Every one is explained in docs/speed.md; shares are of a
// GPU's peaks, factors multiply predicted times.
#pragma once

#include "base/units.h"

namespace rightsize::perf {

// Serving engines.
struct EngineConstants {
  double decode_matmul = 1, decode_experts = 1, decode_attention = 1, decode_all_reduce = 1, decode_elementwise = 1;
  double prefill_matmul = 1, prefill_experts = 1, prefill_attention = 1, prefill_all_reduce = 1,
         prefill_elementwise = 1;
  double narrow_products = 1;                        // on products in 8 and 4 bits, besides the factors above
  double decode_latency = 1;                         // what is left of kernels' own latency in a captured step
  Seconds layer_launch, expert_launch, step_launch;  // gaps between kernels, per layer, per layer of experts, per step
  Seconds host_step, host_layer, host_request;       // the scheduler's own time
  double host_power = 1;                             // with which power of the requests host_request grows
  double routing_evenness = 0;                       // of the experts' popularity: the shape of its gamma distribution
  double mixed_passes = 1;             // 1: prompts run beside decoding; 0: before it, in their own passes
  double pass_tokens = 8192;           // prompts are packed and chunked into passes of so many tokens
  double prefill_interference = 0;     // share of others' prefills that falls into this one's decode
  double pipeline_loss = 0;            // share of a prefill that other pipeline stages wait for, beside its own stage's
  Seconds pipeline_request;            // host time a running request costs where stages must keep in step
  double graph_batch = 0;              // requests up to which CUDA graphs are captured
  Seconds graphless_layer;             // host time of a layer without one
  Seconds request_overhead;            // network, tokenizer, first scheduling
  double prefill_wait = 1;             // own prefill, seen from outside
  double burst_wait = 0;               // share of the running requests that come together with a new one, before it
  Seconds front_request, front_token;  // the front end, one process: a request's arrival, a token sent
  double group_wait = 0;               // steps in which groups of attention wait for each other's prompts
  Seconds transfer_overhead;           // disaggregated: handing a request over, beside the bytes of its cache
  double fp8_kv = 0;                   // overrides the GPU's factor; 0 keeps it
  double length_share = 1;             // mean length / nominal length
  double reserve_share = 1;            // of the answer, when a request is admitted
  // |log error| that holds 80 %: of dense models and of mixtures on GPUs and of families that were measured, and what
  // each thing that was not measured adds, as independent errors.
  double tpot_width = 0, ttft_width = 0, mixture_tpot_width = 0, mixture_ttft_width = 0;
  double family_width = 0, mixture_family_width = 0;    // a family nobody measured with this engine
  double format_width = 0;                              // a format of weights, likewise
  double spread_tpot_width = 0, spread_ttft_width = 0;  // attention data parallelism, separate workers
  // Full load: more requests than were measured one by one, or a queue for slots.
  double load_width = 0, mixture_load_width = 0;
  double served_batch = 0;  // the most of those
};

// Eager PyTorch (Hugging Face transformers).
struct EagerConstants {
  double matmul_rate = 0;
  double odd_width = 1, even_width = 1;  // outputs not a multiple of eight fall off the fast kernels
  double forward_bandwidth = 0, backward_bandwidth = 0, lora_bandwidth = 0;
  Seconds kernel_launch;  // GPU time of a kernel beyond its bytes
  double attention_rate = 0, attention_backward = 1, attention_head_gamma = 0, attention_mask = 1;
  double attention_wide_head = 1, attention_occupancy = 0;
  double fp32_rate = 0, fp32_expert_rate = 0;                // of large products and of grouped ones
  double fp32_batched = 0, fp32_attention = 0;               // of products of written-out attention, of fused attention
  double math_scores_forward = 0, math_scores_backward = 0;  // bytes per score, fp32 attention in pieces
  double eager_scores_forward = 0, eager_scores_backward = 0;  // bytes per score, 16-bit attention in pieces
  double expert_rate = 1, merged_expert_bytes = 0;
  double sink_scores = 1, expert_bias_bytes = 0;  // of gpt-oss
  Seconds host_expert;                            // routing of a layer: the host waits to see which expert got what
  double view_cost = 0;                           // host time of a call without a kernel, against one with
  Seconds host_forward, host_layer, host_backward, host_cast, host_checkpoint, host_tensor;
  Seconds host_adapter;  // what peft's module around a linear adds to its kernels, both ways
  Seconds host_infer, host_infer_layer;
  double optimizer_bandwidth = 0, optimizer_bandwidth_fp32 = 0;
  double batched_rate = 0;                           // products of attention written out
  double host_overlap = 1, network_overlap = 1;      // how sharply GPU and host, compute and network combine
  double selective_share = 0;                        // of a forward pass that selective recompute repeats
  double offload_link = 0;                           // share of the link to host memory that copies reach
  Seconds offload_update;                            // of one parameter by a machine's CPUs
  double scan_width = 0;                             // |log error| at 80 % of recurrent layers, which nobody measured
  double compiled_rate = 1, compiled_attention = 1;  // products and masked attention against those of eager mode
  double compiled_bandwidth = 0;                     // of kernels torch.compile writes
  double compiled_rotary = 1, compiled_loss = 0;     // its rotary kernels against plain ones; bytes per logit
  Seconds compiled_kernel;                           // host time of one
  double compiled_width = 0;
  double decode_repeat_bandwidth = 0, decode_attention_bandwidth = 0;
  Seconds decode_kernel;
  double train_gpu_width = 0, train_host_width = 0, prefill_gpu_width = 0, prefill_host_width = 0;
};

// Sharded data parallel trainers with fused kernels: llm-foundry, torchtitan.
struct ShardedConstants {
  double matmul_rate = 1, matmul_rate_hopper = 1;     // of the sustained rate
  double attention_ampere = 1, attention_hopper = 1;  // time against today's kernels
  double elementwise = 0;                             // passes over the residual stream, a layer and direction
  double elementwise_compiled = 0;                    // the same under torch.compile
  double logits_bytes = 0;                            // per logit: loss and its gradient
  double network_rate = 1, scale_loss = 0;
  double fp8_rate = 0;
  double bandwidth = 0, cast_bandwidth = 0;  // shares that elementwise passes and casts to fp8 reach
  double network_overlap = 1;                // how sharply compute and network combine
  double selective_share = 0;                // of a forward pass that selective recompute repeats
  double train_width = 0;
};

struct MegatronConstants {
  double rate_bf16 = 0, rate_fp8 = 0, rate_fp4 = 0;  // of what large products reach on the GPU, by format's peak
  double attention_rate = 0, attention_short = 0;    // of a long sequence, and tokens at which it is half of that
  double head_rate = 0;
  double scale_loss = 0;  // share of a step that every doubling of the GPUs beyond eight adds: all wait for the slowest
  double bandwidth = 0, elementwise = 0;         // bytes an element of the residual stream
  double permute = 0;                            // what moving routed tokens takes against their bytes
  double gradient_bytes = 0;                     // a weight's gradient, added up in every micro-batch
  double expert_rate = 1;                        // of grouped products against large ones
  double all_to_all = 0, tensor_exposed = 0;     // shares that compute does not hide
  double network_rate = 1, network_overlap = 1;  // how sharply compute and network combine
  double contention = 0;                         // share of hidden gradients' time that products lose
  Seconds layer;                                 // launches nothing hides
  Seconds expert_host, expert_launch;  // the host's time for a layer of experts, and for each expert of it on the GPU
  Seconds step;                        // between steps: norm of the gradients, host, batch
  double host_overlap = 1;             // how sharply GPU and host combine
  double dense_width = 0, expert_width = 0;
  double few_rows_width = 0;  // added for adapters and 4-bit training, which few runs show
};

// Image models in torchvision.
struct VisionConstants {
  double bandwidth = 0;
  double conv_depth = 1, conv_width = 1, conv_occupancy = 0;
  double grouped_rate = 0, conv_input_gradient = 1;
  double depthwise = 1, depthwise_kernel = 1, depthwise_backward = 1;
  double linear_rate = 0, attention_rate = 0, window_scores = 0, dropout = 1;
  double channels_last_copies = 1, channels_last_rate = 0, channels_last_weight_gradient = 1;
  double channels_last_depthwise = 1;
  double train_traffic = 1, gradient_traffic = 1;  // elementwise time of training, each way, against the bytes
  double norm_bytes = 0;                           // layer norms: bytes that would take as long as their arithmetic
  double batch_norm = 1, batch_statistics = 0;     // batch norms against their bytes; bytes of 16-bit statistics
  double fp32_rate = 0, fp32_attention = 0;        // shares of the fp32 peak
  Seconds kernel_launch, host_forward, host_infer, host_backward;
  Seconds host_tensor;      // of torch's default AdamW, which goes through lists of tensors
  double batched_rate = 0;  // products of attention within windows
  double optimizer_bandwidth = 0, optimizer_passes = 1;
  double host_overlap = 1, network_overlap = 1;  // how sharply GPU and host, compute and network combine
  double width = 0;
};

}  // namespace rightsize::perf
