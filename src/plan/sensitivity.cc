#include "plan/sensitivity.h"

#include <algorithm>

#include "capacity/replica.h"
#include "plan/candidates.h"

namespace rightsize::plan {
namespace {

// The limit that a service uses most, as its estimate states it; the load of the replicas where none is closer.
double tightest(const Request& request, const Deployment& d, const perf::ServeEstimate& e) {
  const PlanLimits& limits = request.limits;
  const bool open = request.work.rate > RequestsPerSecond{};
  if (!open || !e.stable || limit_used(request, d) < d.load / limits.max_load)
    return open ? e.utilization : 1 / in_tokens_per_s(e.output_per_gpu);
  const auto used = [](const auto& limit, Seconds value) { return limit ? value / *limit : 0.0; };
  const double ttft = used(limits.ttft, d.ttft), tpot = used(limits.tpot, d.tpot);
  if (used(limits.latency, d.answer) > std::max(ttft, tpot)) return in_seconds(e.latency_percentiles.p95);
  return in_seconds(ttft > tpot ? e.ttft_percentiles.p95 : e.tpot_percentiles.p95);
}

perf::ServeLoad load_on(const Request& request, const Deployment& d, const MachineClass& machines) {
  const bool rated = d.replicas > 0 && !d.job.serve.disaggregated;
  const RequestsPerSecond each = requests_per_s(rated ? d.requests_per_second / d.replicas : 0);
  perf::ServeLoad load = capacity::load_of(request.model, d.job, *machines.gpu, each);
  load.of_job = request.work.kind == WorkKind::kOffline;
  return load;
}

MachineClass with_more(MachineClass machines, double arithmetic, double memory) {
  perf::GpuSpeed& gpu = machines.speed;
  for (FlopsPerSecond* peak : {&gpu.half, &gpu.fp8, &gpu.fp4, &gpu.fp32, &gpu.tf32}) *peak = *peak * arithmetic;
  gpu.bandwidth = gpu.bandwidth * memory;
  return machines;
}

}  // namespace

Result<perf::ServeEstimate> estimate_service(const perf::Constants& constants, const perf::ModelWork& work,
                                             const Request& request, const Deployment& d,
                                             const MachineClass& machines) {
  return perf::estimate_serving(constants, work, d.job, machines.speed, machines.cluster,
                                load_on(request, d, machines));
}

Sensitivity sensitivity_of(const perf::Constants& constants, const perf::ModelWork& work, const Request& request,
                           const Deployment& d, const MachineClass& machines) {
  const perf::ServeLoad load = load_on(request, d, machines);
  const auto limit_on = [&](double arithmetic, double memory) {
    const MachineClass faster = with_more(machines, arithmetic, memory);
    const auto e = perf::estimate_serving(constants, work, d.job, faster.speed, faster.cluster, load);
    return e ? tightest(request, d, *e) : 0;
  };
  const double now = limit_on(1, 1);
  const auto shorter = [&](double then) { return now > 0 && then > 0 ? std::max(0.0, 1 - then / now) : 0; };
  return {shorter(limit_on(kFaster, 1)), shorter(limit_on(1, kFaster))};
}

}  // namespace rightsize::plan
