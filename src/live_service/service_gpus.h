// The GPUs of services and their GPU-hours, as counted by fleet.
#pragma once

#include "fleet/prometheus_client.h"
#include "fleet/use.h"
#include "live_service/read_server.h"

namespace rightsize::live_service {

// Reads the GPUs that run the services' pods. If no GPU metrics name pods, adds a note and no GPUs.
void add_gpus(const ServerSource& source, double from, double until, fleet::PrometheusClient& client,
              ServicesRead& all);

// Adds those of the GPUs that ran the service's pods, by namespace and pod.
void take_gpus(const std::vector<fleet::GpuUse>& gpus, ServiceReading& service);

}  // namespace rightsize::live_service
