// SkyPilot tasks and services.
#pragma once

#include "manifests/yaml_text.h"

namespace rightsize::manifests {

bool is_sky_task(const YamlValue& root);

// resources: accelerators (H100:8, {H100: 8}, lists and sets of them), any_of, ordered, instance_type, use_spot, cloud,
// region; num_nodes; replicas of a service.
Found read_sky_task(const YamlText& document);

}  // namespace rightsize::manifests
