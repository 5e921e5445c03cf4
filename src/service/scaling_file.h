// A KEDA ScaledObject for a plan: thresholds from the model, hours from the schedule.
#pragma once

#include <string>

#include "service/right_size.h"

namespace rightsize::service {

// Scales the service's Deployment between the fewest and the most replicas the plan needs. One replica is added for
// every so many requests in the engine as the plan was simulated with; a schedule's hours are cron triggers beside it.
// `server` is the address KEDA asks; the query uses the engine's own names.
std::string scaled_object(const ServiceReading& reading, const SizedPlan& plan, const std::string& server);

}  // namespace rightsize::service
