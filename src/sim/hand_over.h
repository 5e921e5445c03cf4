// A setting as the configuration of the server that will run it. Text only; nothing here decides.
#pragma once

#include <string>

#include "sim/continuous_batching.h"
#include "sim/dynamic_batching.h"

namespace rightsize::sim {

struct Deployment {
  std::string name = "model";
  std::string gpu;  // the catalogue's name, for a label
  int replicas = 1;
  int executors = 1;  // Triton instances on each GPU
  int gpus_per_replica = 1;
  RequestsPerSecond load = {};  // of one replica, at which the SLOs were confirmed
};

// Triton's config.pbtxt: max_batch_size, instance_group, dynamic_batching with its queue policy and priority levels.
std::string triton_config(const Deployment& deployment, const DynamicBatchConfig& batching, const QueuePolicy& queue,
                          int priority_levels);
std::string vllm_command(const Deployment& deployment, const ContinuousConfig& config);
std::string trtllm_command(const Deployment& deployment, const ContinuousConfig& config);
// An InferenceService that scales on requests per second at the load that was confirmed.
std::string kserve_manifest(const Deployment& deployment);
// A Deployment with its replicas, and the HorizontalPodAutoscaler that keeps each below the confirmed load.
std::string kubernetes_manifest(const Deployment& deployment);

}  // namespace rightsize::sim
