// Serving engines with continuous batching: closed loop at a concurrency, open loop at a request rate.
#include <algorithm>
#include <array>
#include <cmath>

#include <fmt/format.h>

#include "memory/memory.h"
#include "model/serve_settings.h"
#include "perf/stacks/activity.h"
#include "perf/stacks/serve_queue.h"

namespace rightsize::perf {
namespace {

using model::Job;
using model::JobKind;
using model::Precision;
using model::Stack;

// The first token depends on the arrivals, which the calibration of steps does not cover. This minimum is our
// judgement.
constexpr double kLeastFirstToken = 0.2;

bool has(const std::vector<std::string>& names, const std::string& name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

struct Term {
  Unmeasured what;
  bool applies;
  double tpot, ttft;
};

// Sets the basis, the intervals and the unmeasured aspects. Widths come from rows left out of the fit (see
// data/stacks.csv); each unmeasured aspect adds an independent error.
void fill_confidence(const Constants& constants, const EngineCopy& r, const Job& job, ServeEstimate& estimate) {
  const int slot = slot_of(job.stack);
  if (const Calibration& own = calibration_of(r.gpu, slot, JobKind::kServe); own.known) {
    estimate.basis = Basis::kCalibrated;
    estimate.tpot_interval = interval_of(own.width);
    estimate.ttft_interval = interval_of(std::max(own.width, kLeastFirstToken));
    return;
  }
  const bool mixture = r.work.experts > 0;
  const MeasuredSet& runs = constants.measured_runs[static_cast<std::size_t>(slot)];
  const Confidence gpu = confidence_of(r.gpu, slot, JobKind::kServe, 0);
  const double family = mixture ? r.c.mixture_family_width : r.c.family_width;
  const double load = mixture ? r.c.mixture_load_width : r.c.load_width;
  const Term terms[] = {
      {Unmeasured::kGpu, gpu.basis != Basis::kMeasured, gpu.width, gpu.width},
      {Unmeasured::kFamily, !has(runs.families, r.work.family), family, family},
      {Unmeasured::kFormat, !has(runs.formats, std::string(model::name_of(job.precision))), r.c.format_width,
       r.c.format_width},
      {Unmeasured::kSpread, r.layout.attention > 1 || job.serve.disaggregated.has_value(), r.c.spread_tpot_width,
       r.c.spread_ttft_width},
      {Unmeasured::kLoad, estimate.full || estimate.running / r.layout.attention > r.c.served_batch, load, load}};
  double tpot = std::hypot(mixture ? r.c.mixture_tpot_width : r.c.tpot_width, r.c.campaign_tpot_width);
  double ttft = std::hypot(mixture ? r.c.mixture_ttft_width : r.c.ttft_width, r.c.campaign_ttft_width);
  if (job.serve.speculation.tokens > 0) tpot = std::hypot(tpot, r.c.speculation_width);
  for (const Term& term : terms) {
    if (!term.applies) continue;
    tpot = std::hypot(tpot, term.tpot), ttft = std::hypot(ttft, term.ttft);
    estimate.unmeasured.push_back(term.what);
  }
  estimate.basis = estimate.unmeasured.empty() ? Basis::kMeasured : std::max(gpu.basis, Basis::kTransferred);
  estimate.tpot_interval = interval_of(tpot);
  estimate.ttft_interval = interval_of(ttft);
}

// The resource that a token spends most of its time on: arithmetic (including prefills of other requests), memory,
// exchanges between GPUs, or the host. If the host takes longer, it hides the GPU's work.
Bound bound_of(const Latency& l, const EngineCopy& r) {
  const Step& step = l.step;
  std::array<Seconds, 4> times{};
  const auto at = [&](Bound bound) -> Seconds& { return times[static_cast<std::size_t>(bound)]; };
  at(Bound::kCompute) = l.tpot * r.accepted - step.time;
  if (step.host > step.device) {
    at(Bound::kHost) = step.time;
  } else {
    for (const OpTime* op : {&step.work.matmul, &step.work.experts, &step.work.attention})
      at(op->is_arithmetic() ? Bound::kCompute : Bound::kMemory) += op->time;
    at(Bound::kMemory) += step.work.elementwise;
    at(Bound::kCommunication) = step.work.all_reduce * r.c.decode_all_reduce;
  }
  return static_cast<Bound>(std::max_element(times.begin(), times.end()) - times.begin());
}

void add_part(TimeParts& parts, const char* name, Seconds time) {
  if (time > Seconds{}) parts.push_back({name, time});
}

// Per kept token: with speculative decoding, the accepted tokens share the time of a step.
void fill_decode_parts(TimeParts& parts, const Latency& l, const EngineCopy& r) {
  const Step& s = l.step;
  const double d = r.own.device / r.accepted;
  add_part(parts, "matrix products", decode_time(r, s.work.matmul, r.decode_products) * d);
  add_part(parts, "experts", decode_time(r, s.work.experts, r.decode_experts) * d);
  add_part(parts, "attention over the cache", decode_time(r, s.work.attention, r.c.decode_attention) * d);
  add_part(parts, r.layout.attention > 1 ? "exchanges between GPUs" : "all-reduce",
           s.work.all_reduce * (r.c.decode_all_reduce * d));
  add_part(parts, "elementwise", s.work.elementwise * (r.c.decode_elementwise * d));
  add_part(parts, "kernel launches", s.launches * d);
  Seconds sum;
  for (const TimePart& part : parts) sum += part.time;
  if (r.accepted > 1) add_part(parts, "speculative decoding", s.device / r.accepted - sum);
  add_part(parts, "waiting for the host", (s.time - s.device) / r.accepted);
  add_part(parts, "prefills of other requests", l.tpot - s.time / r.accepted);
}

void fill_prefill_parts(TimeParts& parts, const Step& prefill, const EngineCopy& r) {
  const double p = r.own.prefill;
  add_part(parts, "matrix products", prefill.work.matmul.with_losses(r.prefill_products) * p);
  add_part(parts, "experts", prefill.work.experts.with_losses(r.c.prefill_experts) * p);
  add_part(parts, "attention", prefill.work.attention.with_losses(r.c.prefill_attention) * p);
  add_part(parts, r.layout.attention > 1 ? "exchanges between GPUs" : "all-reduce",
           prefill.work.all_reduce * (r.c.prefill_all_reduce * p));
  add_part(parts, "elementwise", prefill.work.elementwise * (r.c.prefill_elementwise * p));
  add_part(parts, "kernel launches", prefill.launches * p);
}

Result<> check_serving(const Constants& constants, const ModelWork& work, const Job& job, const GpuSpeed& gpu,
                       const ServeLoad& load) {
  if (Result<> known = check_rate(gpu); !known) return known;
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
  if (const std::string& method = job.serve.speculation.method;
      !method.empty() && !constants.draft_curves.contains(method)) {
    std::string known;
    for (const auto& [name, curve] : constants.draft_curves) known += (known.empty() ? "" : ", ") + name;
    return fail(bad_input(fmt::format("no measured acceptance for the draft method '{}'", method))
                    .with_hint(fmt::format("use {}, or give the chance that the first draft is accepted: --speculate "
                                           "{},0.8",
                                           known, job.serve.speculation.tokens)));
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
  if (r.layout.experts == WeightFormat::kMx4 && r.gpu.has_fp4)
    estimate.notes.push_back({NoteKind::kExpandedExperts, 0});
  note_hardware(job, r.gpu, r.cluster, estimate.notes);
}

// Quantiles of requests with equal lengths and random arrivals. TTFT: the arrival time within a step and between two
// checks of the queue is uniform; the wait behind other prompts is exponential for the share of requests that wait
// (M/G/1 in heavy traffic). TPOT: the number of running requests is Poisson, and a request sees its mean over its own
// lifetime, with two thirds of the variance (M/G/infinity with constant service).
void fill_percentiles(const EngineCopy& r, const Prefill& prefill, double rate, const OpenLoop& loop, const Latency& l,
                      ServeEstimate& e) {
  constexpr double kStep = 1.1;
  const double running = e.running, more = std::min(running * kStep, std::max(r.slots, running * 1.001));
  const Latency beyond = arriving_at(r, prefill, more);
  const double elasticity =
      std::max(0.0, std::log(in_seconds(beyond.tpot) / in_seconds(l.tpot)) / std::log(more / running));
  const double spread = elasticity * std::sqrt(2 / (3 * running));
  const double busy = std::min(1.0, rate * in_seconds(prefill.alone.time));
  const double uniform = in_seconds(l.step.time) * (1 + r.poll_steps.at(running) * std::clamp(running - 1, 0.0, 1.0));
  const auto at = [&](double share, double normal, Seconds& ttft, Seconds& tpot, Seconds& latency) {
    const double wait = busy > 1 - share ? in_seconds(loop.queue) / busy * std::log(busy / (1 - share)) : 0;
    ttft = std::max(e.ttft - loop.queue + seconds(wait + (share - 0.5) * uniform), e.ttft * 0.5);
    tpot = e.tpot * std::exp(normal * spread);
    const double first = in_seconds(ttft - e.ttft), rest = in_seconds(tpot - e.tpot) * std::max(0.0, r.answer - 1);
    latency = e.latency + seconds(normal > 0 ? std::hypot(first, rest) : first + rest);
  };
  at(0.5, 0, e.ttft_percentiles.p50, e.tpot_percentiles.p50, e.latency_percentiles.p50);
  at(0.95, 1.645, e.ttft_percentiles.p95, e.tpot_percentiles.p95, e.latency_percentiles.p95);
  at(0.99, 2.326, e.ttft_percentiles.p99, e.tpot_percentiles.p99, e.latency_percentiles.p99);
}

// `prompts` reads the prompts: this copy, or a prefill worker.
void fill_times(ServeEstimate& estimate, const Latency& l, const EngineCopy& r, const Step& alone,
                const EngineCopy& prompts, Seconds queue) {
  estimate.prefill = alone.time;
  estimate.decode_step = l.step.time;
  estimate.ttft = std::max(l.ttft, alone.time) + queue;  // not before the prompt is read
  estimate.tpot = l.tpot;
  estimate.latency = estimate.ttft + l.tpot * std::max(0.0, r.answer - 1);
  estimate.bound = bound_of(l, r);
  fill_decode_parts(estimate.parts, l, r);
  fill_prefill_parts(estimate.prefill_parts, alone, prompts);
}

ServeEstimate together(const EngineCopy& r, const Job& job, const ServeLoad& load) {
  const Prefill prefill = prefill_of(r);
  const double copy = job.parallel.tensor * job.parallel.pipeline;
  const double replicas = static_cast<double>(job.parallel.gpus) / copy;
  ServeEstimate estimate;
  double asked = std::max(1.0, static_cast<double>(job.serve.concurrency) / replicas);
  const bool open = load.rate > RequestsPerSecond{};
  // Fewer requests than copies leave the other copies idle.
  const double busy = open ? 1 : std::min(1.0, std::max(1.0, static_cast<double>(job.serve.concurrency)) / replicas);
  const double rate = in_requests_per_s(load.rate) / replicas;
  OpenLoop loop;
  Latency last;
  if (open) {
    loop = open_loop(r, prefill, rate, last);
    asked = loop.running;
    estimate.utilization = loop.utilization;
    estimate.stable = loop.stable;
  }
  estimate.running = std::max(1.0, std::min(asked, r.slots));
  estimate.full = estimate.running < asked * 0.999;
  const Latency l = !open ? latency_at(r, prefill, estimate.running, std::max(0.0, asked - estimate.running))
                    : last.running == estimate.running ? last
                                                       : arriving_at(r, prefill, estimate.running);
  fill_times(estimate, l, r, prefill.alone, r, loop.queue);
  estimate.max_concurrency = std::floor(r.cached_requests) * replicas;
  const double answer = std::max(1.0, r.answer);
  if (open && loop.stable) fill_percentiles(r, prefill, rate, loop, l, estimate);
  // However requests that are read in one pass overlap, each takes its part of a pass.
  const Seconds pass = job.serve.osl > 1 ? Seconds{} : prefill.each(estimate.running);
  const double most = pass > Seconds{} ? r.pipeline / in_seconds(pass) : 1e300;
  const double per_replica = std::min(asked / in_seconds(estimate.ttft + l.tpot * answer), most);
  estimate.requests_per_second = per_replica * replicas * busy;
  estimate.output_per_gpu = tokens_per_s(per_replica * answer / copy * busy);
  estimate.power.activity = serving_activity(r, prefill, l.step, estimate.running, l.tpot * r.accepted);
  if (open && loop.running < 1)  // the GPU is idle for the rest of the time
    estimate.power.activity.time = estimate.power.activity.time / std::max(loop.running, 1e-6);
  estimate.power.activity.time = estimate.power.activity.time / busy;
  fill_notes(estimate, r, job, replicas);
  return estimate;
}

// Prefill and decode workers together, per second of each GPU.
Activity apart_activity(const EngineCopy& r, const EngineCopy& prompts, const Prefill& prefill, const Separate& found,
                        const model::Disaggregated& workers) {
  const auto per_second = [](Activity a) { return a * (1 / in_seconds(a.time)); };
  const Activity decode = per_second(activity_of(r, found.latency.step, r.c.decode_all_reduce));
  const double rate = found.requests_per_second / workers.prefill_workers;
  Activity prefilling = activity_of(prompts, prefill.alone, prompts.c.prefill_all_reduce) * rate;
  prefilling.time = std::max(seconds(1), prefilling.time);
  prefilling = per_second(prefilling);
  const double decoders = workers.decode_workers * r.layout.tensor;
  const double readers = workers.prefill_workers * prompts.layout.tensor;
  Activity both = decode * (decoders / (decoders + readers));
  both += prefilling * (readers / (decoders + readers));
  return both;
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
  fill_times(estimate, found.latency, r, prefill.alone, prompts, Seconds{});
  estimate.max_concurrency = std::floor(r.cached_requests) * workers.decode_workers;
  estimate.requests_per_second = found.requests_per_second;
  estimate.output_per_gpu =
      tokens_per_s(found.requests_per_second * std::max(1.0, r.answer) / static_cast<double>(job.parallel.gpus));
  estimate.full = found.full;
  estimate.power.activity = apart_activity(r, prompts, prefill, found, workers);
  fill_notes(estimate, r, job, workers.decode_workers);
  return estimate;
}

Result<ServeEstimate> serve_at(const Constants& constants, const ModelWork& work, const Job& job, const GpuSpeed& gpu,
                               const Cluster& cluster, const ServeLoad& load) {
  if (Result<> possible = check_serving(constants, work, job, gpu, load); !possible)
    return fail(std::move(possible).error());
  if (job.stack == Stack::kHf) {
    RIGHTSIZE_TRY(ServeEstimate estimate, serve_eager(constants, work, job, gpu, load));
    estimate.relative = gpu.relative;
    return estimate;
  }
  const bool real = load.of_job || load.rate > RequestsPerSecond{};
  const EngineCopy r = replica_of(constants, work, job, gpu, cluster, load.kv_tokens, real);
  ServeEstimate estimate = job.serve.disaggregated ? apart(r, job) : together(r, job, load);
  estimate.kept = r.accepted;
  estimate.relative = gpu.relative;
  fill_confidence(constants, r, job, estimate);
  return estimate;
}

}  // namespace

std::string_view name_of(Unmeasured what) {
  static constexpr std::string_view kNames[] = {"gpu", "family", "format", "parallelism", "load"};
  return kNames[static_cast<int>(what)];
}

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
  asked = model::prefill_worker(asked);
  return held() > 0 ? decode : 0;
}

Result<ServeEstimate> estimate_serving(const Constants& constants, const ModelWork& work, const Job& job,
                                       const GpuSpeed& gpu, const Cluster& cluster, const ServeLoad& load) {
  return within_cap<ServeEstimate>(
      gpu, [&](const GpuSpeed& on) { return serve_at(constants, work, job, on, cluster, load); });
}

}  // namespace rightsize::perf
