// For tests: the service of a plan, rebuilt from the plan.
#pragma once

#include "plan/plan.h"
#include "plan/search_serving.h"

namespace rightsize::plan {

// The replica of a plan, as `batch --model --gpu --tp` builds it.
inline capacity::Replica replica_of(const Request& request, const perf::Constants& constants,
                                    const perf::ModelWork& work, const Plan& plan) {
  const catalog::Gpu& gpu = *plan.offer.gpu;
  const perf::GpuSpeed speed = perf::gpu_speed(constants, gpu);
  const capacity::Predictor predictor{constants, request.model, work};
  model::Job job = request.job;
  job.precision = plan.job.precision;
  job.parallel = plan.job.parallel;
  job.serve.disaggregated = plan.job.serve.disaggregated;
  if (perf::serves_batches(work)) return *capacity::batch_replica(predictor, job, gpu, speed);
  return *capacity::token_replica(predictor, job, gpu, speed, perf::cluster_of(*plan.offer.machine, gpu));
}

inline capacity::Configuration configuration_of(const Plan& plan) {
  capacity::Configuration c;
  c.groups = {{0, plan.replicas}};
  c.batching.max_batch = static_cast<int>(plan.job.batch);
  c.batching.max_delay = sim::to_sim_time(plan.delay);
  c.engine.max_sequences = plan.sequences;
  c.engine.token_budget = plan.token_budget;
  return c;
}

// Simulates the plan under the request's load with new random numbers, long enough to see the tail.
inline std::optional<capacity::Assessment> run_again(const Request& request, const perf::Constants& constants,
                                                     const Plan& plan, std::uint64_t seed) {
  const perf::ModelWork work = perf::work_of(request.model);
  const capacity::Service service = service_of(request, work, in_requests_per_s(request.work.rate));
  const bool rare = request.limits.slo_percentile == capacity::Statistic::kP99;
  const std::uint64_t requests = perf::serves_batches(work) ? 400'000 : rare ? 60'000 : 20'000;
  const capacity::Planner planner(service, {replica_of(request, constants, work, plan)});
  return planner.assess(configuration_of(plan), {requests, seed});
}

// The lowest plausible value of a limit's percentile in another run. If slow requests are nearly as many as the
// percentile allows, runs may differ in whether the percentile is one of them, so neighbouring ranks count too.
inline Seconds least_seen(const capacity::Assessment& again, const capacity::Slo& slo) {
  constexpr double kOtherSeed = 1.05;
  return std::min(again.value(slo) * (1 / kOtherSeed), again.low(slo));
}

}  // namespace rightsize::plan
