// A plan for the cluster a service runs in: how many replicas, with thresholds from the model and hours from the
// schedule, and how its engine is started.
#pragma once

#include <string>

#include "live_service/right_size.h"

namespace rightsize::live_service {

// Scales the service's Deployment between the fewest and the most replicas the plan needs. One replica is added for
// every so many requests in the engine as the plan was simulated with; a schedule's hours are cron triggers beside it.
// `server` is the address KEDA asks; the query uses the engine's own names.
std::string scaled_object(const ServiceReading& reading, const SizedPlan& plan, const std::string& server);
// The same as a HorizontalPodAutoscaler, on a metric of prometheus-adapter; it knows no hours.
std::string pod_autoscaler(const ServiceReading& reading, const SizedPlan& plan);
// A patch of the service's Deployment: replicas and GPUs, with the engine's flags.
std::string deployment_patch(const ServiceReading& reading, const SizedPlan& plan);

}  // namespace rightsize::live_service
