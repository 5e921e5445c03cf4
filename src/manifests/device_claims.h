// Device claims of Kubernetes (dynamic resource allocation), and the joining of objects in different documents.
#pragma once

#include <optional>
#include <vector>

#include "manifests/request.h"
#include "manifests/yaml_text.h"

namespace rightsize::manifests {

// A request for devices of a class that has GPUs: {deviceClassName: gpu.nvidia.com, count: 2, selectors: [...]}.
std::optional<GpuRequest> read_device_request(const YamlText& doc, const YamlValue& value, const GpuRequest& base);

// The claims in a pod's resourceClaims.
void append_claim_uses(const YamlText& doc, const YamlValue& pod, const GpuRequest& pod_request,
                       std::vector<ClaimUse>& uses);

inline constexpr const char* kFlavorKind = "ResourceFlavor";  // of Kueue

// Adds the GPUs of claims to the pods that use them, and the replicas of autoscalers to their targets.
void join_documents(Found& found);

}  // namespace rightsize::manifests
