// The GPUs of services and their hours, as fleet counts them.
#pragma once

#include "fleet/prometheus_client.h"
#include "fleet/use.h"
#include "live_service/read_server.h"

namespace rightsize::live_service {

// Asks for the GPUs that carry the services' pods; where there are none, a note says so and services have no GPUs.
void add_gpus(const ServerSource& source, double from, double until, fleet::PrometheusClient& client,
              ServicesRead& all);

// The tenancies of these GPUs that are a service's, by its namespace and pods.
void take_gpus(const std::vector<fleet::GpuUse>& gpus, ServiceReading& service);

}  // namespace rightsize::live_service
