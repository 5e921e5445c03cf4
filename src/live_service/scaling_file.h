// A right-sized service as a file for the cluster it runs in.
#pragma once

#include <string>
#include <string_view>

#include "live_service/right_size.h"

namespace rightsize::live_service {

// `kind`:
//   "keda"        a ScaledObject between the fewest and the most replicas of the plan. A replica is added whenever the
//                 engines hold more requests per replica than the plan was simulated with; the hours of a schedule are
//                 cron triggers. `server` is the address KEDA queries.
//   "hpa"         the same as a HorizontalPodAutoscaler on a metric of prometheus-adapter, without hours
//   "deployment"  a patch of the service's Deployment: replicas and GPUs, with the engine's flags as a comment
std::string scaling_file(std::string_view kind, const ServiceReading& reading, const SizedPlan& plan,
                         const std::string& server);

// PromQL over the pods of a workload: the requests running and waiting in its engines, only the waiting ones, or the
// sum of their cache use (0-1 each). Empty if the engine does not publish the metric.
enum class EngineLoad { kRequests, kWaiting, kCacheUse };
std::string load_query(Engine engine, EngineLoad load, const std::string& space, const std::string& workload);

}  // namespace rightsize::live_service
