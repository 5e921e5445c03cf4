// The service of a request, as the capacity planner reads it.
#include <algorithm>

#include "capacity/sessions.h"
#include "plan/search_serving.h"

namespace rightsize::plan {

// The tokens of images are the same in every prompt; only the text varies.
sim::RequestShape request_lengths(const Request& request) {
  const double prompt = static_cast<double>(request.job.serve.isl);
  const double text = prompt - static_cast<double>(request.job.image.tokens);
  return {.size = prompt,
          .output = static_cast<double>(std::max<std::int64_t>(1, request.job.serve.osl)),
          .size_variation = request.work.isl_variation * std::clamp(text / prompt, 0.0, 1.0),
          .output_variation = request.work.osl_variation,
          .longest = static_cast<double>(request.model.context)};
}

capacity::Service service_of(const Request& request, const perf::ModelWork& work, double requests_per_second) {
  const PlanLimits& limits = request.limits;
  const bool batches = perf::serves_batches(work);
  capacity::Service service;
  if (request.work.trace)
    service.arrivals =
        sim::scaled(request.work.trace, requests_per_second / in_requests_per_s(*sim::mean_rate(request.work.trace)));
  else if (request.work.mix.empty() || batches)
    service.arrivals = sim::Poisson{requests_per_s(requests_per_second)};
  else
    service.arrivals = capacity::mixed_arrivals(requests_per_second, request.work.mix);
  service.lengths = request_lengths(request);
  if (request.work.trace && request.work.trace->prompts) {
    service.cache_block = capacity::cache_block(request.job.stack);
    service.routing = request.work.routing;
  }
  const capacity::Quantity answer = batches ? capacity::Quantity::kLatency : capacity::Quantity::kTtft;
  if (limits.ttft) service.slos.push_back({answer, limits.slo_percentile, *limits.ttft});
  if (limits.tpot && !batches) service.slos.push_back({capacity::Quantity::kTpot, limits.slo_percentile, *limits.tpot});
  if (limits.latency) service.slos.push_back({capacity::Quantity::kLatency, limits.slo_percentile, *limits.latency});
  service.max_load = limits.max_load;
  service.one_to_spare = !limits.allow_single && !limits.gpus && request.work.rate > RequestsPerSecond{};
  return service;
}

}  // namespace rightsize::plan
