// A YAML file of Kubernetes or SkyPilot, with the holes of its template.
#pragma once

#include <string>

#include "manifests/request.h"

namespace rightsize::manifests {

// Every document of the file; those of other tools are passed over. A file that stops making sense in the middle says
// so.
Found read_yaml(const std::string& file, const std::string& text);

}  // namespace rightsize::manifests
