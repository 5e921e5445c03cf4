// Serving engines with continuous batching: closed loop at a concurrency, open loop at a request rate.
#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "memory/memory.h"
#include "perf/stacks/serve_confidence.h"
#include "perf/stacks/serve_queue.h"

namespace rightsize::perf {
namespace {

using model::Job;
using model::JobKind;
using model::Precision;
using model::Stack;

Bound bound_of_step(const Step& step, const EngineCopy& r) {
  if (step.host > step.device) return Bound::kHost;
  // A third of the time makes it the largest of several parts.
  if (step.work.all_reduce * r.c.decode_all_reduce > step.device * (1.0 / 3.0)) return Bound::kCommunication;
  const Seconds reads = step.work.matmul.memory + step.work.experts.memory + step.work.attention.memory;
  const Seconds sums = step.work.matmul.compute + step.work.experts.compute + step.work.attention.compute;
  return sums > reads ? Bound::kCompute : Bound::kMemory;
}

void add_part(TimeParts& parts, const char* name, Seconds time) {
  if (time > Seconds{}) parts.push_back({name, time});
}

// Per kept token: with speculative decoding, the accepted tokens share the time of a step.
void fill_decode_parts(TimeParts& parts, const Latency& l, const EngineCopy& r) {
  const Step& s = l.step;
  const double d = r.own.device / r.accepted;
  add_part(parts, "matrix products", decode_time(r, s.work.matmul, r.decode_products) * d);
  add_part(parts, "experts", decode_time(r, s.work.experts, r.c.decode_experts) * d);
  add_part(parts, "attention over the cache", decode_time(r, s.work.attention, r.c.decode_attention) * d);
  add_part(parts, r.layout.attention > 1 ? "exchanges between GPUs" : "all-reduce",
           s.work.all_reduce * (r.c.decode_all_reduce * d));
  add_part(parts, "elementwise", s.work.elementwise * (r.c.decode_elementwise * d));
  add_part(parts, "kernel launches", s.launches * d);
  Seconds sum;
  for (const TimePart& part : parts) sum += part.time;
  add_part(parts, "speculative decoding", s.device / r.accepted - sum);
  add_part(parts, "waiting for the host", (s.time - s.device) / r.accepted);
  add_part(parts, "prefills of other requests", l.tpot - s.time / r.accepted);
}

void fill_prefill_parts(TimeParts& parts, const Step& prefill, const EngineCopy& r) {
  const double p = r.own.prefill;
  add_part(parts, "matrix products", prefill.work.matmul.time * (r.prefill_products * p));
  add_part(parts, "experts", prefill.work.experts.time * (r.c.prefill_experts * p));
  add_part(parts, "attention", prefill.work.attention.time * (r.c.prefill_attention * p));
  add_part(parts, r.layout.attention > 1 ? "exchanges between GPUs" : "all-reduce",
           prefill.work.all_reduce * (r.c.prefill_all_reduce * p));
  add_part(parts, "elementwise", prefill.work.elementwise * (r.c.prefill_elementwise * p));
  add_part(parts, "kernel launches", prefill.launches * p);
}

Result<> check_serving(const ModelWork& work, const Job& job, const GpuSpeed& gpu, const ServeLoad& load) {
  if (!gpu.has_half)
    return fail(bad_input("the catalogue has no 16-bit FLOP/s for this GPU, so its speed cannot be estimated"));
  const bool lacks = (job.precision == Precision::kFp8 && !gpu.has_fp8) ||
                     (job.precision == Precision::kFp4 && !gpu.has_fp4) || job.precision == Precision::kInt4;
  if (lacks && !gpu.weight_only_kernels) {
    return fail(bad_input(fmt::format("this GPU supports neither {} arithmetic nor weights in that format",
                                      model::name_of(job.precision)))
                    .with_hint("use --precision fp16 or int8"));
  }
  if (!work.decoder && job.stack != Stack::kHf) {
    return fail(bad_input("serving engines are modelled for decoders only").with_hint("use --stack hf"));
  }
  if (job.serve.disaggregated && load.rate > RequestsPerSecond{}) {
    return fail(bad_input("disaggregated serving is modelled for --concurrency, not for --rate")
                    .with_hint("use --concurrency instead of --rate"));
  }
  if (!(load.kv_tokens > 0)) {
    return fail(bad_input("the weights leave no memory for a KV cache on this GPU")
                    .with_hint("use a larger --tp, a smaller --precision or a larger GPU"));
  }
  const double together = static_cast<double>(std::max(job.batch, job.serve.concurrency));
  const double room = load.kv_tokens / static_cast<double>(job.serve.isl + std::max<std::int64_t>(job.serve.osl, 1));
  if (job.stack == Stack::kHf && together > room) {
    return fail(
        bad_input(fmt::format("the memory left after the weights holds {:.0f} sequences of {} tokens, not {:.0f}",
                              std::floor(room), job.serve.isl + job.serve.osl, together))
            .with_hint("use a smaller --batch, or --stack vllm, which queues requests"));
  }
  return {};
}

void fill_notes(ServeEstimate& estimate, const EngineCopy& r, const Job& job, double replicas) {
  const bool limited = job.serve.max_batch && r.slots >= static_cast<double>(*job.serve.max_batch);
  if (estimate.full) {
    estimate.notes.push_back({limited ? NoteKind::kBatchLimits : NoteKind::kCacheLimits, estimate.running * replicas});
  }
  if (r.work.experts > 0) estimate.notes.push_back({NoteKind::kMixtureUnsure, 0});
  if (r.layout.experts != r.layout.format && job.precision == Precision::kFp8)
    estimate.notes.push_back({NoteKind::kPublishedExperts, 0});
  note_hardware(job, r.gpu, r.cluster, estimate.notes);
}

ServeEstimate together(const EngineCopy& r, const Job& job, const ServeLoad& load) {
  const Prefill prefill = prefill_of(r);
  const double copy = job.parallel.tensor * job.parallel.pipeline;
  const double replicas = static_cast<double>(job.parallel.gpus) / copy;
  ServeEstimate estimate;
  double asked = std::max(1.0, static_cast<double>(job.serve.concurrency) / replicas);
  Seconds queue;
  if (load.rate > RequestsPerSecond{}) {
    const OpenLoop loop = open_loop(r, prefill, in_requests_per_s(load.rate) / replicas);
    asked = loop.running;
    estimate.utilization = loop.utilization;
    estimate.stable = loop.stable;
    queue = loop.queue;
  }
  estimate.running = std::max(1.0, std::min(asked, r.slots));
  estimate.full = estimate.running < asked * 0.999;
  const bool open = load.rate > RequestsPerSecond{};
  const Latency l = open ? arriving_at(r, prefill, estimate.running)
                         : latency_at(r, prefill, estimate.running, std::max(0.0, asked - estimate.running));
  estimate.prefill = prefill.alone.time;
  estimate.decode_step = l.step.time;
  estimate.ttft = l.ttft + queue;
  estimate.tpot = l.tpot;
  estimate.max_concurrency = std::floor(r.cached_requests) * replicas;
  const double answer = std::max(1.0, r.answer);
  const double per_replica = asked / in_seconds(estimate.ttft + l.tpot * answer);
  estimate.requests_per_second = per_replica * replicas;
  estimate.output_per_gpu = tokens_per_s(per_replica * answer / copy);
  estimate.bound = bound_of_step(l.step, r);
  fill_decode_parts(estimate.parts, l, r);
  fill_prefill_parts(estimate.prefill_parts, prefill.alone, r);
  fill_notes(estimate, r, job, replicas);
  return estimate;
}

ServeEstimate apart(const EngineCopy& r, const Job& job) {
  const model::Disaggregated& workers = *job.serve.disaggregated;
  const EngineCopy prompts = prefill_worker_of(r, workers.prefill_tensor);
  const Prefill prefill = prefill_of(prompts);
  ServeEstimate estimate;
  estimate.transfer = transfer_time(r, workers);
  const Separate found =
      separate_workers(r, prefill, workers, static_cast<double>(job.serve.concurrency), estimate.transfer);
  estimate.running = found.running;
  estimate.prefill = prefill.alone.time;
  estimate.decode_step = found.latency.step.time;
  estimate.ttft = found.latency.ttft;
  estimate.tpot = found.latency.tpot;
  estimate.max_concurrency = std::floor(r.cached_requests) * workers.decode_workers;
  estimate.requests_per_second = found.requests_per_second;
  estimate.output_per_gpu =
      tokens_per_s(found.requests_per_second * std::max(1.0, r.answer) / static_cast<double>(job.parallel.gpus));
  estimate.bound = bound_of_step(found.latency.step, r);
  fill_decode_parts(estimate.parts, found.latency, r);
  fill_prefill_parts(estimate.prefill_parts, prefill.alone, prompts);
  estimate.full = found.full;
  fill_notes(estimate, r, job, workers.decode_workers);
  return estimate;
}

}  // namespace

double kv_token_capacity(const model::ModelShape& model, const Job& job, const catalog::Gpu& gpu) {
  Job asked = job;
  asked.kind = JobKind::kServe;
  asked.serve.concurrency = 1;
  asked.serve.osl = std::max<std::int64_t>(job.serve.osl, 1);
  const double tokens = static_cast<double>(asked.serve.isl + asked.serve.osl);
  auto held = [&] {
    return static_cast<double>(memory::estimate_memory(model, asked, &gpu).max_concurrency.value_or(0)) * tokens;
  };
  const double decode = held();
  if (!job.serve.disaggregated) return decode;
  asked.parallel.tensor = job.serve.disaggregated->prefill_tensor;
  asked.parallel.expert = asked.parallel.attention_data = 1;
  return held() > 0 ? decode : 0;
}

Result<ServeEstimate> estimate_serving(const Constants& constants, const ModelWork& work, const Job& job,
                                       const GpuSpeed& gpu, const Cluster& cluster, const ServeLoad& load) {
  if (Result<> possible = check_serving(work, job, gpu, load); !possible) return fail(std::move(possible).error());
  if (job.stack == Stack::kHf) return serve_eager(constants, work, job, gpu, load);
  const EngineCopy r = replica_of(constants, work, job, gpu, cluster, load.kv_tokens);
  ServeEstimate estimate = job.serve.disaggregated ? apart(r, job) : together(r, job, load);
  estimate.kept = r.accepted;
  fill_confidence(constants, r, job, estimate);
  return estimate;
}

}  // namespace rightsize::perf
