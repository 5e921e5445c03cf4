#include "perf/stacks/serve_replica.h"

#include <algorithm>
#include <cmath>

#include "memory/kv_cache.h"
#include "memory/weight_bytes.h"
#include "model/serve_settings.h"

namespace rightsize::perf {
namespace {

constexpr double kHostOverlap = 4.0;  // exponent that combines GPU and host time; chosen, while its terms are fitted

Step prefill_pass(const EngineCopy& r, double prompts) {
  Step step;
  step.work = prefill_work(r.work, r.gpu, r.cluster, r.layout, prompts, r.prompt, r.cached);
  step.launches = r.c.layer_launch * r.launched + r.c.expert_launch * r.work.expert_layers;
  step.device = (step.work.matmul.time * r.prefill_products + step.work.experts.time * r.c.prefill_experts +
                 step.work.attention.time * r.c.prefill_attention + step.work.all_reduce * r.c.prefill_all_reduce +
                 step.work.elementwise * r.c.prefill_elementwise + step.launches) *
                r.own.prefill;
  step.time = step.device;
  return step;
}

// Activations that move from one pipeline stage to the next.
Seconds stage_hops(const EngineCopy& r, double rows) {
  if (r.pipeline <= 1) return Seconds{};
  return collective_time(r.gpu, r.cluster, Collective::kAllGather, 2, bytes(4 * rows * r.work.hidden)) *
         (r.pipeline - 1);
}

EngineLayout layout_of(const EngineConstants& c, const ModelWork& work, const model::Job& job, const GpuSpeed& gpu) {
  const model::ServedFormats formats = model::served_formats(work.experts > 0, work.checkpoint, job.precision);
  EngineLayout layout;
  layout.tensor = job.parallel.tensor;
  layout.attention = job.parallel.attention_data;
  layout.expert = job.parallel.expert;
  layout.format = weight_format(formats.dense, gpu);
  layout.experts = weight_format(formats.experts, gpu);
  layout.kv_bytes =
      memory::bytes_per_element(memory::kv_format(job, memory::keeps_narrow(job, work.narrow_cache, gpu.has_fp4)));
  layout.fp8_factor = c.fp8_kv;
  layout.evenness = c.routing_evenness;
  return layout;
}

// With `tokens` drafts, each accepted with probability a if all before it were, 1 + a + a^2 ... tokens are kept,
// including the one the model adds (Leviathan et al. 2023, arXiv 2211.17192, equation 1).
double kept_of(const model::Speculation& s) { return (1 - std::pow(s.acceptance, s.tokens + 1)) / (1 - s.acceptance); }

// 8-bit and 4-bit arithmetic needs an extra kernel before a product to quantize its input.
bool rounds(WeightFormat format) { return format == WeightFormat::kFp8 || format == WeightFormat::kFp4; }

// Kernels per layer besides those of its experts (which were measured including routing and quantization): products,
// attention, norms, rotation, activation.
double kernels_of(const LayerWork& layer, const EngineLayout& layout) {
  double count = static_cast<double>(layer.products.size() + layer.attentions.size() + layer.scans.size());
  bool rotates = false, activates = false;
  for (const WorkOp& op : layer.ops) {
    if (op.kind == model::OpKind::kNorm) count += 1;
    rotates |= op.kind == model::OpKind::kRotate;
    activates |= op.kind == model::OpKind::kActivate;
  }
  if (rounds(layout.format)) count += static_cast<double>(layer.products.size());
  return count + rotates + (activates && layer.experts < 0);
}

// A Llama layer in 16 bits: two norms, four products, rotation, attention, activation.
constexpr double kUsualKernels = 9;

}  // namespace

EngineCopy replica_of(const Constants& constants, const ModelWork& work, const model::Job& job, const GpuSpeed& gpu,
                   const Cluster& cluster, double kv_tokens) {
  const EngineConstants& c = constants.engine(job.stack);
  EngineCopy r{c, work, gpu, cluster, calibration_of(gpu, slot_of(job.stack), model::JobKind::kServe)};
  r.layout = layout_of(c, work, job, gpu);
  const double narrow = rounds(r.layout.format) ? c.narrow_products : 1.0;
  r.decode_products = c.decode_matmul * narrow, r.prefill_products = c.prefill_matmul * narrow;
  r.pipeline = job.parallel.pipeline;
  const double tokens = std::max(1.0, static_cast<double>(job.serve.isl) * c.length_share);
  r.cached = tokens * job.serve.prefix_hit;
  r.prompt = tokens - r.cached;
  r.answer = static_cast<double>(job.serve.osl) * c.length_share;
  r.slots = r.cached_requests = kv_tokens / std::max(1.0, tokens + r.answer * c.reserve_share);
  if (job.serve.max_batch) r.slots = std::min(r.slots, static_cast<double>(*job.serve.max_batch));
  for (const LayerWork& layer : work.kinds) r.launched += layer.count * kernels_of(layer, r.layout) / kUsualKernels;
  const double budget = job.serve.max_tokens ? static_cast<double>(*job.serve.max_tokens) : c.pass_tokens;
  r.pass_prompts = std::max(1.0, budget * r.layout.attention / r.prompt);
  if (job.serve.speculation.tokens > 0) {
    r.queries = 1.0 + job.serve.speculation.tokens;
    r.accepted = kept_of(job.serve.speculation);
  }
  return r;
}

EngineCopy prefill_worker_of(EngineCopy decode_worker, int tensor) {
  EngineLayout& layout = decode_worker.layout;
  decode_worker.pass_prompts = std::max(1.0, decode_worker.pass_prompts / layout.attention);
  layout.tensor = tensor;
  layout.attention = layout.expert = 1;
  return decode_worker;
}

// An engine's kernels may be better than those the curves were fitted on, but nothing reads faster than memory is read
// at all: .89 of the data sheet is the most that passes over whole buffers reach on an H200
// (data/measurements/casts-h200.csv), where 16-bit products of the GPU itself did not reach more (GDDR7).
Seconds decode_time(const EngineCopy& r, const OpTime& op, double factor) {
  constexpr double kStreamed = 0.89;
  const double streamed = std::max(kStreamed, r.gpu.matmul[static_cast<std::size_t>(MatmulFormat::kHalf)].bandwidth);
  const Seconds kernels = std::max((op.time - op.latency) * factor, traffic_time(r.gpu, op.traffic, streamed));
  return kernels + op.latency * r.c.decode_latency;
}

Step decode_step(const EngineCopy& r, double running) {
  const double batch = std::max(1.0, running / r.pipeline);  // stages work on different requests
  const double own = std::max(1.0, batch / r.layout.attention);
  Step step;
  step.work = decode_work(r.work, r.gpu, r.cluster, r.layout, batch, r.prompt + r.cached + r.answer / 2, r.queries);
  step.work.all_reduce += stage_hops(r, batch);
  // Guesses come one after the other from a layer of the model's own width and its head (multi-token prediction).
  const double guesses = (r.queries - 1) / std::max(1.0, r.work.layers);
  step.launches =
      (r.c.layer_launch * r.launched + r.c.expert_launch * r.work.expert_layers) * (1 + guesses) + r.c.step_launch;
  const Seconds products = decode_time(r, step.work.matmul, r.decode_products);
  step.device =
      (products * (1 + guesses) + decode_time(r, step.work.experts, r.c.decode_experts) +
       decode_time(r, step.work.attention, r.c.decode_attention) + step.work.all_reduce * r.c.decode_all_reduce +
       step.work.elementwise * r.c.decode_elementwise + step.launches) *
      r.own.device;
  step.host = r.c.host_step + r.c.host_layer * r.work.layers + r.c.host_request * std::pow(own, r.c.host_power);
  // The first stage's scheduler handles every request of every stage.
  step.host += r.c.pipeline_request * (running * (1 - 1 / r.pipeline));
  // Beyond the largest captured CUDA graph layers are launched one by one.
  if (own > r.c.graph_batch) step.host += r.c.graphless_layer * (r.work.layers * (1 - r.c.graph_batch / own));
  step.host = step.host * r.own.host;
  step.time = soft_max(step.device, step.host, kHostOverlap);
  return step;
}

Seconds Prefill::share_of(double together, Seconds one, Seconds all) const {
  const double n = std::clamp(together, 1.0, most);
  const double share = most > 1 ? (n - 1) / (most - 1) : 0;
  return (one * (1 - share) + all * share) / n;
}

namespace {

// Products of decoded tokens and of prompts in one kernel: arithmetic adds up, weights are read once.
Seconds saved(const OpTime& decode, double decode_factor, const OpTime& prompts, double prompt_factor) {
  constexpr double kSharpness = 2;  // a choice, as in the walks over images
  const Seconds sums = decode.compute * decode_factor, more = prompts.compute * prompt_factor;
  const Seconds reads = decode.memory * decode_factor, again = prompts.memory * prompt_factor;
  const Seconds apart = soft_max(sums, reads, kSharpness) + soft_max(more, again, kSharpness);
  return apart - soft_max(sums + more, std::max(reads, again), kSharpness);
}

Seconds beyond(const EngineCopy& r, const Step& decode, const Step& pass) {
  const Seconds shared = saved(decode.work.matmul, r.decode_products, pass.work.matmul, r.prefill_products) +
                         saved(decode.work.experts, r.c.decode_experts, pass.work.experts, r.c.prefill_experts) +
                         pass.launches;
  return std::max(pass.time - shared * r.own.prefill, Seconds{});
}

}  // namespace

Seconds Prefill::beside(const EngineCopy& r, const Step& decode, double together) const {
  if (!(r.c.mixed_passes > 0)) return each(together);  // prompts run in separate passes
  const Seconds one = beyond(r, decode, alone);
  return share_of(together, one, most > 1 && together > 1 ? beyond(r, decode, full) : one);
}

Prefill prefill_of(const EngineCopy& r) {
  Prefill prefill;
  prefill.alone = prefill_pass(r, 1);
  prefill.most = r.pass_prompts;
  prefill.full = prefill.most > 1 ? prefill_pass(r, prefill.most) : prefill.alone;
  return prefill;
}

}  // namespace rightsize::perf
