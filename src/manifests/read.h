// Any file another tool reads -> the requests for GPUs in it.
#pragma once

#include <map>
#include <string>
#include <string_view>

#include "base/result.h"
#include "manifests/request.h"

namespace rightsize::manifests {

// Whether a file may hold requests: YAML, Terraform, scripts, by its name.
bool may_hold_requests(std::string_view path);

// Files by path. Those that are none of ours are passed over; Terraform files of one folder are read together.
Found read_files(const std::map<std::string, std::string>& texts);

}  // namespace rightsize::manifests
