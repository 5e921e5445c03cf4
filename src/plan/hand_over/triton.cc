// Triton: the config.pbtxt of a model that answers in batches, with the limits it was simulated with.
#include <algorithm>

#include <fmt/format.h>

#include "perf/perf.h"
#include "plan/hand_over/parts.h"
#include "sim/hand_over.h"

namespace rightsize::plan {

Result<std::string> to_triton(const Request& request, const Plan& plan) {
  if (!is_served(request) || plan.replicas == 0 || !perf::serves_batches(perf::work_of(request.model))) {
    return fail(bad_input("Triton's batcher serves models that answer in one pass: encoders, images")
                    .with_hint("skypilot, kubernetes and slurm start an engine for models that make tokens"));
  }
  const sim::Deployment deployment{.name = object_name(request),
                                   .gpu = plan.offer.gpu->name,
                                   .replicas = plan.replicas,
                                   .executors = 1,
                                   .gpus_per_replica = 1,
                                   .load = requests_per_s(plan.requests_per_second / plan.replicas)};
  sim::DynamicBatchConfig batching;
  batching.max_batch = static_cast<int>(std::max<std::int64_t>(1, plan.job.batch));
  batching.max_delay = sim::to_sim_time(plan.delay);
  return header(request, plan,
                fmt::format("A Triton config.pbtxt: MODEL_REPOSITORY/{}/config.pbtxt, on each of {} GPUs",
                            deployment.name, plan.gpus),
                {"platform or backend, inputs and outputs: those of your exported model"}) +
         sim::triton_config(deployment, batching, {}, 1);
}

}  // namespace rightsize::plan
