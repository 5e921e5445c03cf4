#include "launch/item_parts.h"

#include <algorithm>
#include <cmath>

#include "launch/hand_over_facts.h"
#include "plan/startup.h"

namespace rightsize::launch {
namespace {

// The time of a part that running_time() counts as lost on an interruption, at most ten minutes.
Seconds counted_length(const Request& request, const Plan& plan) {
  constexpr Seconds kLongest = seconds(600), kOverhead = seconds(1);
  const market::JobAssumptions assumed = assumptions_on(request, perf::work_of(request.model), *plan.offer.gpu);
  const double per_hour = (is_spot(plan) ? assumed.spot_interruptions_per_hour : 0) +
                          assumed.failures_per_gpu_hour * gpus_used_per_machine(plan);
  return per_hour > 0 ? std::min(kLongest, market::checkpoint_interval(kOverhead, hours(1 / per_hour))) : kLongest;
}

// Two significant digits, rounded down.
std::int64_t round_number(double items) {
  const double unit = std::pow(10, std::max(0.0, std::floor(std::log10(std::max(1.0, items))) - 1));
  return std::max<std::int64_t>(1, static_cast<std::int64_t>(std::floor(items / unit) * unit));
}

}  // namespace

Parts parts_of(const Request& request, const Plan& plan) {
  constexpr Seconds kShortest = seconds(60);  // shorter ones cost more in files than they save
  const double each = plan.units_per_second / std::max(1, plan.replicas);
  Parts parts;
  // A script works batch by batch, and a part has at least one.
  const std::int64_t batch = needs_code(request) ? std::max<std::int64_t>(1, plan.job.batch) : 1;
  if (!needs_code(request)) parts.in_flight = seconds(plan.running / each);
  const Seconds length = std::max(kShortest, counted_length(request, plan) - parts.in_flight);
  parts.items = std::max(batch, round_number(in_seconds(length) * each));
  parts.count =
      std::max<std::int64_t>(1, std::llround(std::ceil(request.work.amount / static_cast<double>(parts.items))));
  parts.length = seconds(static_cast<double>(parts.items) / each);
  return parts;
}

}  // namespace rightsize::launch
