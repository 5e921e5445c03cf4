#include "serving/replica.h"

#include <fmt/format.h>

#include "base/format.h"
#include "memory/memory.h"

namespace rightsize::serving {
namespace {

double ns(Seconds time) { return in_seconds(time) * 1e9; }

}  // namespace

perf::ServeLoad load_of(const model::ModelShape& model, const model::Job& job, const catalog::Gpu& gpu,
                        RequestsPerSecond rate) {
  perf::ServeLoad load;
  load.kv_tokens = perf::kv_token_capacity(model, job, gpu);
  load.rate = rate;
  return load;
}

Result<Replica> token_replica(const Predictor& p, const model::Job& job, const catalog::Gpu& gpu,
                              const perf::GpuSpeed& speed, const perf::Cluster& cluster) {
  const perf::ServeLoad load = load_of(p.model, job, gpu);
  RIGHTSIZE_TRY(const perf::StepFit fit,
                perf::fit_engine_step(p.constants, p.work, job, speed, cluster, load, kMostSequences));
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
                  .expert_chance = fit.expert_chance};
  replica.fit = fit;
  replica.interval = fit.tpot_interval;
  return replica;
}

Result<Replica> batch_replica(const Predictor& p, const model::Job& job, const catalog::Gpu& gpu,
                              const perf::GpuSpeed& speed, bool pad, Seconds overhead) {
  Replica replica;
  replica.gpu = gpu.name;
  replica.continuous = false;
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
    replica.sizes.push_back(batch);
    replica.interval = estimate.interval;
  }
  replica.times = sim::tabulate(sim::TableTime(std::move(rows), pad), replica.sizes.back(), overhead);
  return replica;
}

}  // namespace rightsize::serving
