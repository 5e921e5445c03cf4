#include "rightsize/decisions/scaling.h"

#include <algorithm>

#include "rightsize/decisions/fields.h"

namespace rightsize::app {

bool is_scaling(const decisions::Decision& decision) { return decision.find(decisions::kOverSlo) != nullptr; }

std::vector<decisions::MeasuredValue> measured_scaling(const decisions::Decision& decision,
                                                       const live_service::ServiceReading& reading,
                                                       const std::string& source) {
  std::vector<decisions::MeasuredValue> samples;
  const TimePoint until = unix_seconds(reading.until);
  const PlanFields plan(decision);
  using capacity::Quantity;
  std::optional<double> over;
  for (const auto& [name, quantity] : {std::pair{"slo_ttft_seconds", Quantity::kTtft},
                                       {"slo_tpot_seconds", Quantity::kTpot},
                                       {"slo_latency_seconds", Quantity::kLatency}}) {
    const std::optional<double> limit = plan.number(name);
    if (!limit) continue;
    capacity::Slo slo;
    slo.quantity = quantity, slo.limit = seconds(*limit);
    if (const auto share = live_service::verdict_of(reading, slo).over) over = std::max(over.value_or(0), share->value);
  }
  if (over) samples.push_back({decisions::kOverSlo, *over, until, source});
  double gpu_seconds = 0;
  for (const live_service::GpuReading& gpu : reading.gpus) gpu_seconds += gpu.gpu_seconds;
  if (reading.gpus.empty()) gpu_seconds = reading.replica_seconds * plan.number("gpus_per_replica").value_or(1);
  if (gpu_seconds > 0 && reading.timed)
    samples.push_back({decisions::kGpuHours, gpu_seconds / reading.seconds() * 24, until, source});
  return samples;
}

const live_service::ServiceReading* service_of(const decisions::Decision& decision,
                                               const std::vector<live_service::ServiceReading>& services) {
  if (services.size() == 1) return &services.front();
  const auto named = std::ranges::find_if(services, [&](const live_service::ServiceReading& one) {
    return one.name().find(decision.summary.workload) != std::string::npos;
  });
  return named == services.end() ? nullptr : &*named;
}

}  // namespace rightsize::app
