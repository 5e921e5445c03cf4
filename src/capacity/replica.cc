#include "capacity/replica.h"

#include <algorithm>

#include <fmt/format.h>

#include "base/format.h"
#include "memory/memory.h"
#include "model/serve_settings.h"

namespace rightsize::capacity {
namespace {

double ns(Seconds time) { return in_seconds(time) * 1e9; }

// A worker that serves whole requests.
Result<Replica> worker_of(const Predictor& p, const model::Job& job, const catalog::Gpu& gpu,
                          const perf::GpuSpeed& speed, const perf::Cluster& cluster, double most_running) {
  const perf::ServeLoad load = load_of(p.model, job, gpu);
  RIGHTSIZE_TRY(const perf::StepFit fit,
                perf::fit_engine_step(p.constants, p.work, job, speed, cluster, load, most_running));
  Replica replica;
  replica.gpu = gpu.name;
  replica.gpus = job.parallel.tensor * job.parallel.pipeline;
  replica.step = {.base = ns(fit.base),
                  .prefill = ns(fit.prompt_token),
                  .sequence = ns(fit.sequence),
                  .context = ns(fit.context_token),
                  .request = ns(fit.request),
                  .kv_tokens = static_cast<std::int64_t>(load.kv_tokens),
                  .experts = ns(fit.experts),
                  .expert_chance = fit.expert_chance,
                  .expert_evenness = fit.expert_evenness,
                  .with_prompts = ns(fit.with_prompts),
                  .prompts_first = fit.prompts_first,
                  .wait_few = fit.wait_few,
                  .wait_many = fit.wait_many};
  replica.fit = fit;
  replica.interval = fit.tpot_interval, replica.basis = fit.basis;
  return replica;
}

model::Job decode_job(const model::Job& job) {
  model::Job answers = job;
  answers.serve.disaggregated.reset();
  answers.parallel.tensor = answers.parallel.gpus = job.serve.disaggregated->decode_tensor;
  return answers;
}

}  // namespace

Result<Replica> separate_workers(const Predictor& p, const model::Job& job, const catalog::Gpu& gpu,
                                 const perf::GpuSpeed& speed, const perf::Cluster& cluster, Replica decode,
                                 const Replica& prefill) {
  const model::Disaggregated& d = *job.serve.disaggregated;
  // The transfer is linear apart from the handshake, so the estimate at these lengths gives both parts.
  RIGHTSIZE_TRY(const perf::ServeEstimate moved,
                perf::estimate_serving(p.constants, p.work, job, speed, cluster, load_of(p.model, job, gpu)));
  const perf::EngineConstants& engine = p.constants.engine(job.stack);
  const double tokens = std::max(1.0, static_cast<double>(job.serve.isl) * engine.length_share);
  Replica::Separate separate;
  separate.prefill = prefill.step;
  // A pass over prompts takes the time of their tokens; the decode worker counts the step after it.
  separate.prefill.base = separate.prefill.with_prompts = 0;
  separate.prefill.prefill = ns(prefill.fit->lone_prompt_token);
  separate.prefill_workers = d.prefill_workers, separate.decode_workers = d.decode_workers;
  separate.transfer = {ns(engine.transfer_overhead), ns(moved.transfer - engine.transfer_overhead) / tokens};
  decode.separate = separate;
  decode.gpus = d.gpus();
  decode.interval = moved.tpot_interval, decode.basis = moved.basis;
  decode.fit->tpot_interval = moved.tpot_interval, decode.fit->ttft_interval = moved.ttft_interval;
  decode.fit->basis = moved.basis;
  return decode;
}

void append_workers(const Replica& replica, int count, sim::ContinuousServer& server) {
  const auto add = [](std::vector<sim::StepCost>& to, int n, const sim::StepCost& step) {
    to.insert(to.end(), static_cast<std::size_t>(n), step);
  };
  if (!replica.separate) return add(server.replicas, count, replica.step);
  add(server.replicas, count * replica.separate->decode_workers, replica.step);
  add(server.prefills, count * replica.separate->prefill_workers, replica.separate->prefill);
  server.transfer = replica.separate->transfer;
}

perf::ServeLoad load_of(const model::ModelShape& model, const model::Job& job, const catalog::Gpu& gpu,
                        RequestsPerSecond rate) {
  perf::ServeLoad load;
  load.kv_tokens = perf::kv_token_capacity(model, job, gpu);
  load.rate = rate;
  return load;
}

Result<Replica> token_replica(const Predictor& p, const model::Job& job, const catalog::Gpu& gpu,
                              const perf::GpuSpeed& speed, const perf::Cluster& cluster, double most_running) {
  if (!job.serve.disaggregated) return worker_of(p, job, gpu, speed, cluster, most_running);
  RIGHTSIZE_TRY(Replica decode, worker_of(p, decode_job(job), gpu, speed, cluster, most_running));
  RIGHTSIZE_TRY(const Replica prefill, worker_of(p, model::prefill_worker(job), gpu, speed, cluster, most_running));
  return separate_workers(p, job, gpu, speed, cluster, std::move(decode), prefill);
}

Result<Replica> batch_replica(const Predictor& p, const model::Job& job, const catalog::Gpu& gpu,
                              const perf::GpuSpeed& speed, bool pad, Seconds overhead) {
  perf::Interval interval;
  perf::Basis basis = perf::Basis::kMeasured;
  std::vector<sim::TableTime::Row> rows;
  model::Job sized = perf::fitted_to(p.work, job);
  for (int batch = 1; batch <= kLargestBatch; batch *= 2) {
    sized.batch = sized.serve.concurrency = batch;
    const Bytes need = memory::estimate_memory(p.model, sized, &gpu).high;
    if (need > gpu.capacity() && batch > 1) break;
    if (need > gpu.capacity()) {
      return fail(bad_input(fmt::format("{} of {} on {}: the model does not fit", format_bytes(need),
                                        format_bytes(gpu.capacity()), gpu.name)));
    }
    RIGHTSIZE_TRY(const perf::BatchEstimate estimate, perf::estimate_batch(p.constants, p.work, sized, speed));
    rows.push_back({batch, {estimate.batch, estimate.batch}});
    interval = estimate.interval, basis = estimate.basis;
  }
  const sim::TableTime table(std::move(rows), pad);
  Replica replica = measured_replica(table, table.largest_batch(), overhead);
  replica.gpu = gpu.name, replica.gpus = job.parallel.tensor;
  replica.interval = interval, replica.basis = basis;
  return replica;
}

Replica measured_replica(const sim::TableTime& table, int max_batch, Seconds overhead) {
  Replica replica;
  replica.continuous = false;
  replica.times = sim::tabulate(table, max_batch, overhead);
  for (const sim::TableTime::Row& row : table.rows()) replica.sizes.push_back(row.batch);
  return replica;
}

}  // namespace rightsize::capacity
