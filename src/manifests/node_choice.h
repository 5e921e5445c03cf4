// Which nodes a pod or a pool of nodes may have: labels that name a GPU, a machine type, spot.
#pragma once

#include "manifests/yaml_text.h"

namespace rightsize::manifests {

// Reads nodeSelector, required node affinity and Karpenter's requirements of a pod or node specification. Whether these
// say that the nodes have GPUs.
bool read_node_choice(const YamlText& document, const YamlValue& spec, GpuRequest& request);

}  // namespace rightsize::manifests
