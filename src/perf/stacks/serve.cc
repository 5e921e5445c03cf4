// Serving engines with continuous batching: closed loop at a concurrency, open loop at a request rate.
#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "memory/memory.h"
#include "memory/weight_bytes.h"
#include "perf/stacks/engine_step.h"
#include "perf/stacks/estimate_parts.h"

namespace rightsize::perf {
namespace {

using model::Job;
using model::JobKind;
using model::Precision;
using model::Stack;

constexpr double kHostOverlap = 4.0;

// Everything about a replica that does not change with the batch.
struct Replica {
  const EngineConstants& c;
  const ModelWork& work;
  const GpuSpeed& gpu;
  const Cluster& cluster;
  const Calibration& own;
  EngineLayout layout;
  double pipeline = 1;
  double prompt = 0, answer = 0;  // mean tokens
  double slots = 0;               // requests the cache holds
  bool slot_wait = false;
};

// One step of `running` requests.
struct Step {
  EngineWork work;
  Seconds device, host, time;
  Seconds launches;
};

Step decode_step(const Replica& r, double running) {
  const double batch = std::max(1.0, running / r.pipeline);  // stages work on different requests
  Step step;
  step.work = decode_work(r.work, r.gpu, r.cluster, r.layout, batch, r.prompt + r.answer / 2);
  step.launches = r.c.layer_launch * r.work.layers + r.c.step_launch;
  step.device =
      (step.work.matmul.time * r.c.decode_matmul + step.work.attention.time * r.c.decode_attention +
       step.work.all_reduce * r.c.decode_all_reduce + step.work.elementwise * r.c.decode_elementwise + step.launches) *
      r.own.device;
  step.host = (r.c.host_step + r.c.host_layer * r.work.layers + r.c.host_request * batch) * r.own.host;
  step.time = soft_max(step.device, step.host, kHostOverlap);
  return step;
}

Step prefill_step(const Replica& r) {
  Step step;
  step.work = prefill_work(r.work, r.gpu, r.cluster, r.layout, r.prompt);
  step.launches = r.c.layer_launch * r.work.layers;
  step.device = (step.work.matmul.time * r.c.prefill_matmul + step.work.attention.time * r.c.prefill_attention +
                 step.work.all_reduce * r.c.prefill_all_reduce + step.work.elementwise * r.c.prefill_elementwise +
                 step.launches) *
                r.own.prefill;
  step.time = step.device;
  return step;
}

struct Latency {
  Seconds ttft, tpot;
  Step step;
};

// TPOT: the step, and the prefills of the others, each of which falls into this answer once.
// TTFT: own prefill and first step; a share of the others' prefills where requests come in bursts; a slot that must
// free itself; and, where the cache is full, the queue of a closed loop.
Latency latency_at(const Replica& r, Seconds prefill, double running, double waiting) {
  Latency l;
  l.step = decode_step(r, running);
  const double answer = std::max(1.0, r.answer);
  l.tpot = l.step.time + prefill * (r.c.prefill_interference * std::max(0.0, running - 1.0) / answer);
  l.ttft = r.c.request_overhead + prefill * r.c.prefill_wait + l.step.time + prefill * (r.c.burst_wait * running);
  if (r.slot_wait) l.ttft += l.tpot * (r.c.slot_wait * answer / running);
  if (waiting > 0) l.ttft += l.tpot * (waiting / running * answer);
  return l;
}

// Little's law: requests in flight = rate x time in the system. Found by bisection on the batch; arrivals are Poisson,
// so a new prompt finds another in prefill with the waiting of an M/G/1 queue (Pollaczek and Khinchine).
struct OpenLoop {
  double running = 0;
  double utilization = 0;
  bool stable = true;
  Seconds queue;
};

OpenLoop open_loop(const Replica& r, Seconds prefill, double rate) {
  const double answer = std::max(1.0, r.answer);
  auto served = [&](double running) {
    const Latency l = latency_at(r, prefill, running, 0);
    return running / in_seconds(l.ttft + l.tpot * answer);
  };
  OpenLoop loop;
  const double most = std::max(1.0, r.slots);
  const double busy = rate * in_seconds(prefill);
  loop.utilization = std::max(rate / served(most), busy);
  loop.stable = loop.utilization < 1;
  if (!loop.stable) {
    loop.running = most;
    return loop;
  }
  double low = std::log(1e-3), high = std::log(most);
  for (int i = 0; i < 16; ++i) {  // to a few parts in ten thousand
    const double middle = 0.5 * (low + high);
    (served(std::exp(middle)) < rate ? low : high) = middle;
  }
  loop.running = std::max(1.0, std::exp(high));
  loop.queue = prefill * (busy / (2 * (1 - busy)));
  return loop;
}

Bound bound_of_step(const Step& step, const Replica& r) {
  if (step.host > step.device) return Bound::kHost;
  if (step.work.all_reduce * r.c.decode_all_reduce > step.device * (1.0 / 3.0)) return Bound::kCommunication;
  const Seconds reads = step.work.matmul.memory + step.work.attention.memory;
  const Seconds sums = step.work.matmul.compute + step.work.attention.compute;
  return sums > reads ? Bound::kCompute : Bound::kMemory;
}

void fill_parts(ServeEstimate& estimate, const Latency& l, const Step& prefill, const Replica& r) {
  const Step& s = l.step;
  auto add = [](TimeParts& parts, const char* name, Seconds time) {
    if (time > Seconds{}) parts.push_back({name, time});
  };
  const double d = r.own.device, p = r.own.prefill;
  add(estimate.parts, "matrix products", s.work.matmul.time * (r.c.decode_matmul * d));
  add(estimate.parts, "attention over the cache", s.work.attention.time * (r.c.decode_attention * d));
  add(estimate.parts, "all-reduce", s.work.all_reduce * (r.c.decode_all_reduce * d));
  add(estimate.parts, "elementwise", s.work.elementwise * (r.c.decode_elementwise * d));
  add(estimate.parts, "kernel launches", s.launches * d);
  add(estimate.parts, "waiting for the host", s.time - s.device);
  add(estimate.parts, "prefills of other requests", l.tpot - s.time);
  add(estimate.prefill_parts, "matrix products", prefill.work.matmul.time * (r.c.prefill_matmul * p));
  add(estimate.prefill_parts, "attention", prefill.work.attention.time * (r.c.prefill_attention * p));
  add(estimate.prefill_parts, "all-reduce", prefill.work.all_reduce * (r.c.prefill_all_reduce * p));
  add(estimate.prefill_parts, "elementwise", prefill.work.elementwise * (r.c.prefill_elementwise * p));
  add(estimate.prefill_parts, "kernel launches", prefill.launches * p);
}

Result<> check_serving(const ModelWork& work, const Job& job, const GpuSpeed& gpu, const ServeLoad& load) {
  if (!gpu.has_half)
    return fail(bad_input("the catalogue has no 16-bit rate for this GPU: its speed cannot be estimated"));
  const bool lacks = (job.precision == Precision::kFp8 && !gpu.has_fp8) ||
                     (job.precision == Precision::kFp4 && !gpu.has_fp4) || job.precision == Precision::kInt4;
  if (lacks && !gpu.weight_only_kernels) {
    return fail(bad_input(fmt::format("this GPU has neither {} arithmetic nor kernels that expand such weights",
                                      model::name_of(job.precision)))
                    .with_hint("use --precision fp16 or int8"));
  }
  if (!work.decoder && job.stack != Stack::kHf) {
    return fail(bad_input("serving engines are modelled for decoders only").with_hint("use --stack hf"));
  }
  if (!(load.kv_tokens > 0)) {
    return fail(bad_input("the weights leave no room for a KV cache on this GPU")
                    .with_hint("use more --tp, a smaller --precision or a larger GPU"));
  }
  const double together = static_cast<double>(std::max(job.batch, job.serve.concurrency));
  const double room = load.kv_tokens / static_cast<double>(job.serve.isl + std::max<std::int64_t>(job.serve.osl, 1));
  if (job.stack == Stack::kHf && together > room) {
    return fail(
        bad_input(fmt::format("the memory left beside the weights holds {:.0f} sequences of {} tokens, not {:.0f}",
                              std::floor(room), job.serve.isl + job.serve.osl, together))
            .with_hint("use a smaller --batch; engines with a queue would let the rest wait"));
  }
  return {};
}

// Ratio of requests of this job to requests that hold reserve_share of their answer.
double slots_of(const EngineConstants& c, double kv_tokens, double prompt, double answer) {
  return kv_tokens / std::max(1.0, prompt + answer * c.reserve_share);
}

Replica replica_of(const Constants& constants, const ModelWork& work, const Job& job, const GpuSpeed& gpu,
                   const Cluster& cluster, const ServeLoad& load) {
  const EngineConstants& c = constants.engine(job.stack);
  Replica r{c, work, gpu, cluster, calibration_of(gpu, slot_of(job.stack), JobKind::kServe), {}, 1, 0, 0, 0, false};
  r.layout.tensor = job.parallel.tensor;
  r.layout.format = weight_format(job.precision, gpu);
  r.layout.kv_bytes = memory::bytes_per_element(kv_format(job));
  r.layout.fp8_factor = c.fp8_kv;
  r.pipeline = job.parallel.pipeline;
  r.prompt = std::max(1.0, static_cast<double>(job.serve.isl) * c.length_share);
  r.answer = static_cast<double>(job.serve.osl) * c.length_share;
  r.slots = slots_of(c, load.kv_tokens, r.prompt, r.answer);
  constexpr std::int64_t kShortAnswer = 512;  // seen with answers up to this long only
  r.slot_wait = load.slot_rule && c.slot_wait > 0 && job.serve.osl <= kShortAnswer;
  return r;
}

// Engines' constants were fitted on dense models. |log error| that holds 80 % of 578 rows of two served mixtures
// (data/measurements/serving-moe.csv), on which nothing was fitted.
Confidence of_mixture(const ModelWork& work, Confidence known) {
  constexpr double kMixtureWidth = 0.33;
  // Recurrent layers and image towers were never measured: no surer than mixtures.
  const bool unmeasured = work.experts > 0 || !work.scans.empty() || work.tower;
  if (!unmeasured || known.basis == Basis::kCalibrated) return known;
  return {std::max(known.basis, Basis::kTransferred), std::max(known.width, kMixtureWidth)};
}

}  // namespace

Precision kv_format(const Job& job) {
  if (job.serve.kv_precision) return *job.serve.kv_precision;
  const bool narrow = job.precision == Precision::kFp8 || job.precision == Precision::kFp4;
  return narrow && (job.stack == Stack::kVllm || job.stack == Stack::kTrtLlm) ? Precision::kFp8 : Precision::kBf16;
}

double kv_token_capacity(const model::ModelShape& model, const Job& job, const catalog::Gpu& gpu) {
  Job asked = job;
  asked.kind = JobKind::kServe;
  asked.serve.kv_precision = kv_format(job);
  asked.serve.concurrency = 1;
  asked.serve.osl = std::max<std::int64_t>(job.serve.osl, 1);
  const memory::MemoryNeed need = memory::estimate_memory(model, asked, &gpu);
  return static_cast<double>(need.max_concurrency.value_or(0)) * static_cast<double>(asked.serve.isl + asked.serve.osl);
}

Result<ServeEstimate> estimate_serving(const Constants& constants, const ModelWork& work, const Job& job,
                                       const GpuSpeed& gpu, const Cluster& cluster, const ServeLoad& load) {
  if (Result<> possible = check_serving(work, job, gpu, load); !possible) return fail(std::move(possible).error());
  if (job.stack == Stack::kHf) return serve_eager(constants, work, job, gpu, load);
  const Replica r = replica_of(constants, work, job, gpu, cluster, load);
  const double replicas = static_cast<double>(job.parallel.gpus) / (job.parallel.tensor * job.parallel.pipeline);
  const Step prefill = prefill_step(r);

  ServeEstimate estimate;
  double asked = std::max(1.0, static_cast<double>(job.serve.concurrency) / replicas);
  Seconds queue;
  if (load.rate > RequestsPerSecond{}) {
    const OpenLoop loop = open_loop(r, prefill.time, in_requests_per_s(load.rate) / replicas);
    asked = loop.running;
    estimate.utilization = loop.utilization;
    estimate.stable = loop.stable;
    queue = loop.queue;
  }
  estimate.running = std::max(1.0, std::min(asked, r.slots));
  const bool full = estimate.running < asked * 0.999;
  const Latency l = latency_at(r, prefill.time, estimate.running, full ? asked - estimate.running : 0);
  estimate.prefill = prefill.time;
  estimate.decode_step = l.step.time;
  estimate.ttft = l.ttft + queue;
  estimate.tpot = l.tpot;
  estimate.max_concurrency = std::floor(r.slots) * replicas;
  const double answer = std::max(1.0, r.answer);
  const double per_replica = asked / in_seconds(estimate.ttft + l.tpot * answer);
  estimate.requests_per_second = per_replica * replicas;
  estimate.output_per_gpu = tokens_per_s(per_replica * answer / (job.parallel.tensor * job.parallel.pipeline));
  estimate.bound = bound_of_step(l.step, r);
  fill_parts(estimate, l, prefill, r);

  const int slot = slot_of(job.stack);
  const Confidence tpot = of_mixture(work, confidence_of(gpu, slot, JobKind::kServe, r.c.tpot_width));
  const Confidence ttft = of_mixture(work, confidence_of(gpu, slot, JobKind::kServe, r.c.ttft_width));
  estimate.basis = tpot.basis;
  estimate.tpot_interval = interval_of(tpot.width);
  // Calibration says how well steps are known; the first token still depends on how requests arrive.
  estimate.ttft_interval = interval_of(std::max(ttft.width, tpot.basis == Basis::kCalibrated ? 0.2 : 0.0));
  if (full) estimate.notes.push_back({NoteKind::kCacheLimits, estimate.running * replicas});
  if (r.slot_wait) estimate.notes.push_back({NoteKind::kSlotWait, 0});
  if (work.experts > 0) estimate.notes.push_back({NoteKind::kMixtureUnsure, 0});
  if (job.parallel.expert > 1) estimate.notes.push_back({NoteKind::kExpertParallelIgnored, 0});
  note_hardware(job, gpu, cluster, estimate.notes);
  return estimate;
}

}  // namespace rightsize::perf
