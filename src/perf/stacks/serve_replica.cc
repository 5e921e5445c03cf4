#include "perf/stacks/serve_replica.h"

#include <algorithm>
#include <cmath>

#include "memory/kv_cache.h"
#include "memory/weight_bytes.h"
#include "model/serve_settings.h"

namespace rightsize::perf {
namespace {

constexpr double kHostOverlap = 4.0;  // exponent that combines GPU and host time; chosen; its terms are fitted

Step prefill_pass(const EngineCopy& r, double prompts) {
  Step step;
  step.work = prefill_work(r.work, r.gpu, r.cluster, r.layout, prompts, r.prompt, r.cached);
  step.launches = r.c.layer_launch * r.launched + r.c.expert_launch * r.work.expert_layers;
  step.device =
      (step.work.matmul.with_losses(r.prefill_products) + step.work.experts.with_losses(r.c.prefill_experts) +
       step.work.attention.with_losses(r.c.prefill_attention) + step.work.all_reduce * r.c.prefill_all_reduce +
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
  const model::ServedFormats formats = model::served_formats(work.experts > 0, work.checkpoint.format, job.precision);
  EngineLayout layout;
  layout.tensor = job.parallel.tensor;
  layout.attention = job.parallel.attention_data;
  layout.expert = job.parallel.expert;
  layout.format = weight_format(formats.dense, gpu);
  layout.experts = weight_format(formats.experts, gpu);
  // TensorRT-LLM has its own kernels for them (the rows of kernels-experts.csv with 8-bit activations).
  const bool published = work.experts > 0 && work.checkpoint.format == model::Precision::kFp4;
  if (published && layout.experts == WeightFormat::kFp4 && gpu.expands_published_experts &&
      job.stack != model::Stack::kTrtLlm)
    layout.experts = WeightFormat::kMx4;
  layout.kv_bytes = memory::bytes_per_element(memory::kv_format(job, work.checkpoint, gpu.has_fp4));
  layout.fp8_factor = c.fp8_kv;
  layout.evenness = c.routing_evenness;
  return layout;
}

// 8-bit and 4-bit arithmetic needs an extra kernel before a product to quantize its input.
bool rounds(WeightFormat format) { return format == WeightFormat::kFp8 || format == WeightFormat::kFp4; }

// Products in narrow formats need the same extra kernels whether they compute in the format or only store it.
bool is_narrow(WeightFormat format) { return format != WeightFormat::kHalf && format != WeightFormat::kFp32; }

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
  if (is_narrow(layout.format)) count += static_cast<double>(layer.products.size());
  return count + rotates + (activates && layer.experts < 0);
}

// A Llama layer in 16 bits: two norms, four products, rotation, attention, activation.
constexpr double kUsualKernels = 9;

// vLLM's Triton kernel for experts in 16 bits has tuned tile sizes for experts cut by tensor parallelism, but for
// hardly any number of whole experts on a GPU, and its default reads weights at less than half the bandwidth. From 20
// runs of Llama 4 Scout with --enable-expert-parallel (data/measurements/serving-campaigns.csv).
double untuned_experts(model::Stack stack, const EngineLayout& layout) {
  constexpr double kLosses = 7;
  return stack == model::Stack::kVllm && layout.expert > 1 && layout.experts == WeightFormat::kHalf ? kLosses : 1;
}

// Products of decoded tokens and of prompts in one kernel: arithmetic adds up, weights are read once.
Seconds saved(const OpTime& decode, Seconds decode_time, const OpTime& prompts, Seconds prompt_time) {
  constexpr double kSharpness = 2;  // a choice, as in the walks over images
  if (!(decode.time > Seconds{}) || !(prompts.time > Seconds{})) return Seconds{};
  const double decode_factor = decode_time / decode.time, prompt_factor = prompt_time / prompts.time;
  const Seconds sums = decode.compute * decode_factor, more = prompts.compute * prompt_factor;
  const Seconds reads = decode.memory * decode_factor, again = prompts.memory * prompt_factor;
  const Seconds apart = soft_max(sums, reads, kSharpness) + soft_max(more, again, kSharpness);
  return apart - soft_max(sums + more, std::max(reads, again), kSharpness);
}

Seconds beyond(const EngineCopy& r, const Step& decode, const Step& pass) {
  const EngineWork &step = decode.work, &prompts = pass.work;
  const Seconds shared = saved(step.matmul, decode_time(r, step.matmul, r.decode_products), prompts.matmul,
                               prompts.matmul.with_losses(r.prefill_products)) +
                         saved(step.experts, decode_time(r, step.experts, r.decode_experts), prompts.experts,
                               prompts.experts.with_losses(r.c.prefill_experts)) +
                         pass.launches;
  return std::max(pass.time - shared * r.own.prefill, Seconds{});
}

}  // namespace

// The probability that a draft is accepted if all before it were. It falls with depth, so the geometric law (Leviathan
// et al. 2023, arXiv 2211.17192, equation 1) is up to twice too high at eight drafts. The second draft loses 8 points
// against the first, and every further one is accepted 3 % less often than the one before it: fitted to the 49 points
// of data/speculation.csv, with an error of 8.9 %; 13.6 % with the model left out and 10.4 % with the method left out.
// Five of seven curves are within 3 %; one model's extra head, which was trained for one token only, falls much faster.
double accepted_tokens(const Constants& constants, const model::Speculation& s) {
  if (const auto found = constants.draft_curves.find(s.method); found != constants.draft_curves.end()) {
    const std::vector<double>& curve = found->second;
    return std::max(1.0, curve[std::min(static_cast<std::size_t>(s.tokens), curve.size()) - 1]);
  }
  constexpr double kSecondLoss = 0.08, kDecline = 0.97;
  double kept = 1, reached = 1, chance = s.acceptance;
  for (int i = 0; i < s.tokens; ++i) {
    reached *= chance;
    kept += reached;
    chance = i == 0 ? std::max(0.0, chance - kSecondLoss) : chance * kDecline;
  }
  return kept;
}

EngineCopy replica_of(const Constants& constants, const ModelWork& work, const model::Job& job, const GpuSpeed& gpu,
                      const Cluster& cluster, double kv_tokens, bool real) {
  const EngineConstants& c = constants.engine(job.stack);
  EngineCopy r{c, work, gpu, cluster, calibration_of(gpu, slot_of(job.stack), model::JobKind::kServe)};
  r.layout = layout_of(c, work, job, gpu);
  // No run with weight-only products was measured: their kernels keep the losses of the curve.
  const bool expanded = is_narrow(r.layout.format) && !rounds(r.layout.format);
  const double narrow = rounds(r.layout.format) ? c.narrow_products : 1.0;
  r.decode_products = expanded ? 1 : c.decode_matmul * narrow;
  r.prefill_products = expanded ? 1 : c.prefill_matmul * narrow;
  r.decode_experts = c.decode_experts * untuned_experts(job.stack, r.layout);
  r.pipeline = job.parallel.pipeline;
  // Closed loops are benchmarks, which draw lengths up to the nominal ones; in real work, lengths are means.
  const double drawn = real ? 1 : c.length_share;
  const double tokens = std::max(1.0, static_cast<double>(job.serve.isl) * drawn);
  r.cached = tokens * job.serve.prefix_hit;
  r.prompt = tokens - r.cached;
  r.answer = static_cast<double>(job.serve.osl) * drawn;
  r.slots = kv_tokens / std::max(1.0, tokens + r.answer * c.reserve_share);
  // The same count as the memory model's: whole requests of the nominal lengths.
  r.cached_requests = kv_tokens / static_cast<double>(job.serve.isl + std::max<std::int64_t>(job.serve.osl, 1));
  if (job.serve.max_batch) r.slots = std::min(r.slots, static_cast<double>(*job.serve.max_batch));
  for (const LayerWork& layer : work.kinds) r.launched += layer.count * kernels_of(layer, r.layout) / kUsualKernels;
  const double budget = job.serve.max_tokens ? static_cast<double>(*job.serve.max_tokens) : c.pass_tokens;
  r.pass_prompts = std::max(1.0, budget * r.layout.attention / r.prompt);
  if (job.serve.poll_steps)
    r.poll_steps.few = r.poll_steps.many = static_cast<double>(*job.serve.poll_steps);
  else if (!gpu.rocm && !real)  // as in benchmarks; on AMD and by default, engines check every step
    r.poll_steps = {c.poll_steps / 3, c.poll_steps};
  if (job.serve.speculation.tokens > 0) {
    r.queries = 1.0 + job.serve.speculation.tokens;
    r.accepted = accepted_tokens(constants, job.serve.speculation);
  }
  return r;
}

EngineCopy prefill_worker_of(EngineCopy decode_worker, int tensor) {
  EngineLayout& layout = decode_worker.layout;
  // As in model::prefill_worker().
  const int attention = layout.attention > 1 || layout.expert > 1 ? tensor : 1;
  decode_worker.pass_prompts = std::max(1.0, decode_worker.pass_prompts / layout.attention * attention);
  layout.expert = layout.expert > 1 ? tensor : 1;
  layout.attention = attention;
  layout.tensor = tensor;
  // Recipes for separate workers with attention groups keep copies of the busiest experts, so that groups are even.
  if (attention > 1) layout.evenness = 0;
  return decode_worker;
}

Seconds decode_time(const EngineCopy& r, const OpTime& op, double factor) {
  return op.with_losses(factor) + op.latency * (r.c.decode_latency - factor);
}

Step decode_step(const EngineCopy& r, double running) {
  const double batch = std::max(1.0, running / r.pipeline);  // stages work on different requests
  const double own = std::max(1.0, batch / r.layout.attention);
  Step step;
  step.work = decode_work(r.work, r.gpu, r.cluster, r.layout, batch, r.prompt + r.cached + r.answer / 2, r.queries);
  step.work.all_reduce += stage_hops(r, batch);
  // Drafts come one after the other from one layer of the model's width and its head (multi-token prediction).
  const double guesses = (r.queries - 1) / std::max(1.0, r.work.layers);
  step.launches =
      (r.c.layer_launch * r.launched + r.c.expert_launch * r.work.expert_layers) * (1 + guesses) + r.c.step_launch;
  const Seconds products = decode_time(r, step.work.matmul, r.decode_products);
  step.device =
      (products * (1 + guesses) + decode_time(r, step.work.experts, r.decode_experts) +
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
